// What a node does, by kind: immutable blocks that graphs share with their clones and execs.
#pragma once

#include <cudag/detail/kernel_call.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/detail/semaphore_operand.hpp>
#include <cudag/node.hpp>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <span>
#include <string_view>
#include <variant>

namespace cudag::detail {

/// What updates may change of a LaunchConfig.
struct LaunchShape {
    dim3 grid;
    dim3 block;
    std::size_t shared_bytes = 0;
};
[[nodiscard]] inline LaunchShape shape_of(const LaunchConfig& config) noexcept {
    return {config.grid, config.block, config.shared_bytes};
}

/// `values` holds the arguments as `signature` lays them out.
struct alignas(std::max_align_t) KernelParams {
    CUfunction function; ///< of one device
    const void* symbol;  ///< null for a node that cudag did not make
    const KernelSignature* signature;
    LaunchShape shape;
    std::byte* values;
    CUkernel kernel = nullptr;                ///< of all devices; null for a node that cudag made
    const LaunchConfig* attributes = nullptr; ///< of its shape nothing counts; null if no attribute is given
    cudaGraphNode_t unread = nullptr;         ///< has attributes that are not known yet: see full_config
};
/// The configuration, as far as it is read.
[[nodiscard]] LaunchConfig config_of(const KernelParams& kernel) noexcept;
/// Gives `copy`, made by `copy_params` when it was unread, the attributes of `config`.
void store_attributes(KernelParams& copy, const LaunchConfig& config) noexcept;

/// Of a node that records the event, or waits for it.
struct EventParams {
    cudaEvent_t event;
    bool records;
};

/// A node that runs graphs inside of it, on a condition.
struct ConditionalParams {
    ConditionalKind kind;
    cudaGraphConditionalHandle condition;
    std::uint32_t bodies;
};

/// "if", "while", "switch"
[[nodiscard]] std::string_view to_string(ConditionalKind kind) noexcept;

/// Of a node that signals external semaphores, or waits for them.
struct SemaphoreParams {
    bool signals;
    std::uint32_t count;
    SemaphoreOperation* operations;

    [[nodiscard]] std::span<const SemaphoreOperation> list() const noexcept { return {operations, count}; }
};

/// Of an alloc node; CUDA fixes all of them when the node is made.
struct AllocParams {
    void* address;
    std::size_t bytes;
    int device;
};
struct FreeParams {
    void* address;
};

/// Each block is trivially copyable but for what a kernel's `values` and a list of semaphores point at. A copy of
/// several dimensions, or of an array, is described as CUDA does it. Parameters of nodes that cudag does not describe
/// stay with CUDA: monostate.
using NodeParams =
    std::variant<std::monostate, const KernelParams*, const CopyParams*, const cudaMemcpy3DParms*, const SetParams*,
                 const cudaHostNodeParams*, const EventParams*, const ConditionalParams*, const SemaphoreParams*,
                 const AllocParams*, const FreeParams*>;

/// "host to device", ...
[[nodiscard]] std::string_view direction(cudaMemcpyKind kind) noexcept;

/// Whether a block of one holds the arguments of the other.
[[nodiscard]] bool same_layout(const KernelSignature& a, const KernelSignature& b) noexcept;
/// Whether all types are known, and equal.
[[nodiscard]] bool same_types(const KernelSignature& a, const KernelSignature& b) noexcept;
/// Whether both launch one kernel, or such whose names tell the same types of parameters: for nodes that cudag did not
/// make, of which CUDA knows the sizes only.
[[nodiscard]] bool same_kernel_types(const KernelParams& a, const KernelParams& b);

/// A copy of `params` in `memory`, to be changed by `assign_params`.
[[nodiscard]] NodeParams copy_params(std::pmr::memory_resource& memory, const NodeParams& params);
/// The same at `place`, which has room for the `copy_bytes` of `params`, aligned for anything.
[[nodiscard]] NodeParams copy_params(std::byte* place, const NodeParams& params) noexcept;
[[nodiscard]] std::size_t copy_bytes(const NodeParams& params) noexcept;

/// Makes `copy`, made by `copy_params` from parameters of the same node, equal to `params`.
void assign_params(const NodeParams& copy, const NodeParams& params) noexcept;

/// As the driver takes them: more bytes than it can be told of are as many as it can, which it refuses.
[[nodiscard]] inline unsigned native_shared_bytes(std::size_t bytes) noexcept {
    return static_cast<unsigned>(std::min<std::size_t>(bytes, std::numeric_limits<unsigned>::max()));
}

/// In CUDA_KERNEL_NODE_PARAMS or CUlaunchConfig.
template <class Native>
void put_shape(const LaunchShape& shape, Native& native) noexcept {
    native.gridDimX = shape.grid.x;
    native.gridDimY = shape.grid.y;
    native.gridDimZ = shape.grid.z;
    native.blockDimX = shape.block.x;
    native.blockDimY = shape.block.y;
    native.blockDimZ = shape.block.z;
    native.sharedMemBytes = native_shared_bytes(shape.shared_bytes);
}

[[nodiscard]] inline CUDA_KERNEL_NODE_PARAMS driver_params(CUfunction function, const LaunchShape& shape,
                                                           void* const* values) noexcept {
    CUDA_KERNEL_NODE_PARAMS params{};
    params.func = function;
    put_shape(shape, params);
    params.kernelParams = const_cast<void**>(values); // read only, but the driver's type says otherwise
    return params;
}

[[nodiscard]] inline cudaMemsetParams runtime_params(const SetParams& set) noexcept {
    cudaMemsetParams params{};
    params.dst = set.destination;
    params.value = set.value;
    params.elementSize = set.element_bytes;
    params.width = set.size;
    params.height = set.height;
    params.pitch = set.pitch;
    return params;
}

} // namespace cudag::detail
