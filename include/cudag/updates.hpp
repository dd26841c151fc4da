// Updates of single nodes: the overloads of `update` of Graph and Exec.
#pragma once

#include <cudag/arg.hpp>
#include <cudag/copy_batch.hpp>
#include <cudag/detail/call_effects.hpp>
#include <cudag/detail/copy_3d.hpp>
#include <cudag/detail/event_operand.hpp>
#include <cudag/detail/given_arguments.hpp>
#include <cudag/detail/host_task.hpp>
#include <cudag/detail/kernel_arguments.hpp>
#include <cudag/detail/kernel_call.hpp>
#include <cudag/detail/launch_shape.hpp>
#include <cudag/detail/memory_operand.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/detail/owners.hpp>
#include <cudag/detail/private_access.hpp>
#include <cudag/detail/semaphore_operand.hpp>
#include <cudag/detail/updates.hpp>
#include <cudag/external_semaphore.hpp>
#include <cudag/function.hpp>
#include <cudag/launch_config.hpp>
#include <cudag/memory_node.hpp>
#include <cudag/memory_operation.hpp>
#include <cudag/node.hpp>

#include <concepts>
#include <initializer_list>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace cudag::detail {

/// The updates of single nodes, for `Self`, a Graph or an Exec.
///
///     auto scaling = graph.find_one(scale);
///     exec.update(scaling, y, 2.0f, n);             // all arguments
///     exec.update(scaling, cudag::arg<1>(3.0f));    // one of them
///     exec.update(scaling, cudag::grid_1d(n, 128)); // the launch configuration
///     auto copy = graph.find_one("upload").as<cudag::MemcpyNode>();
///     exec.update(copy, x, host);
template <class Self>
class Updates {
  public:
    /// Updates the arguments of a kernel node, converted and checked as by GraphBuilder::kernel: all arguments, or some
    /// by position, such as `update(node, cudag::arg<1>(3.0f))`; the others stay.
    template <class... Parameter, class... Argument>
    requires(!starts_with_config<Argument...>)
    void update(const KernelNode<Parameter...>& node, Argument&&... arguments) {
        update_arguments<false>(node, nullptr, std::forward<Argument>(arguments)...);
    }

    /// Updates the launch configuration and the arguments of a kernel node; without arguments, all of them stay.
    template <class... Parameter, class... Argument>
    void update(const KernelNode<Parameter...>& node, const LaunchConfig& config, Argument&&... arguments) {
        update_arguments<true>(node, &config, std::forward<Argument>(arguments)...);
    }

    template <class... Parameter, class First, class... Argument>
    requires(!starts_with_config<First> && (starts_with_config<Argument> || ...))
    void update(const KernelNode<Parameter...>&, First&&, Argument&&...) {
        static_assert(sizeof...(Argument) == 0,
                      "cudag: the launch configuration comes before the arguments: update(node, config, "
                      "arguments...)");
    }

    /// Updates the arguments of a kernel of unknown parameter types; each is passed in its own type. They are all
    /// arguments, in PackedArguments or one by one, or some by position, such as `update(node, cudag::arg(1, 3.0f))`.
    /// Each must have the size reported by CUDA for its parameter.
    template <class... Argument>
    requires(!starts_with_config<Argument...>)
    void update(const FunctionNode& node, Argument&&... arguments) {
        update_given(node, nullptr, std::forward<Argument>(arguments)...);
    }
    /// Updates the launch configuration and the arguments of a kernel of unknown parameter types; without arguments,
    /// all of them stay.
    template <class... Argument>
    void update(const FunctionNode& node, const LaunchConfig& config, Argument&&... arguments) {
        if constexpr (sizeof...(Argument) == 0)
            update_launch(target(), node, config);
        else
            update_given(node, &config, std::forward<Argument>(arguments)...);
    }

    /// Updates the launch configuration of a kernel node of unknown type, such as a library's kernel.
    template <std::same_as<Node> Handle>
    void update(const Handle& node, const LaunchConfig& config) {
        update_launch(target(), node, config);
    }

    /// Updates the operands of a copy. A Graph accepts the operands of memcpy2d and memcpy3d, too, for nodes made from
    /// such. An Exec updates 1D copies only, and CUDA fixes these properties at instantiation:
    ///   - the direction and the devices
    ///   - the origin of the memory: cudaMalloc or the host, pools (cudaMallocAsync, CapturePool), or a graph
    template <class Destination, class Source>
    void update(const MemcpyNode& node, Destination&& destination, Source&& source) {
        if constexpr (MultiDimensional<Destination> || MultiDimensional<Source>) {
            if constexpr (require_like_dimensions<Destination, Source>())
                update_copy_3d(target(), node, copy_3d(destination, source));
        } else if constexpr (require_operand<Destination>() && require_operand<Source>()) {
            Owners owners;
            const CopyParams copy = copy_params(destination, source, owners);
            update_memcpy(target(), node, copy, std::move(owners));
        }
    }

    /// Updates the operands and the size of one copy of a batch; CUDA fixes what it does for a MemcpyNode.
    template <class Destination, class Source>
    void update(const CopyInBatch& copy, Destination&& destination, Source&& source) {
        if constexpr (require_operand<Destination>() && require_operand<Source>()) {
            Owners owners;
            const CopyParams next = copy_params(destination, source, owners);
            update_copy_in_batch(target(), copy, next, std::move(owners));
        }
    }

    /// Updates the range (or DeviceSpan2D) and value of a fill. In an Exec, CUDA fixes the device and the height; if
    /// the height is more than 1, also the width and the pitch.
    template <class Destination, class Value>
    void update(const MemsetNode& node, Destination&& destination, const Value& value) {
        if constexpr (MultiDimensional<Destination>) {
            if constexpr (require_2d<Destination>()) {
                CallEffects effects;
                const SetParams set = set_2d(destination, value, effects, {nullptr, &node, {}});
                update_memset(target(), node, set, std::move(effects));
            }
        } else if constexpr (require_operand<Destination>()) {
            CallEffects effects;
            const SetParams set = set_params(destination, value, effects, {nullptr, &node, {}});
            update_memset(target(), node, set, std::move(effects));
        }
    }

    /// Updates the callable of a host node. It is owned as the first callable was.
    template <class Callable>
    void update(const HostNode& node, Callable&& callable) {
        update_host(target(), node, host_task(std::forward<Callable>(callable)));
    }

    /// Updates the event of a node that records or waits for one. It is owned or borrowed as by the builder.
    template <class GivenEvent>
    void update(const RecordNode& node, GivenEvent&& event) {
        if constexpr (require_event<GivenEvent, EventUse::record>()) update_with_event(node, event);
    }
    template <class GivenEvent>
    void update(const WaitNode& node, GivenEvent&& event) {
        if constexpr (require_event<GivenEvent, EventUse::wait>()) update_with_event(node, event);
    }

    /// Updates the semaphores and values of a node. CUDA fixes their number.
    void update(const SignalNode& node, const SemaphoreSignal& signal) { update(node, std::span(&signal, 1)); }
    void update(const SignalNode& node, std::initializer_list<SemaphoreSignal> signals) {
        update(node, std::span(signals.begin(), signals.size()));
    }
    void update(const SignalNode& node, std::span<const SemaphoreSignal> signals) { set_semaphores(node, signals); }
    void update(const SemaphoreWaitNode& node, const SemaphoreWait& wait) { update(node, std::span(&wait, 1)); }
    void update(const SemaphoreWaitNode& node, std::initializer_list<SemaphoreWait> waits) {
        update(node, std::span(waits.begin(), waits.size()));
    }
    void update(const SemaphoreWaitNode& node, std::span<const SemaphoreWait> waits) { set_semaphores(node, waits); }

    /// Updates the memory and the value of a node's only memory operation; its kind and comparison stay. The memory is
    /// that of `wait_value`.
    template <class Memory, class Value>
    void update(const MemoryOperationNode& node, Memory&& memory, const Value& value) {
        update_operation<Memory>(node, memory, value, nullptr);
    }
    template <class Memory, class Value>
    void update(const MemoryOperationNode& node, Memory&& memory, const Value& value, Compare compare) {
        update_operation<Memory>(node, memory, value, &compare);
    }
    /// Updates all operations of a node. CUDA fixes their number, in an Exec also their kinds.
    void update(const MemoryOperationNode& node, std::span<const MemoryOperation> operations) {
        update_memory_operations(target(), node, operations);
    }
    void update(const MemoryOperationNode& node, std::initializer_list<MemoryOperation> operations) {
        update(node, std::span(operations.begin(), operations.size()));
    }

    template <class Handle, class... Argument>
    requires no_update<Handle, Argument...>
    void update(const Handle&, const Argument&...) {
        refuse_update<Self, Handle>();
    }
    template <PlainOperands Handle, class... Argument>
    void update( // cudag: an update changes the object, which is const here
        const Handle&, const Argument&...) const = delete;

    /// Refuses updates of alloc and free nodes at compile time: CUDA cannot update them.
    template <class Operation, class... Argument>
    void update(const AllocNode<Operation>&, Argument&&...) {
        refuse_memory_update<Operation>();
    }
    template <class... Argument>
    void update(const FreeNode&, Argument&&...) {
        refuse_memory_update<Argument...>();
    }

  private:
    template <class... Operation>
    static constexpr void refuse_memory_update() {
        static_assert(sizeof...(Operation) > sizeof...(Operation),
                      "cudag: CUDA cannot update alloc and free nodes; build another graph");
    }

    [[nodiscard]] UpdateTarget target() { return Access::target(static_cast<Self&>(*this)); }

    template <class Operation>
    void set_semaphores(const Node& node, std::span<const Operation> list) {
        Owners owners;
        const auto operations = to_operations(list, owners);
        update_semaphores(target(), node, operations, std::move(owners));
    }

    template <class Memory, class Value>
    void update_operation(const Node& node, std::remove_reference_t<Memory>& memory, const Value& value,
                          const Compare* compare) {
        if constexpr (require_number<Memory, Value, false>()) {
            Owners owners;
            const auto* place = place_of(memory, owners);
            const auto operation = MemoryOperation::wait(place, static_cast<NumberIn<Memory>>(value));
            update_memory_operation(target(), node, operation, compare, std::move(owners));
        }
    }

    template <class GivenEvent>
    void update_with_event(const Node& node, const GivenEvent& event) {
        Owners owners;
        const cudaEvent_t native = to_event(event, owners);
        update_event(target(), node, native, std::move(owners));
    }

    template <class... Argument>
    void update_given(const FunctionNode& node, const LaunchConfig* config, Argument&&... arguments) {
        const CallSite call{nullptr, &node, {}};
        if constexpr ((names_position<std::remove_cvref_t<Argument>> || ...)) {
            if constexpr ((static_cast<int>(require_position<std::remove_cvref_t<Argument>>()) & ... & 1) != 0) {
                CallEffects effects;
                const SomeGivenValues<std::remove_cvref_t<Argument>...> values(effects, call, arguments...);
                update_function(target(), node, values.get(), config, std::move(effects));
            }
        } else {
            with_all_arguments(
                call,
                [&](const GivenArguments& given, CallEffects&& effects) {
                    update_function(target(), node, given, config, std::move(effects));
                },
                std::forward<Argument>(arguments)...);
        }
    }

    template <bool Configured, class... Parameter, class... Argument>
    void update_arguments(const KernelNode<Parameter...>& node, const LaunchConfig* config, Argument&&... arguments) {
        using Parameters = std::tuple<Parameter...>;
        using Given = std::tuple<std::remove_cvref_t<Argument>...>;
        constexpr bool only_config = Configured && sizeof...(Argument) == 0;
        constexpr bool at_run_time = (is_argument_at<std::remove_cvref_t<Argument>> || ...);
        static_assert(!at_run_time,
                      "cudag: arg<1>(value): the position in angle brackets, where the compiler knows the "
                      "parameters; arg(i, value) is for FunctionNodes: node.as<cudag::FunctionNode>()");
        if constexpr (at_run_time) {
        } else if constexpr (only_config || (is_indexed<std::remove_cvref_t<Argument>> || ...)) {
            if constexpr (require_indexed(no_value<Parameters>, no_value<Given>))
                update_with<SomeKernelArguments<Parameters, Given>>(
                    node, config,
                    signature_of_some(std::index_sequence_for<Parameter...>(), no_value<Parameters>, no_value<Given>),
                    arguments...);
        } else {
            if constexpr (require_arguments(no_value<Parameters>, no_value<Given>))
                update_with<KernelArguments<Parameter...>>(node, config,
                                                           signature_of(no_value<Parameters>, no_value<Given>),
                                                           std::forward<Argument>(arguments)...);
        }
    }

    template <class Arguments, class... Argument>
    void update_with(const Node& node, const LaunchConfig* config, const KernelSignature& signature,
                     Argument&&... arguments) {
        CallEffects effects;
        const Arguments values(effects, {nullptr, &node, {}}, std::forward<Argument>(arguments)...);
        const PassedConfig passed = config != nullptr ? PassedConfig(*config) : PassedConfig(LaunchShape());
        const KernelCall call{nullptr, &signature, config != nullptr ? &passed : nullptr, values.pointers(),
                              values.block()};
        update_kernel(target(), node, call, std::move(effects));
    }
};

} // namespace cudag::detail
