// DeviceNode: a handle to a kernel node, for use in kernels.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/kernel_call.hpp>
#include <cudag/detail/passkey.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <tuple>
#include <type_traits>

namespace cudag {

namespace detail {

/// Byte offset of parameter `Index` of a kernel.
template <std::size_t Index, class... Parameter>
inline constexpr std::size_t parameter_offset = SignatureOf<Parameter...>::layout.parameters[Index].offset;

/// Whether Argument is the parameter's type, or a pointer that converts to it, such as one without const.
template <class Argument, class Parameter>
inline constexpr bool is_device_argument =
    std::is_same_v<Argument, Parameter> ||
    (std::is_pointer_v<Argument> && std::is_pointer_v<Parameter> && std::is_convertible_v<Argument, Parameter>);

} // namespace detail

/// A handle for kernels that change a kernel node, a kernel argument returned by `KernelNode::on_device()`. The node
/// must have been made with `.device_updatable`.
///
///     void choose(cudag::DeviceNode<float*, float, int> node); // a kernel; it calls node.set_argument<1>(3.0f)
///     config.device_updatable = true;
///     auto scaling = b.kernel(config, scale, x, 2.0f, n);
///     scaling.after(b.kernel({}, choose, scaling.on_device()));
///
/// A small value to copy. Each call returns CUDA's error code, cudaSuccess on success. Rules:
///   - The handle must not be used after the node's Exec is destroyed.
///   - The changing kernel must run before the node in the same launch, on the same device.
///   - Concurrent changes, and changes while the node runs, are a race: let one thread make them.
///   - Repeat the changes in each launch: a launch by the host does not see changes by another graph (seen on driver
///     580).
///   - If the node starts early, by programmatic dependent launch (PDL), put `__threadfence()` between change and
///     trigger.
template <class... Parameter>
class DeviceNode {
  public:
    DeviceNode(detail::Passkey, cudaGraphDeviceNode_t handle) noexcept : handle_(handle) {}

    /// Returns CUDA's own handle.
    [[nodiscard]] CUDAG_HOST_DEVICE cudaGraphDeviceNode_t native() const noexcept { return handle_; }

    /// Device only: sets the number of blocks. It is at least one in each dimension; for none, call
    /// `set_enabled(false)`.
    inline __device__ cudaError_t
    set_grid(dim3 grid) const CUDAG_DEVICE_ONLY; // cudag: for kernels; on the host exec.update(node, config)

    /// Device only: sets parameter `Index` to a value of the parameter's own type.
    template <std::size_t Index, class Argument>
    inline __device__ cudaError_t set_argument( // cudag: for kernels; on the host exec.update(node, arg<I>(value))
        const Argument& value) const CUDAG_DEVICE_ONLY;

    /// Device only: enables or disables the node's launch. The node's successors run in both cases.
    inline __device__ cudaError_t
    set_enabled(bool enabled) const CUDAG_DEVICE_ONLY; // cudag: for kernels; on the host exec.enable(node)

  private:
    cudaGraphDeviceNode_t handle_;
};

#ifdef CUDAG_DEVICE_CODE

template <class... Parameter>
inline __device__ cudaError_t DeviceNode<Parameter...>::set_grid(dim3 grid) const {
    return cudaGraphKernelNodeSetGridDim(handle_, grid);
}

template <class... Parameter>
template <std::size_t Index, class Argument>
inline __device__ cudaError_t DeviceNode<Parameter...>::set_argument(const Argument& value) const {
    static_assert(Index < sizeof...(Parameter), "cudag: set_argument<I>: the kernel has no parameter I");
    if constexpr (Index < sizeof...(Parameter)) {
        using Chosen = std::tuple_element_t<Index, std::tuple<Parameter...>>;
        static_assert(detail::is_device_argument<Argument, Chosen>,
                      "cudag: set_argument<I> takes a value of the parameter's own type; cast it");
        if constexpr (detail::is_device_argument<Argument, Chosen>) {
            const Chosen converted = value;
            return cudaGraphKernelNodeSetParam(handle_, detail::parameter_offset<Index, Parameter...>, &converted,
                                               sizeof converted);
        }
    }
    return cudaErrorInvalidValue;
}

template <class... Parameter>
inline __device__ cudaError_t DeviceNode<Parameter...>::set_enabled(bool enabled) const {
    return cudaGraphKernelNodeSetEnabled(handle_, enabled);
}

#endif

} // namespace cudag
