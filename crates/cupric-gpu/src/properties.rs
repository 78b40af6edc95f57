//! A device's properties by CUDA's names.

use crate::driver::Properties;

/// What a property holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Property {
    /// A number; truth values are 0 and 1.
    Number(i64),
    /// Several numbers.
    Numbers(Vec<i64>),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// The properties, by the names that they have in `cudaDeviceProp`.
#[must_use]
pub fn named_properties(of: &Properties) -> Vec<(&'static str, Property)> {
    let number = |value: i32| Property::Number(value.into());
    let yes = |value: bool| Property::Number(value.into());
    let three = |values: [i32; 3]| Property::Numbers(values.map(i64::from).to_vec());
    let [domain, bus, device] = pci_numbers(&of.pci_bus);
    vec![
        ("name", Property::Text(of.name.clone())),
        ("uuid", Property::Bytes(of.uuid.to_vec())),
        ("pciDomainID", Property::Number(domain)),
        ("pciBusID", Property::Number(bus)),
        ("pciDeviceID", Property::Number(device)),
        ("major", number(of.compute_capability.0)),
        ("minor", number(of.compute_capability.1)),
        ("totalGlobalMem", Property::Number(of.total_memory as i64)),
        ("multiProcessorCount", number(of.multiprocessor_count)),
        ("warpSize", number(of.warp_size)),
        ("maxThreadsPerBlock", number(of.max_threads_per_block)),
        ("maxThreadsPerMultiProcessor", number(of.max_threads_per_multiprocessor)),
        ("maxBlocksPerMultiProcessor", number(of.max_blocks_per_multiprocessor)),
        ("maxThreadsDim", three(of.max_block_dim)),
        ("maxGridSize", three(of.max_grid_dim)),
        ("sharedMemPerBlock", number(of.shared_memory_per_block)),
        ("sharedMemPerBlockOptin", number(of.shared_memory_per_block_optin)),
        ("sharedMemPerMultiprocessor", number(of.shared_memory_per_multiprocessor)),
        ("regsPerBlock", number(of.registers_per_block)),
        ("regsPerMultiprocessor", number(of.registers_per_multiprocessor)),
        ("totalConstMem", number(of.constant_memory)),
        ("l2CacheSize", number(of.l2_cache)),
        ("clockRate", number(of.clock_rate)),
        ("memoryClockRate", number(of.memory_clock_rate)),
        ("memoryBusWidth", number(of.memory_bus_width)),
        ("asyncEngineCount", number(of.async_engine_count)),
        ("deviceOverlap", yes(of.async_engine_count > 0)),
        ("integrated", yes(of.integrated)),
        ("canMapHostMemory", yes(of.can_map_host_memory)),
        ("concurrentKernels", yes(of.concurrent_kernels)),
        ("ECCEnabled", yes(of.ecc_enabled)),
        ("unifiedAddressing", yes(of.unified_addressing)),
        ("managedMemory", yes(of.managed_memory)),
        ("concurrentManagedAccess", yes(of.concurrent_managed_access)),
        ("pageableMemoryAccess", yes(of.pageable_memory_access)),
        ("cooperativeLaunch", yes(of.cooperative_launch)),
    ]
}

/// Domain, bus and device of `0000:3b:00.0`; zeros for what is not there.
fn pci_numbers(text: &str) -> [i64; 3] {
    let mut parts = text.split([':', '.']).map(|part| i64::from_str_radix(part, 16).unwrap_or(0));
    std::array::from_fn(|_| parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::pci_numbers;

    #[test]
    fn a_bus_address_is_three_hexadecimal_numbers() {
        assert_eq!(pci_numbers("0000:3b:0a.0"), [0, 0x3b, 10]);
        assert_eq!(pci_numbers(""), [0, 0, 0]);
    }
}
