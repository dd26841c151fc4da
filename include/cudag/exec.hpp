// Exec: a graph that can be launched, and updated at the lowest cost there is.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/host_task.hpp>
#include <cudag/detail/kernel_arguments.hpp>
#include <cudag/detail/kernel_call.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/detail/owners.hpp>
#include <cudag/launch_config.hpp>
#include <cudag/node.hpp>
#include <cudag/stream.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace cudag {

/// How a Graph becomes an Exec; the defaults are the safe choice.
struct InstantiateOptions {
    bool auto_free_on_launch = false; ///< allocations of the last launch are freed before the next
    bool device_launch = false;       ///< the graph may be launched from device code; excludes auto_free_on_launch
    bool use_node_priority = false;   ///< nodes run with their own priority instead of the launching stream's
    std::optional<StreamRef> upload_stream = std::nullopt; ///< upload at once, ordered in this stream
};

namespace detail {

class ExecState;

/// The node gets the values that are not null, and the configuration if there is one; the rest stays as it is.
CUDAG_EXPORT void update_kernel(ExecState& exec, const Node& node, const KernelCall& call, Owners&& owners);
CUDAG_EXPORT void update_memcpy(ExecState& exec, const Node& node, const CopyParams& copy, Owners&& owners);
CUDAG_EXPORT void update_memset(ExecState& exec, const Node& node, const SetParams& set, Owners&& owners);
CUDAG_EXPORT void update_host(ExecState& exec, const Node& node, HostTask&& task);

} // namespace detail

/// The executable form of a Graph. Updates affect launches to come, never those in flight, and leave the Graph as it
/// is. A refused update throws UpdateError and changes nothing. Launches of one Exec never overlap each other.
/// Keeps its graph's nodes and owners alive; owners given to an update are kept until the last launch that may use them
/// has ended, also if the Exec is destroyed while one is in flight.
/// Move-only; every call on a moved-from Exec but assignment throws GraphError. Not thread-safe on one Exec.
class CUDAG_EXPORT Exec {
  public:
    Exec(Exec&&) noexcept;
    Exec& operator=(Exec&&) noexcept;
    ~Exec();

    /// Enqueues one run in `stream`. Asynchronous. Throws Error if CUDA refuses.
    void launch(StreamRef stream);

    /// Prepares the next launch on the device, ordered in `stream`, so that it starts sooner. Runs no node.
    void upload(StreamRef stream);

    /// Gives a kernel node new arguments, converted and checked as GraphBuilder::kernel does: all of them, or some by
    /// position, such as `update(node, cudag::arg<1>(3.0f))`, while the others stay.
    template <class... P, class... A>
    requires(!detail::starts_with_config<A...>) void update(const KernelNode<P...>& node, A&&... arguments) {
        update_arguments<false>(node, nullptr, std::forward<A>(arguments)...);
    }

    /// The same with a new launch configuration; without arguments, all of them stay.
    template <class... P, class... A>
    void update(const KernelNode<P...>& node, const LaunchConfig& config, A&&... arguments) {
        update_arguments<true>(node, &config, std::forward<A>(arguments)...);
    }

    /// Gives a copy new operands. CUDA fixes the direction and the devices.
    template <class D, class S>
    void update(const MemcpyNode& node, D&& destination, S&& source) {
        if constexpr (detail::require_operand<D>() && detail::require_operand<S>()) {
            detail::Owners owners;
            const detail::CopyParams copy = detail::copy_params(destination, source, owners);
            detail::update_memcpy(state(), node, copy, std::move(owners));
        }
    }

    /// Gives a fill a new range and value. CUDA fixes the device.
    template <class D, class V>
    void update(const MemsetNode& node, D&& destination, const V& value) {
        if constexpr (detail::require_operand<D>()) {
            detail::Owners owners;
            const detail::SetParams set = detail::set_params(destination, value, owners, {nullptr, &node, {}});
            detail::update_memset(state(), node, set, std::move(owners));
        }
    }

    /// Gives a host node a new callable, owned as the first one.
    template <class F>
    void update(const HostNode& node, F&& callable) {
        detail::update_host(state(), node, detail::host_task(std::forward<F>(callable)));
    }

    /// A disabled kernel, memcpy or memset node does nothing in launches to come; what comes after it still waits for
    /// what comes before it. Other kinds throw UpdateError.
    void enable(const Node& node);
    void disable(const Node& node);
    [[nodiscard]] bool is_enabled(const Node& node) const;

    /// How often this Exec was launched.
    [[nodiscard]] std::uint64_t replays() const;

    /// CUDA's handle, borrowed. Updates made through it are unknown to cudag.
    [[nodiscard]] cudaGraphExec_t native() const;

  private:
    friend class Graph;
    explicit Exec(std::unique_ptr<detail::ExecState> state) noexcept;

    template <bool Configured, class... P, class... A>
    void update_arguments(const KernelNode<P...>& node, const LaunchConfig* config, A&&... arguments) {
        using Parameters = std::tuple<P...>;
        using Given = std::tuple<std::remove_cvref_t<A>...>;
        constexpr bool none = Configured && sizeof...(A) == 0;
        if constexpr (none || (detail::is_indexed<std::remove_cvref_t<A>> || ...)) {
            if constexpr (detail::require_indexed(detail::no_value<Parameters>, detail::no_value<Given>))
                update_with<detail::SomeKernelArguments<Parameters, Given>>(node, config, arguments...);
        } else {
            if constexpr (detail::require_arguments(detail::no_value<Parameters>, detail::no_value<Given>))
                update_with<detail::KernelArguments<P...>>(node, config, std::forward<A>(arguments)...);
        }
    }

    template <class Arguments, class... P, class... A>
    void update_with(const KernelNode<P...>& node, const LaunchConfig* config, A&&... arguments) {
        detail::Owners owners;
        const Arguments values(owners, {nullptr, &node, {}}, std::forward<A>(arguments)...);
        const detail::KernelCall call{nullptr, &detail::SignatureOf<P...>::value, config, values.pointers(),
                                      values.block()};
        detail::update_kernel(state(), node, call, std::move(owners));
    }

    [[nodiscard]] detail::ExecState& state() const;

    std::unique_ptr<detail::ExecState> state_;
};

} // namespace cudag
