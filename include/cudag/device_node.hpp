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

/// Where parameter I of a kernel with parameters P... begins.
template <std::size_t I, class... P>
inline constexpr std::size_t parameter_offset = SignatureOf<P...>::layout.parameters[I].offset;

/// The same type, or a pointer to the same thing without const.
template <class A, class P>
inline constexpr bool is_device_argument =
    std::is_same_v<A, P> || (std::is_pointer_v<A> && std::is_pointer_v<P> && std::is_convertible_v<A, P>);

} // namespace detail

/// A kernel node with parameters P..., made with `.device_updatable`, as an argument for the kernels that change it:
/// `KernelNode::on_device()` gives it. A small value to copy; it must not be used after the node's Exec.
/// A kernel that changes a node must run before it in the same launch, on the same device; two changes at once, or a
/// change while the node runs, are a race: let one thread make them. Make them in each launch: when the host launches
/// the graph, it does not see what another graph has changed (seen on driver 580). If the node starts early, over a
/// programmatic edge, `__threadfence()` must stand between change and trigger.
/// Each call returns what CUDA says, cudaSuccess if all is well.
template <class... P>
class DeviceNode {
  public:
    DeviceNode(detail::Passkey, cudaGraphDeviceNode_t handle) noexcept : handle_(handle) {}

    /// CUDA's own handle.
    [[nodiscard]] CUDAG_HOST_DEVICE cudaGraphDeviceNode_t native() const noexcept { return handle_; }

    /// Device only: how many blocks the node launches. At least one in each dimension: `set_enabled(false)` for none.
    inline __device__ cudaError_t
    set_grid(dim3 grid) const CUDAG_DEVICE_ONLY; // cudag: for kernels; on the host exec.update(node, config)

    /// Device only: the value of parameter I, of the parameter's own type.
    template <std::size_t I, class A>
    inline __device__ cudaError_t set_argument( // cudag: for kernels; on the host exec.update(node, arg<I>(value))
        const A& value) const CUDAG_DEVICE_ONLY;

    /// Device only: whether the node launches at all. What comes after it runs either way.
    inline __device__ cudaError_t
    set_enabled(bool enabled) const CUDAG_DEVICE_ONLY; // cudag: for kernels; on the host exec.enable(node)

  private:
    cudaGraphDeviceNode_t handle_;
};

#ifdef CUDAG_DEVICE_CODE

template <class... P>
inline __device__ cudaError_t DeviceNode<P...>::set_grid(dim3 grid) const {
    return cudaGraphKernelNodeSetGridDim(handle_, grid);
}

template <class... P>
template <std::size_t I, class A>
inline __device__ cudaError_t DeviceNode<P...>::set_argument(const A& value) const {
    static_assert(I < sizeof...(P), "cudag: set_argument<I>: the kernel has no parameter I");
    if constexpr (I < sizeof...(P)) {
        using Parameter = std::tuple_element_t<I, std::tuple<P...>>;
        static_assert(detail::is_device_argument<A, Parameter>,
                      "cudag: set_argument<I> takes a value of the parameter's own type; cast it");
        if constexpr (detail::is_device_argument<A, Parameter>) {
            const Parameter converted = value;
            return cudaGraphKernelNodeSetParam(handle_, detail::parameter_offset<I, P...>, &converted,
                                               sizeof converted);
        }
    }
    return cudaErrorInvalidValue;
}

template <class... P>
inline __device__ cudaError_t DeviceNode<P...>::set_enabled(bool enabled) const {
    return cudaGraphKernelNodeSetEnabled(handle_, enabled);
}

#endif

} // namespace cudag
