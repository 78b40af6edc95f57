//! Where in the caller's program an operation was asked for, if failures are to tell it.

use crate::config::Config;
use std::sync::{Arc, OnceLock};

type Place = fn() -> Option<String>;

static PLACE: OnceLock<Place> = OnceLock::new();

/// Makes known how to find out where the caller is; asked only when `CUPRIC_DEBUG` is set. Called once, by whoever knows the
/// caller's language.
pub fn set_place_source(source: fn() -> Option<String>) {
    // A second source changes nothing: there is one caller's language.
    let _ = PLACE.set(source);
}

/// Where the caller is.
pub(crate) fn place() -> Option<Arc<str>> {
    if !Config::get().debug {
        return None;
    }
    PLACE.get()?().map(Arc::from)
}
