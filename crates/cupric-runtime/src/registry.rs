//! The devices of this process.

use crate::{
    backend::{Backend, DeviceKind},
    config::{Config, DeviceChoice},
    device::Device,
    lock,
};
use cupric_core::{Error, Result};
use std::{
    cell::RefCell,
    sync::{Arc, Mutex},
};

/// Opens backends; installed by the library that knows them.
pub trait Provider: Send + Sync {
    /// How many devices of a kind there are; 0 where its driver is missing.
    fn count(&self, kind: DeviceKind) -> usize;
    /// Opens one.
    ///
    /// # Errors
    /// When there is none, with a sentence that helps.
    fn open(&self, kind: DeviceKind, ordinal: usize) -> Result<Box<dyn Backend>>;
}

static PROVIDER: Mutex<Option<&'static dyn Provider>> = Mutex::new(None);
static OPEN: Mutex<Vec<(DeviceKind, usize, Arc<Device>)>> = Mutex::new(Vec::new());

thread_local! {
    static CURRENT: RefCell<Option<Arc<Device>>> = const { RefCell::new(None) };
}

/// Says who opens backends. The first one stays.
pub fn install(provider: &'static dyn Provider) {
    lock(&PROVIDER).get_or_insert(provider);
}

fn provider() -> Result<&'static dyn Provider> {
    lock(&PROVIDER).ok_or_else(|| Error::Runtime("no backend is installed".into()))
}

/// How many devices of a kind there are.
#[must_use]
pub fn device_count(kind: DeviceKind) -> usize {
    provider().map_or(0, |provider| provider.count(kind))
}

/// A device, opened at its first use.
///
/// # Errors
/// When there is no such device.
pub fn device(kind: DeviceKind, ordinal: usize) -> Result<Arc<Device>> {
    let mut open = lock(&OPEN);
    if let Some((.., device)) = open.iter().find(|(k, o, _)| (*k, *o) == (kind, ordinal)) {
        return Ok(device.clone());
    }
    let device = Device::new(provider()?.open(kind, ordinal)?);
    open.push((kind, ordinal, device.clone()));
    Ok(device)
}

/// The devices that have been used.
#[must_use]
pub fn open_devices() -> Vec<Arc<Device>> {
    lock(&OPEN).iter().map(|(.., device)| device.clone()).collect()
}

/// The kind of device that arrays are made on when nobody says otherwise.
#[must_use]
pub fn default_kind() -> DeviceKind {
    match Config::get().device {
        DeviceChoice::Named(kind, _) => kind,
        DeviceChoice::Auto if device_count(DeviceKind::Cuda) > 0 => DeviceKind::Cuda,
        DeviceChoice::Auto => DeviceKind::Cpu,
    }
}

/// The device that this thread's arrays are made on.
///
/// # Errors
/// When it cannot be opened.
pub fn current_device() -> Result<Arc<Device>> {
    if let Some(device) = CURRENT.with_borrow(Clone::clone) {
        return Ok(device);
    }
    if let Some(mistake) = &Config::get().mistake {
        return Err(Error::Value(mistake.clone()));
    }
    let ordinal = match Config::get().device {
        DeviceChoice::Named(_, ordinal) => ordinal,
        DeviceChoice::Auto => 0,
    };
    let device = device(default_kind(), ordinal)?;
    CURRENT.set(Some(device.clone()));
    Ok(device)
}

/// Makes this thread's arrays on a device; gives the one before.
pub fn use_device(device: Arc<Device>) -> Option<Arc<Device>> {
    CURRENT.replace(Some(device))
}
