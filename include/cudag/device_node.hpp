// DeviceNode: a kernel node in the hands of other kernels.
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

/// Where parameter I of a kernel begins.
template <std::size_t Index, class... Parameter>
inline constexpr std::size_t parameter_offset = SignatureOf<Parameter...>::layout.parameters[Index].offset;

/// The same type, or a pointer to the same thing without const.
template <class Argument, class Parameter>
inline constexpr bool is_device_argument =
    std::is_same_v<Argument, Parameter> ||
    (std::is_pointer_v<Argument> && std::is_pointer_v<Parameter> && std::is_convertible_v<Argument, Parameter>);

} // namespace detail

/// A kernel node, made with `.device_updatable`, as an argument for the kernels that
/// change it: `KernelNode::on_device()` gives it. A small value to copy; it must not be used after the node's Exec. A
/// kernel that changes a node must run before it in the same launch, on the same device; two changes at once, or a
/// change while the node runs, are a race: let one thread make them. Make them in each launch: when the host launches
/// the graph, it does not see what another graph has changed (seen on driver 580). If the node starts early, over a
/// programmatic edge, `__threadfence()` must stand between change and trigger.
/// Each call returns what CUDA says, cudaSuccess if all is well.
template <class... Parameter>
class DeviceNode {
  public:
    DeviceNode(detail::Passkey, cudaGraphDeviceNode_t handle) noexcept : handle_(handle) {}

    /// CUDA's own handle.
    [[nodiscard]] CUDAG_HOST_DEVICE cudaGraphDeviceNode_t native() const noexcept { return handle_; }

    /// Device only: how many blocks the node launches. At least one in each dimension: `set_enabled(false)` for none.
    inline __device__ cudaError_t
    set_grid(dim3 grid) const CUDAG_DEVICE_ONLY; // cudag: for kernels; on the host exec.update(node, config)

    /// Device only: the value of parameter I, of the parameter's own type.
    template <std::size_t Index, class Argument>
    inline __device__ cudaError_t set_argument( // cudag: for kernels; on the host exec.update(node, arg<I>(value))
        const Argument& value) const CUDAG_DEVICE_ONLY;

    /// Device only: whether the node launches at all. What comes after it runs either way.
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
