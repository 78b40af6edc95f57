//! A device and its primary context.

use crate::{
    driver::{Attribute, Context, Device, Driver},
    error::Result,
};
use std::sync::Arc;

/// A device, ready for use: every path to its driver goes through [`Gpu::enter`].
pub(crate) struct Gpu {
    driver: Arc<dyn Driver>,
    device: Device,
    context: Context,
    ordinal: usize,
    arch: u32,
}

impl Gpu {
    pub(crate) fn open(driver: Arc<dyn Driver>, ordinal: usize) -> Result<Gpu> {
        let device = driver.device(ordinal)?;
        let number = |attribute| driver.attribute(device, attribute).map(|value| value.max(0) as u32);
        let arch = 10 * number(Attribute::COMPUTE_CAPABILITY_MAJOR)? + number(Attribute::COMPUTE_CAPABILITY_MINOR)?;
        let context = driver.retain_context(device)?;
        Ok(Gpu { driver, device, context, ordinal, arch })
    }

    /// The driver, once this device's context is the calling thread's.
    pub(crate) fn enter(&self) -> Result<&dyn Driver> {
        // Asked each time: other libraries in the process change it too.
        if self.driver.current_context()? != Some(self.context) {
            self.driver.make_current(self.context)?;
        }
        Ok(&*self.driver)
    }

    pub(crate) const fn device(&self) -> Device {
        self.device
    }

    pub(crate) const fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// Compute capability times ten.
    pub(crate) const fn arch(&self) -> u32 {
        self.arch
    }

    pub(crate) fn attribute(&self, attribute: Attribute) -> Result<i32> {
        self.driver.attribute(self.device, attribute)
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: whatever lived in the context holds this device, so nothing is left. A driver that is gone may refuse.
        let _ = unsafe { self.driver.release_context(self.device) };
    }
}
