//! What is known about a device.

use super::{Device, Driver};
use crate::error::Result;

/// A number that the driver keeps for a device, by CUDA's numbering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attribute(pub i32);

/// Declares attributes, one row each.
macro_rules! attributes {
    ($($(#[$attribute:meta])* $name:ident = $code:literal;)*) => {
        impl Attribute { $($(#[$attribute])* pub const $name: Self = Self($code);)* }
    };
}

attributes! {
    /// Threads of a block.
    MAX_THREADS_PER_BLOCK = 1;
    /// Threads of a block along x; y and z follow.
    MAX_BLOCK_DIM_X = 2;
    /// Blocks of a grid along x; y and z follow.
    MAX_GRID_DIM_X = 5;
    /// Shared memory of a block, in bytes.
    MAX_SHARED_MEMORY_PER_BLOCK = 8;
    /// Constant memory, in bytes.
    TOTAL_CONSTANT_MEMORY = 9;
    /// Threads of a warp.
    WARP_SIZE = 10;
    /// Registers of a block.
    MAX_REGISTERS_PER_BLOCK = 12;
    /// Processor clock, in kHz.
    CLOCK_RATE = 13;
    /// Multiprocessors.
    MULTIPROCESSOR_COUNT = 16;
    /// Whether the device shares the host's memory.
    INTEGRATED = 18;
    /// Whether host memory can be mapped.
    CAN_MAP_HOST_MEMORY = 19;
    /// Whether kernels run beside each other.
    CONCURRENT_KERNELS = 31;
    /// Whether error correction is on.
    ECC_ENABLED = 32;
    /// PCI bus.
    PCI_BUS_ID = 33;
    /// PCI device.
    PCI_DEVICE_ID = 34;
    /// Memory clock, in kHz.
    MEMORY_CLOCK_RATE = 36;
    /// Width of the memory bus, in bits.
    GLOBAL_MEMORY_BUS_WIDTH = 37;
    /// L2 cache, in bytes.
    L2_CACHE_SIZE = 38;
    /// Threads of a multiprocessor.
    MAX_THREADS_PER_MULTIPROCESSOR = 39;
    /// Copy engines.
    ASYNC_ENGINE_COUNT = 40;
    /// Whether host and device share one address space.
    UNIFIED_ADDRESSING = 41;
    /// PCI domain.
    PCI_DOMAIN_ID = 50;
    /// Compute capability, major.
    COMPUTE_CAPABILITY_MAJOR = 75;
    /// Compute capability, minor.
    COMPUTE_CAPABILITY_MINOR = 76;
    /// Shared memory of a multiprocessor, in bytes.
    MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81;
    /// Registers of a multiprocessor.
    MAX_REGISTERS_PER_MULTIPROCESSOR = 82;
    /// Whether managed memory works.
    MANAGED_MEMORY = 83;
    /// Single precision speed over double.
    SINGLE_TO_DOUBLE_PERF_RATIO = 87;
    /// Whether the device reaches ordinary host memory.
    PAGEABLE_MEMORY_ACCESS = 88;
    /// Whether host and device may use managed memory at once.
    CONCURRENT_MANAGED_ACCESS = 89;
    /// Whether cooperative launches work.
    COOPERATIVE_LAUNCH = 95;
    /// Shared memory of a block that asks for it, in bytes.
    MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97;
    /// Blocks of a multiprocessor.
    MAX_BLOCKS_PER_MULTIPROCESSOR = 106;
    /// Whether stream-ordered pools work.
    MEMORY_POOLS_SUPPORTED = 115;
}

/// All that is commonly asked about a device. Sizes are in bytes, clocks in kHz.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "each field is an attribute of the same name, documented there")]
pub struct Properties {
    pub name: String,
    pub uuid: [u8; 16],
    pub pci_bus: String,
    pub compute_capability: (i32, i32),
    pub total_memory: u64,
    pub multiprocessor_count: i32,
    pub warp_size: i32,
    pub max_threads_per_block: i32,
    pub max_threads_per_multiprocessor: i32,
    pub max_blocks_per_multiprocessor: i32,
    pub max_block_dim: [i32; 3],
    pub max_grid_dim: [i32; 3],
    pub shared_memory_per_block: i32,
    pub shared_memory_per_block_optin: i32,
    pub shared_memory_per_multiprocessor: i32,
    pub registers_per_block: i32,
    pub registers_per_multiprocessor: i32,
    pub constant_memory: i32,
    pub l2_cache: i32,
    pub clock_rate: i32,
    pub memory_clock_rate: i32,
    pub memory_bus_width: i32,
    pub async_engine_count: i32,
    pub integrated: bool,
    pub can_map_host_memory: bool,
    pub concurrent_kernels: bool,
    pub ecc_enabled: bool,
    pub unified_addressing: bool,
    pub managed_memory: bool,
    pub concurrent_managed_access: bool,
    pub pageable_memory_access: bool,
    pub cooperative_launch: bool,
}

impl Properties {
    /// Completes what only the vendor's driver can tell with the attributes of `device`.
    pub(super) fn read(driver: &dyn Driver, device: Device, identity: Identity) -> Result<Self> {
        let number = |attribute| driver.attribute(device, attribute);
        let yes = |attribute| driver.attribute(device, attribute).map(|value| value != 0);
        let triple = |Attribute(first): Attribute| -> Result<[i32; 3]> {
            Ok([number(Attribute(first))?, number(Attribute(first + 1))?, number(Attribute(first + 2))?])
        };
        Ok(Self {
            name: identity.name,
            uuid: identity.uuid,
            pci_bus: identity.pci_bus,
            total_memory: identity.total_memory,
            compute_capability: (
                number(Attribute::COMPUTE_CAPABILITY_MAJOR)?,
                number(Attribute::COMPUTE_CAPABILITY_MINOR)?,
            ),
            multiprocessor_count: number(Attribute::MULTIPROCESSOR_COUNT)?,
            warp_size: number(Attribute::WARP_SIZE)?,
            max_threads_per_block: number(Attribute::MAX_THREADS_PER_BLOCK)?,
            max_threads_per_multiprocessor: number(Attribute::MAX_THREADS_PER_MULTIPROCESSOR)?,
            max_blocks_per_multiprocessor: number(Attribute::MAX_BLOCKS_PER_MULTIPROCESSOR)?,
            max_block_dim: triple(Attribute::MAX_BLOCK_DIM_X)?,
            max_grid_dim: triple(Attribute::MAX_GRID_DIM_X)?,
            shared_memory_per_block: number(Attribute::MAX_SHARED_MEMORY_PER_BLOCK)?,
            shared_memory_per_block_optin: number(Attribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
            shared_memory_per_multiprocessor: number(Attribute::MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?,
            registers_per_block: number(Attribute::MAX_REGISTERS_PER_BLOCK)?,
            registers_per_multiprocessor: number(Attribute::MAX_REGISTERS_PER_MULTIPROCESSOR)?,
            constant_memory: number(Attribute::TOTAL_CONSTANT_MEMORY)?,
            l2_cache: number(Attribute::L2_CACHE_SIZE)?,
            clock_rate: number(Attribute::CLOCK_RATE)?,
            memory_clock_rate: number(Attribute::MEMORY_CLOCK_RATE)?,
            memory_bus_width: number(Attribute::GLOBAL_MEMORY_BUS_WIDTH)?,
            async_engine_count: number(Attribute::ASYNC_ENGINE_COUNT)?,
            integrated: yes(Attribute::INTEGRATED)?,
            can_map_host_memory: yes(Attribute::CAN_MAP_HOST_MEMORY)?,
            concurrent_kernels: yes(Attribute::CONCURRENT_KERNELS)?,
            ecc_enabled: yes(Attribute::ECC_ENABLED)?,
            unified_addressing: yes(Attribute::UNIFIED_ADDRESSING)?,
            managed_memory: yes(Attribute::MANAGED_MEMORY)?,
            concurrent_managed_access: yes(Attribute::CONCURRENT_MANAGED_ACCESS)?,
            pageable_memory_access: yes(Attribute::PAGEABLE_MEMORY_ACCESS)?,
            cooperative_launch: yes(Attribute::COOPERATIVE_LAUNCH)?,
        })
    }
}

/// What is not an attribute.
pub(super) struct Identity {
    pub(super) name: String,
    pub(super) uuid: [u8; 16],
    pub(super) pci_bus: String,
    pub(super) total_memory: u64,
}
