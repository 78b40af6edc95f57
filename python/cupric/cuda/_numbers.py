"""CUDA's numbers for attributes of devices, limits, kinds of memory and copies, and flags."""

__all__ = ["ATTRIBUTES", "CONSTANTS", "STATUS"]

# By the names that follow `cudaDevAttr`.
ATTRIBUTES = {
    "MaxThreadsPerBlock": 1, "MaxBlockDimX": 2, "MaxBlockDimY": 3, "MaxBlockDimZ": 4, "MaxGridDimX": 5, "MaxGridDimY":
    6, "MaxGridDimZ": 7, "MaxSharedMemoryPerBlock": 8, "TotalConstantMemory": 9, "WarpSize": 10, "MaxPitch": 11,
    "MaxRegistersPerBlock": 12, "ClockRate": 13, "TextureAlignment": 14, "GpuOverlap": 15, "MultiProcessorCount": 16,
    "KernelExecTimeout": 17, "Integrated": 18, "CanMapHostMemory": 19, "ComputeMode": 20, "MaxTexture1DWidth": 21,
    "MaxTexture2DWidth": 22, "MaxTexture2DHeight": 23, "MaxTexture3DWidth": 24, "MaxTexture3DHeight": 25,
    "MaxTexture3DDepth": 26, "MaxTexture2DLayeredWidth": 27, "MaxTexture2DLayeredHeight": 28,
    "MaxTexture2DLayeredLayers": 29, "SurfaceAlignment": 30, "ConcurrentKernels": 31, "EccEnabled": 32, "PciBusId":
    33, "PciDeviceId": 34, "TccDriver": 35, "MemoryClockRate": 36, "GlobalMemoryBusWidth": 37, "L2CacheSize": 38,
    "MaxThreadsPerMultiProcessor": 39, "AsyncEngineCount": 40, "UnifiedAddressing": 41, "MaxTexture1DLayeredWidth":
    42, "MaxTexture1DLayeredLayers": 43, "MaxTexture2DGatherWidth": 45, "MaxTexture2DGatherHeight": 46,
    "MaxTexture3DWidthAlt": 47, "MaxTexture3DHeightAlt": 48, "MaxTexture3DDepthAlt": 49, "PciDomainId": 50,
    "TexturePitchAlignment": 51, "MaxTextureCubemapWidth": 52, "MaxTextureCubemapLayeredWidth": 53,
    "MaxTextureCubemapLayeredLayers": 54, "MaxSurface1DWidth": 55, "MaxSurface2DWidth": 56, "MaxSurface2DHeight": 57,
    "MaxSurface3DWidth": 58, "MaxSurface3DHeight": 59, "MaxSurface3DDepth": 60, "MaxSurface1DLayeredWidth": 61,
    "MaxSurface1DLayeredLayers": 62, "MaxSurface2DLayeredWidth": 63, "MaxSurface2DLayeredHeight": 64,
    "MaxSurface2DLayeredLayers": 65, "MaxSurfaceCubemapWidth": 66, "MaxSurfaceCubemapLayeredWidth": 67,
    "MaxSurfaceCubemapLayeredLayers": 68, "MaxTexture1DLinearWidth": 69, "MaxTexture2DLinearWidth": 70,
    "MaxTexture2DLinearHeight": 71, "MaxTexture2DLinearPitch": 72, "MaxTexture2DMipmappedWidth": 73,
    "MaxTexture2DMipmappedHeight": 74, "ComputeCapabilityMajor": 75, "ComputeCapabilityMinor": 76,
    "MaxTexture1DMipmappedWidth": 77, "StreamPrioritiesSupported": 78, "GlobalL1CacheSupported": 79,
    "LocalL1CacheSupported": 80, "MaxSharedMemoryPerMultiprocessor": 81, "MaxRegistersPerMultiprocessor": 82,
    "ManagedMemory": 83, "IsMultiGpuBoard": 84, "MultiGpuBoardGroupID": 85, "HostNativeAtomicSupported": 86,
    "SingleToDoublePrecisionPerfRatio": 87, "PageableMemoryAccess": 88, "ConcurrentManagedAccess": 89,
    "ComputePreemptionSupported": 90, "CanUseHostPointerForRegisteredMem": 91, "CooperativeLaunch": 95,
    "CooperativeMultiDeviceLaunch": 96, "MaxSharedMemoryPerBlockOptin": 97, "CanFlushRemoteWrites": 98,
    "HostRegisterSupported": 99, "PageableMemoryAccessUsesHostPageTables": 100, "DirectManagedMemAccessFromHost": 101,
    "MaxBlocksPerMultiprocessor": 106, "MaxPersistingL2CacheSize": 108, "MaxAccessPolicyWindowSize": 109,
    "ReservedSharedMemoryPerBlock": 111, "SparseCudaArraySupported": 112, "HostRegisterReadOnlySupported": 113,
    "TimelineSemaphoreInteropSupported": 114, "MemoryPoolsSupported": 115, "GPUDirectRDMASupported": 116,
    "GPUDirectRDMAFlushWritesOptions": 117, "GPUDirectRDMAWritesOrdering": 118, "MemoryPoolSupportedHandleTypes": 119,
    "ClusterLaunch": 120, "DeferredMappingCudaArraySupported": 121, "IpcEventSupport": 125, "MemSyncDomainCount": 126,
    "NumaConfig": 130, "NumaId": 131, "MpsEnabled": 133, "HostNumaId": 134, "D3D12CigSupported": 135,
    "VulkanCigSupported": 138, "GpuPciDeviceId": 139, "GpuPciSubsystemId": 140, "HostNumaMemoryPoolsSupported": 142,
    "HostNumaMultinodeIpcSupported": 143,
}  # fmt: skip

CONSTANTS = {
    "memcpyHostToHost": 0, "memcpyHostToDevice": 1, "memcpyDeviceToHost": 2, "memcpyDeviceToDevice": 3, "memcpyDefault": 4,
    "streamDefault": 0, "streamNonBlocking": 1, "streamLegacy": 1, "streamPerThread": 2,
    "eventDefault": 0, "eventBlockingSync": 1, "eventDisableTiming": 2, "eventInterprocess": 4,
    "hostAllocDefault": 0, "hostAllocPortable": 1, "hostAllocMapped": 2, "hostAllocWriteCombined": 4,
    "memoryTypeUnregistered": 0, "memoryTypeHost": 1, "memoryTypeDevice": 2, "memoryTypeManaged": 3,
    "cudaMemoryTypeHost": 1, "cudaMemoryTypeDevice": 2, "cudaCpuDeviceId": -1, "cudaInvalidDeviceId": -2,
    "cudaLimitStackSize": 0, "cudaLimitPrintfFifoSize": 1, "cudaLimitMallocHeapSize": 2, "cudaLimitDevRuntimeSyncDepth": 3,
    "cudaLimitDevRuntimePendingLaunchCount": 4, "cudaLimitMaxL2FetchGranularity": 5,
    "CUDA_R_32F": 0, "CUDA_R_64F": 1, "CUDA_R_16F": 2, "CUDA_R_8I": 3, "CUDA_C_32F": 4, "CUDA_C_64F": 5, "CUDA_C_16F": 6,
    "CUDA_C_8I": 7, "CUDA_R_8U": 8, "CUDA_C_8U": 9, "CUDA_R_16BF": 14,
    "cudaDevAttrMaxTimelineSemaphoreInteropSupported": 114,
    **{f"cudaDevAttr{name}": code for name, code in ATTRIBUTES.items()},
}  # fmt: skip

# What a status is called, and what it means.
STATUS = {
    1: ("cudaErrorInvalidValue", "invalid argument"),
    2: ("cudaErrorMemoryAllocation", "out of memory"),
    3: ("cudaErrorInitializationError", "initialization error"),
    35: ("cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version"),
    100: ("cudaErrorNoDevice", "no CUDA-capable device is detected"),
    101: ("cudaErrorInvalidDevice", "invalid device ordinal"),
    400: ("cudaErrorInvalidResourceHandle", "invalid resource handle"),
    600: ("cudaErrorNotReady", "device not ready"),
    700: ("cudaErrorIllegalAddress", "an illegal memory access was encountered"),
    701: ("cudaErrorLaunchOutOfResources", "too many resources requested for launch"),
    719: ("cudaErrorLaunchFailure", "unspecified launch failure"),
    801: ("cudaErrorNotSupported", "operation not supported"),
}
