//! Where the Python program is.

use pyo3::{intern, prelude::*};

/// The file and line of the innermost frame that is not Cupric's own.
pub(crate) fn place() -> Option<String> {
    Python::attach(|py| find(py).ok().flatten())
}

fn find(py: Python<'_>) -> PyResult<Option<String>> {
    let own: String = py.import("cupric")?.getattr(intern!(py, "__path__"))?.get_item(0)?.extract()?;
    let mut frame = py.import("sys")?.call_method1(intern!(py, "_getframe"), (0,))?;
    while !frame.is_none() {
        let file: String = frame.getattr(intern!(py, "f_code"))?.getattr(intern!(py, "co_filename"))?.extract()?;
        if !file.starts_with(&own) {
            return Ok(Some(format!("{file}:{}", frame.getattr(intern!(py, "f_lineno"))?)));
        }
        frame = frame.getattr(intern!(py, "f_back"))?;
    }
    Ok(None)
}
