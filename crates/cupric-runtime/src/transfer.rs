//! What happens to bytes between the host and storages, and launches of the caller's own.

use crate::{
    device::Device,
    lock,
    outside::lock_outside,
    storage::Storage,
    stream::{Stream, current_stream},
};
use cupric_core::Result;
use smallvec::SmallVec;
use std::sync::Arc;

impl Device {
    /// Copies bytes of a storage to the host, after all work on it.
    ///
    /// # Errors
    /// When an operation that should have written them failed.
    pub fn download(self: &Arc<Device>, storage: &Arc<Storage>, offset: usize, to: &mut [u8]) -> Result<()> {
        self.not_capturing("values cannot be looked at")?;
        storage.settle()?;
        let stream = current_stream(self);
        let _held = lock_outside(&stream.handing);
        let writer = lock(&storage.work).note_read(stream.id());
        if let Some(writer) = writer {
            self.order_after(stream.id(), writer);
        }
        let address = storage.materialise(stream.id())? + offset as u64;
        self.backend.download(stream.raw(), address, to)?;
        self.known_failure(storage).map_or_else(|| self.report(stream.id()), Err)
    }

    /// Copies bytes from the host into a storage, after all work on it.
    ///
    /// # Errors
    /// When the device refuses.
    pub fn upload(self: &Arc<Device>, storage: &Arc<Storage>, offset: usize, from: &[u8]) -> Result<()> {
        self.not_capturing("values cannot be copied from the host")?;
        storage.settle()?;
        let stream = current_stream(self);
        stream.flush();
        let _held = lock_outside(&stream.handing);
        let others = lock(&storage.work).note_write(stream.id());
        for other in others {
            self.order_after(stream.id(), other);
        }
        let address = storage.materialise(stream.id())? + offset as u64;
        self.backend.upload(stream.raw(), address, from)
    }

    /// Runs a launch of the caller's own on a stream, after all work on these storages, any of which it may write. It is given
    /// their addresses.
    ///
    /// # Errors
    /// When an operation that should have written one of them failed, or the launch did.
    pub fn launch_own(
        self: &Arc<Device>,
        stream: &Arc<Stream>,
        storages: &[&Arc<Storage>],
        launch: impl FnOnce(&[u64]) -> Result<()>,
    ) -> Result<()> {
        for storage in storages {
            storage.settle()?;
        }
        stream.flush();
        let _held = lock_outside(&stream.handing);
        let captured = stream.is_capturing();
        for storage in storages {
            let others = lock(&storage.work).note_write(stream.id());
            for other in others.into_iter().filter(|_| !captured) {
                self.order_after(stream.id(), other);
            }
        }
        self.recording(stream.id(), |capture| storages.iter().for_each(|storage| capture.keep(storage)));
        let addresses: SmallVec<[u64; 8]> =
            storages.iter().map(|storage| storage.materialise(stream.id())).collect::<Result<_>>()?;
        launch(&addresses)
    }
}
