// GraphBuilder: writes a graph node by node.
#pragma once

#include <cudag/buffer_param.hpp>
#include <cudag/builder_options.hpp>
#include <cudag/capture.hpp>
#include <cudag/captured_node.hpp>
#include <cudag/condition.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/builder_graph.hpp>
#include <cudag/detail/condition_kernels.hpp>
#include <cudag/detail/event_operand.hpp>
#include <cudag/detail/given_arguments.hpp>
#include <cudag/detail/graph_body.hpp>
#include <cudag/detail/kernel_arguments.hpp>
#include <cudag/detail/owner_argument.hpp>
#include <cudag/detail/record.hpp>
#include <cudag/function.hpp>
#include <cudag/graph.hpp>
#include <cudag/launch_config.hpp>
#include <cudag/memory_node.hpp>
#include <cudag/nested_node.hpp>
#include <cudag/node.hpp>
#include <cudag/span.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace cudag {

/// A graph under construction. Each call adds one node, which CUDA validates at once; `.after` on the handles adds the
/// edges; `build()` makes the Graph. A call that throws has added nothing.
/// Arguments that own memory (DeviceBuffer, PinnedBuffer, shared_ptr) are kept by the graph; spans and raw pointers are
/// borrowed and must outlive every launch. Nodes belong to the device that is current when they are made.
/// Move-only; a moved-from builder may only be assigned to or destroyed. Host-only; does not synchronise.
/// Threads: one at a time on one builder and on handles of its nodes. A Graph that is cloned into a child may be used
/// by others meanwhile.
class CUDAG_EXPORT GraphBuilder {
  public:
    /// Throws Error if CUDA cannot make a graph (no driver, no device).
    GraphBuilder();
    explicit GraphBuilder(const BuilderOptions& options);
    GraphBuilder(const GraphBuilder&) = delete;            // cudag: a builder has no copies: pass a GraphBuilder&
    GraphBuilder& operator=(const GraphBuilder&) = delete; // cudag: a builder has no copies: std::move(builder)
    GraphBuilder(GraphBuilder&&) noexcept;
    GraphBuilder& operator=(GraphBuilder&&) noexcept;
    ~GraphBuilder();

    /// Adds a launch of `function`, a `__global__` function, with `arguments`, which are copied now.
    /// Numbers must fit their parameters exactly; pointers convert as in C++; see KernelArgument.
    /// Throws GraphError if CUDA refuses the launch (grid, block, shared memory, unknown kernel).
    template <class... Parameter, class... Argument>
    KernelNode<Parameter...>
    kernel( // cudag: kernel(config, function, arguments...); of overloads or a template, say which: f<int>
        detail::Located<LaunchConfig> config, void (*function)(Parameter...), Argument&&... arguments) {
        return add_kernel(config.value, config.location, function, std::forward<Argument>(arguments)...);
    }

    template <class... Parameter, class... Argument>
    [[gnu::always_inline]] KernelNode<Parameter...> kernel(const detail::BracedConfig& config,
                                                           void (*function)(Parameter...), Argument&&... arguments) {
        const SourceLocation location = config.location;
        if (detail::is_known_plain(config))
            return add_kernel(detail::shape_of(config), location, function, std::forward<Argument>(arguments)...);
        const LaunchConfig attributed = config;
        return add_kernel(attributed, location, function, std::forward<Argument>(arguments)...);
    }

    /// The same for a Function, whose arguments are checked for number and size now; PackedArguments stand for all.
    template <class... Argument>
    FunctionNode kernel(detail::Located<LaunchConfig> config, const Function& function, Argument&&... arguments) {
        return add_function(config.value, config.location, function, std::forward<Argument>(arguments)...);
    }
    template <class... Argument>
    FunctionNode kernel(const detail::BracedConfig& config, const Function& function, Argument&&... arguments) {
        return add_function(LaunchConfig(config), config.location, function, std::forward<Argument>(arguments)...);
    }

    /// The same for a Function whose types are known.
    template <class... Parameter, class... Argument>
    KernelNode<Parameter...> kernel(detail::Located<LaunchConfig> config, const TypedFunction<Parameter...>& function,
                                    Argument&&... arguments) {
        return add_typed<Parameter...>(config.value, config.location, function.function(),
                                       std::forward<Argument>(arguments)...);
    }
    template <class... Parameter, class... Argument>
    KernelNode<Parameter...> kernel(const detail::BracedConfig& config, const TypedFunction<Parameter...>& function,
                                    Argument&&... arguments) {
        return add_typed<Parameter...>(LaunchConfig(config), config.location, function.function(),
                                       std::forward<Argument>(arguments)...);
    }

    template <detail::NoKernel Kernel, class... Argument>
    auto kernel(detail::Located<LaunchConfig>, Kernel&&, Argument&&...) {
        return detail::refuse_kernel<Kernel, KernelNode<>>();
    }

    template <detail::NoKernel Kernel, class... Argument>
    auto kernel(const detail::BracedConfig&, Kernel&&, Argument&&...) {
        return detail::refuse_kernel<Kernel, KernelNode<>>();
    }

    template <detail::NoLaunchConfig Config, class... Argument>
    auto kernel(Config&&, Argument&&...) {
        return detail::refuse_config<Config, KernelNode<>>();
    }

    /// Adds a copy of all of `source` to `destination`: device and host ranges of the same element type and size; the
    /// direction follows from the types. Throws GraphError if the sizes differ or are 0.
    /// With a host range that is not page-locked (seen on driver 580): as a source it is read while the launch is
    /// called, not when the node runs, so what earlier kernels and host nodes of the launch write there may be missed.
    /// As a destination it holds up the call of the launch until the copy has run. Large sources (16 MiB) do so, too.
    /// Use a PinnedBuffer to avoid both, and for speed.
    template <class Destination, class Source>
    MemcpyNode
    memcpy( // cudag: memcpy(destination, source) copies all of two ranges of one length: x.span().subspan(0, n)
        Destination&& destination, Source&& source, SourceLocation location = SourceLocation::current()) {
        if constexpr (detail::require_operand<Destination>() && detail::require_operand<Source>()) {
            detail::Owners owners;
            const detail::CopyParams copy = detail::copy_params(destination, source, owners);
            return {detail::Passkey(), detail::add_memcpy(state(), copy, std::move(owners), location)};
        }
        return {};
    }

    /// Adds a copy of all of `source` to `destination`: DeviceSpan2D, HostSpan2D or ArraySpan, of the same element type
    /// and extents. Throws GraphError if the extents differ or are 0, or a pitch is smaller than its row.
    /// An Exec keeps the copy as it was made: CUDA updates 1D copies only. Graph::update changes it, for Execs to come.
    template <class Destination, class Source>
    MemcpyNode memcpy2d( // cudag: memcpy2d(destination, source) copies all of a DeviceSpan2D, HostSpan2D or ArraySpan
        const Destination& destination, const Source& source, SourceLocation location = SourceLocation::current()) {
        if constexpr (detail::require_dimensions<2, Destination, Source>())
            return {detail::Passkey(), detail::add_copy_3d(state(), detail::copy_3d(destination, source), location)};
        return {};
    }

    /// The same in three dimensions: DeviceSpan3D, HostSpan3D or ArraySpan.
    template <class Destination, class Source>
    MemcpyNode memcpy3d( // cudag: memcpy3d(destination, source) copies all of a DeviceSpan3D, HostSpan3D or ArraySpan
        const Destination& destination, const Source& source, SourceLocation location = SourceLocation::current()) {
        if constexpr (detail::require_dimensions<3, Destination, Source>())
            return {detail::Passkey(), detail::add_copy_3d(state(), detail::copy_3d(destination, source), location)};
        return {};
    }

    /// Adds a node that sets all elements (not bytes) of `destination`, of any trivially copyable type, to `value`.
    /// CUDA repeats 1, 2 or 4 bytes: those of larger elements, padding among them, must repeat, as those of 0.0 and of
    /// -1L do; -0.0 is no such value. Throws GraphError if they do not, or if `destination` is empty.
    template <class Destination, class Value>
    MemsetNode memset( // cudag: memset(range, value) sets all elements of a range: x.span().subspan(0, n)
        Destination&& destination, const Value& value, SourceLocation location = SourceLocation::current()) {
        if constexpr (detail::require_operand<Destination>()) {
            detail::CallEffects effects;
            const detail::SetParams set = detail::set_params(destination, value, effects, {nullptr, nullptr, location});
            return {detail::Passkey(), detail::add_memset(state(), set, std::move(effects), location)};
        }
        return {};
    }

    /// Adds a fill of all bytes of `destination`, a range or DeviceSpan2D of any trivially copyable elements, with 0.
    /// Throws GraphError if it is empty. Updates give the node a value: `update(node, range, Element())`.
    template <class Destination>
    MemsetNode clear( // cudag: clear(range) sets all bytes of a range to 0
        Destination&& destination, SourceLocation location = SourceLocation::current()) {
        if constexpr (detail::MultiDimensional<Destination>) {
            if constexpr (detail::require_2d<Destination>())
                return {detail::Passkey(), detail::add_memset(state(), detail::clear_2d(destination), {}, location)};
        } else if constexpr (detail::require_operand<Destination>()) {
            detail::CallEffects effects;
            const detail::SetParams set = detail::clear_params(destination, effects);
            return {detail::Passkey(), detail::add_memset(state(), set, std::move(effects), location)};
        }
        return {};
    }

    /// The same as `memset` for all elements of a DeviceSpan2D. An Exec's updates keep the height and, if it is more
    /// than 1, the width and the pitch.
    template <class Destination, class Value>
    MemsetNode memset2d( // cudag: memset2d(region, value) sets all elements of a DeviceSpan2D
        const Destination& destination, const Value& value, SourceLocation location = SourceLocation::current()) {
        if constexpr (detail::require_2d<Destination>()) {
            detail::CallEffects effects;
            const detail::SetParams set = detail::set_2d(destination, value, effects, {nullptr, nullptr, location});
            return {detail::Passkey(), detail::add_memset(state(), set, std::move(effects), location)};
        }
        return {};
    }

    /// Adds a call of `callable()` on the host; it is moved or copied into the graph and lives as long as launches may
    /// use it. It must make no CUDA calls, and may run at the same time as itself if several Execs of one graph run.
    /// What it throws is thrown, nested in a HostError, by the next synchronisation through cudag of the stream that
    /// the Exec was launched in, or by `Exec::rethrow`; the nodes after it run all the same.
    template <class Callable>
    HostNode host( // cudag: host(function) takes a function without arguments: host([=] { f(x); })
        Callable&& callable, SourceLocation location = SourceLocation::current()) {
        return {detail::Passkey(),
                detail::add_host(state(), detail::host_task(std::forward<Callable>(callable)), location)};
    }

    /// Adds a mark of `event`: an Event or `cudaEvent_t`, which must outlive every launch, or a shared_ptr to an Event,
    /// which is kept. Each launch marks it anew, and replaces an earlier mark, when the nodes before this one have
    /// finished. Throws GraphError if the event is null or was moved from, and in the body of a conditional.
    template <class GivenEvent>
    RecordNode record( // cudag: record(event) marks an event
        GivenEvent&& event, SourceLocation location = SourceLocation::current()) {
        if constexpr (detail::require_event<GivenEvent, detail::EventUse::record>())
            return RecordNode(detail::Passkey(), add_event(NodeKind::record_event, event, location));
        return {};
    }

    /// Adds a wait for the work that `event`, given as to `record`, marks; if it marks none, for nothing. The mark is
    /// to be set before the graph is launched: within one launch, `.after` orders nodes.
    template <class GivenEvent>
    requires(!detail::SemaphoreWaits<GivenEvent>)
    WaitNode wait( // cudag: wait(event), or wait({semaphore, value}) in braces
        GivenEvent&& event, SourceLocation location = SourceLocation::current()) {
        if constexpr (detail::require_event<GivenEvent, detail::EventUse::wait>())
            return WaitNode(detail::Passkey(), add_event(NodeKind::wait_event, event, location));
        return {};
    }

    /// Adds a node that signals external semaphores, such as `signal({semaphore, 5})`, or a list of them.
    /// Throws GraphError if the list is empty, a semaphore is null or was moved from, and in the body of a conditional.
    SignalNode signal( // cudag: signal({semaphore, value}), in braces
        const SemaphoreSignal& signal, SourceLocation location = SourceLocation::current()) {
        return this->signal(std::span(&signal, 1), location);
    }
    SignalNode signal(std::initializer_list<SemaphoreSignal> signals,
                      SourceLocation location = SourceLocation::current()) {
        return signal(std::span(signals.begin(), signals.size()), location);
    }
    SignalNode signal(std::span<const SemaphoreSignal> signals, SourceLocation location = SourceLocation::current()) {
        return SignalNode(detail::Passkey(), add_semaphores(NodeKind::signal_semaphore, signals, location));
    }

    /// Adds a node that waits for all of the semaphores in a list. Throws as `signal` does.
    SemaphoreWaitNode wait(const SemaphoreWait& wait, SourceLocation location = SourceLocation::current()) {
        return this->wait(std::span(&wait, 1), location);
    }
    SemaphoreWaitNode wait(std::initializer_list<SemaphoreWait> waits,
                           SourceLocation location = SourceLocation::current()) {
        return wait(std::span(waits.begin(), waits.size()), location);
    }
    SemaphoreWaitNode wait(std::span<const SemaphoreWait> waits, SourceLocation location = SourceLocation::current()) {
        return SemaphoreWaitNode(detail::Passkey(), add_semaphores(NodeKind::wait_semaphore, waits, location));
    }

    /// Adds a node of any kind but a conditional from CUDA's own description, which CUDA completes: an allocation's
    /// address. What it refers to is borrowed. cudag describes it as a captured one.
    /// Throws GraphError with CUDA's reason, and for what a body does not take.
    NativeNode native( // cudag: native(params) takes a cudaGraphNodeParams, which is no temporary
        cudaGraphNodeParams& params, SourceLocation location = SourceLocation::current()) {
        return NativeNode(detail::Passkey(), detail::add_native(state(), params, location));
    }

    /// Keeps `owners` (DeviceBuffer, PinnedBuffer, CapturePool, shared_ptr) with the graph, its clones and Execs and
    /// their launches in flight: what nodes borrow.
    template <detail::OwnerArgument... Owner>
    void retain(const Owner&... owners) { // cudag: retain(owner) keeps buffers, pools and shared_ptrs
        static_assert(sizeof...(Owner) > 0, "cudag: retain() needs at least one owner");
        keep({detail::owner_of(owners)...});
    }

    /// Memory of `count` elements that `Exec::bind` replaces by other memory, for nodes to use as any buffer. Adds no
    /// node. Throws GraphError if `count` is 0, Error if there is no memory.
    template <class Element = detail::NoElement>
    [[nodiscard]] BufferParam<Element>
    parameter( // cudag: parameter<float>(count); of memory that is there BufferParam(x)
        std::size_t count, BufferParamOptions options = {}, SourceLocation location = SourceLocation::current()) {
        static_assert(!std::is_same_v<Element, detail::NoElement>,
                      "cudag: parameter needs the type of the elements: parameter<float>(count)");
        const detail::BuilderGraph device_is_current = state();
        return BufferParam<Element>(count, options, location);
    }

    /// Adds an allocation of `count` elements, `.span()` of the handle, each time the graph runs.
    /// Throws GraphError if `count` is 0 or too large, for an unknown device or a peer that cannot access it, if the
    /// edges so far close a cycle, and in the body of a conditional. A graph with alloc or free nodes cannot be cloned,
    /// and has one Exec at a time.
    template <class Element = detail::NoElement>
    AllocNode<Element> alloc(std::size_t count, const AllocOptions& options = {},
                             SourceLocation location = SourceLocation::current()) {
        static_assert(!std::is_same_v<Element, detail::NoElement>,
                      "cudag: alloc needs the type of the elements: alloc<float>(count)");
        constexpr bool plain = std::is_trivially_copyable_v<Element> && !std::is_const_v<Element>;
        static_assert(plain, "cudag: graph memory holds trivially copyable, non-const elements");
        return {detail::Passkey(), detail::add_alloc(state(), count, sizeof(Element), options, location)};
    }

    /// Adds a node that frees the memory of an alloc node of this graph, or of another one that frees it nowhere itself
    /// and that runs before. What uses the memory must come before this node: `build()` checks that. Copies and fills
    /// that use it must also be made before this call: CUDA refuses the memory afterwards.
    /// Throws GraphError if it is freed already, and in the body of a conditional.
    template <class Element>
    FreeNode free( // cudag: free(alloc) takes an alloc node or its span()
        const AllocNode<Element>& alloc, SourceLocation location = SourceLocation::current()) {
        return {detail::Passkey(), detail::add_free(state(), alloc, location)};
    }

    /// The same for the alloc node of this graph whose memory is `range`, from its first element to its last.
    template <class Element>
    FreeNode free(DeviceSpan<Element> range, SourceLocation location = SourceLocation::current()) {
        const detail::Allocation memory{const_cast<std::remove_const_t<Element>*>(range.data()), range.size_bytes()};
        return {detail::Passkey(), detail::add_free(state(), memory, location)};
    }

    /// Adds a barrier after one node or more, each a handle, a captured region or a range of them: n + m edges instead
    /// of n * m.
    template <class... Handle>
    JoinNode join( // cudag: join(a, b, ...) takes the nodes one by one, or a range of them
        detail::Located<Node> first, const Handle&... rest) {
        return add_join(first.location, first.value, rest...);
    }
    template <class... Handle>
    JoinNode join(detail::Located<CapturedNode> first, const Handle&... rest) {
        return add_join(first.location, first.value, rest...);
    }

    /// The same after a range of handles.
    template <detail::NodeRange Range>
    JoinNode join(const Range& nodes, SourceLocation location = SourceLocation::current()) {
        const auto from = detail::list_nodes(nodes);
        return {detail::Passkey(), detail::add_join(state(), from.data(), from.size(), location)};
    }

    template <class... Handle>
    requires(sizeof...(Handle) == 0 || !(detail::NodeSource<Handle> && ...))
    void join(const Handle&...) {
        static_assert(sizeof...(Handle) > 0, "cudag: join() needs at least one node");
        static_assert(sizeof...(Handle) == 0, "cudag: join() takes node handles or ranges of node handles");
    }

    /// Adds a clone of `graph` as it is now, as one node; `inside` of the handle finds its nodes.
    /// Throws GraphError if `graph` has conditionals or memory nodes, or is inside another graph already.
    ChildNode child(const Graph& graph, // cudag: child(graph) takes a Graph
                    SourceLocation location = SourceLocation::current()) {
        return {detail::Passkey(), detail::add_child(state(), graph.state(), location)};
    }

    /// Adds `graph` itself as one node, without a clone: its handles stay valid, and Execs of the outer graph know
    /// them. `graph` may still be looked at, but neither instantiated, cloned nor added again. Needs CUDA 12.9.
    /// Throws GraphError, and leaves `graph` as it is, if it has conditionals, an Exec of it is alive, or it is inside
    /// another graph already.
    ChildNode child(Graph&& graph, SourceLocation location = SourceLocation::current()) {
        static_cast<void>(graph.state());
        return {detail::Passkey(), detail::move_child(state(), graph.state_, location)};
    }

    /// Adds what `function` enqueues into `stream`, which it is called with at once: the stream or, to use its steps,
    /// forks and owners, the StreamCapture&, which this call ends. If it returns a value (not a reference), that comes
    /// with the handle, as a CapturedRegion. The region comes after nothing: order it with `.after`. If it may be empty
    /// (`allow_empty`) and is, it is an empty node. The builder takes no other nodes meanwhile. Memory is borrowed as
    /// StreamCapture says. In the body of a conditional, `stream` must be of its device; nodes that CUDA allows in no
    /// body are refused by name.
    /// What `function` throws passes through. Throws CaptureError as `capture` does. In both cases the graph is as it
    /// was before and the stream is usable; but a broken capture destroys CUDA's graph with all that was in it. cudag
    /// brings that back by a clone, which changes the native handles of the nodes. Of a graph that CUDA cannot clone
    /// (with conditionals or conditions, memory nodes, device-updatable kernels), nothing is left then: the error says
    /// so, and the builder and its handles throw GraphError from then on. So they do where the failed function has
    /// written nodes (StreamCapture::add), of which there are handles.
    template <detail::CaptureFunction Callable>
    auto capture( // cudag: capture(stream, function) calls function(cudaStream_t) or (StreamCapture&)
        StreamRef stream, Callable&& function, CaptureOptions options = {},
        SourceLocation location = SourceLocation::current()) {
        using Result = decltype(detail::call_captured(function, std::declval<StreamCapture&>()));
        static_assert(!std::is_reference_v<Result>,
                      "cudag: capture() hands out what the function returns, which must be a value, not a reference");
        if constexpr (std::is_void_v<Result>) {
            return add_region(
                stream, options, [&](StreamCapture& c) { detail::call_captured(function, c); }, location);
        } else {
            std::optional<Result> output;
            const CapturedNode node = add_region(
                stream, options, [&](StreamCapture& c) { output.emplace(detail::call_captured(function, c)); },
                location);
            return CapturedRegion<Result>{node, *std::move(output)};
        }
    }

    /// Makes a condition for one conditional node of this graph, or of a body inside it. It is `initial` when a launch
    /// starts, and in a body that a `while_` repeats, each time the body starts again. Such a body gets a node more for
    /// it, a kernel that runs before all its other nodes; the first one in a process takes some 60 ms to load, and this
    /// needs CUDA 12.8. Without an initial value, the condition is undefined until a kernel sets it, and is never set
    /// back.
    [[nodiscard]] Condition condition(unsigned initial, SourceLocation location = SourceLocation::current()) {
        return detail::make_condition(state(), initial, location);
    }
    [[nodiscard]] Condition condition(SourceLocation location = SourceLocation::current()) {
        return detail::make_condition(state(), std::nullopt, location);
    }

    /// Adds a node that runs the nodes that `then` adds if `condition` is not 0 when the node starts. `then` is a
    /// function `void(GraphBuilder&)`, called at once with a builder for its nodes, which takes no nodes later; the
    /// outer builder takes none meanwhile. What it throws is rethrown, and the builder is as it was before; but in a
    /// graph with memory nodes, from which CUDA removes nothing, `build()` then refuses.
    /// CUDA allows kernel, memcpy, memset, join, child and conditional nodes in a body, all of them of one device, and
    /// page-locked host memory only. Edges do not cross the border of a body.
    /// Throws GraphError if `condition` is of another graph, or has a node already.
    IfNode if_( // cudag: if_(condition, then), with a Condition of builder.condition()
        const Condition& condition, detail::GraphBody then, SourceLocation location = SourceLocation::current()) {
        return {detail::Passkey(), add_conditional(detail::ConditionalKind::if_, condition, &then, 1, location)};
    }

    /// The same with a second body, which runs if `condition` is 0. Needs CUDA 12.8.
    IfNode if_(const Condition& condition, detail::GraphBody then, detail::GraphBody else_,
               SourceLocation location = SourceLocation::current()) {
        const detail::GraphBody bodies[] = {then, else_};
        return {detail::Passkey(), add_conditional(detail::ConditionalKind::if_, condition, bodies, 2, location)};
    }

    /// Adds a node that runs the nodes that `body` adds as long as `condition` is not 0, also no time at all. A kernel
    /// in the body, or in a graph inside it, must take the condition as an argument, and set it to 0 in the end:
    /// `build()` throws GraphError if none does, unless the condition is 0 at first and no kernel outside takes it.
    ///
    /// Where a graph has other conditionals, too, and nothing comes after such a kernel in its body, `build()` lets a
    /// kernel node that does nothing come after it, labelled "end of a turn" (some 0.4 us a turn): without it launches
    /// end in cudaErrorLaunchFailure now and then (H200, driver 580.159).
    WhileNode
    while_(const Condition& condition, // cudag: while_(condition, body), with a Condition of builder.condition()
           detail::GraphBody body, SourceLocation location = SourceLocation::current()) {
        detail::know_condition_kernels();
        return {detail::Passkey(), add_conditional(detail::ConditionalKind::while_, condition, &body, 1, location)};
    }

    /// Adds a node that runs the nodes that `body` adds `times` times in each launch, one after the other. One kernel
    /// node more in the body counts them, labelled "count of turns". Needs CUDA 12.8. Throws GraphError if `times` is
    /// negative or 2^32 or more, and where `while_` does.
    template <std::integral Number>
    WhileNode repeat( // cudag: repeat(times, body) takes a number; while_(condition, body) lets kernels decide
        Number times, detail::GraphBody body, SourceLocation location = SourceLocation::current()) {
        detail::know_condition_kernels();
        return {detail::Passkey(), add_repeat(detail::turn_count(times, location), body, location)};
    }

    /// Adds a kernel node that sets `condition` to `value`, as that is in device memory when the node runs: the one
    /// unsigned or int of a DeviceScalar, DeviceBuffer, BufferParam or PinnedBuffer, which is kept, or of a DeviceSpan.
    /// More conditions, up to four in all, each with its value after it, are set by the same node. It counts as a
    /// kernel of yours that takes the conditions: it must run before the conditional node or inside it, and a loop may
    /// end by it. Updates take the same arguments: `exec.update(node, arg<1>(other))`. The first call in a process
    /// loads the kernel, some 60 ms; this needs CUDA 12.8. Throws GraphError if a value is not one number, and where
    /// `kernel` does.
    template <class... Argument>
    auto set( // cudag: set(condition, value), with a Condition of builder.condition()
        detail::Located<Condition> condition, const Argument&... values) {
        if constexpr (detail::require_condition_pairs<Condition, Argument...>()) {
            (detail::require_one_value(values, condition.location), ...);
            detail::know_condition_kernels();
            const Function& function =
                detail::set_conditions_function((1 + sizeof...(Argument)) / 2, condition.location);
            return add_typed<Condition, typename detail::SetParameter<Argument>::type...>(
                {}, condition.location, function, condition.value, values...);
        }
    }

    /// Adds a node that runs the body whose number `condition` is when the node starts, and none if there is no such
    /// body. Needs CUDA 12.8.
    SwitchNode switch_( // cudag: switch_(condition, {body, body}), with a Condition of builder.condition()
        const Condition& condition, std::initializer_list<detail::GraphBody> bodies,
        SourceLocation location = SourceLocation::current()) {
        return {detail::Passkey(),
                add_conditional(detail::ConditionalKind::switch_, condition, bodies.begin(), bodies.size(), location)};
    }

    /// The same with a range of functions.
    template <detail::GraphBodies Bodies>
    SwitchNode switch_( // cudag: switch_(condition, {body, body}), with a Condition of builder.condition()
        const Condition& condition, Bodies&& bodies, SourceLocation location = SourceLocation::current()) {
        const std::vector<detail::GraphBody> list(std::ranges::begin(bodies), std::ranges::end(bodies));
        return {detail::Passkey(),
                add_conditional(detail::ConditionalKind::switch_, condition, list.data(), list.size(), location)};
    }

    /// Takes nodes back that were added: one or more, each a handle, a captured region or a range of them. With them go
    /// their edges, which nothing bridges: what came before and after a node is no longer ordered by it; what is inside
    /// them, a graph that was moved there, too; and their owners, at once, but for those of captured work, which the
    /// graph keeps. A repeated handle counts once. All other handles stay valid; those of removed nodes throw
    /// GraphError that says so. Edges that are inferred come from the nodes that are left.
    /// The condition of a conditional that goes may get another node; CUDA takes none back, so that `build()` gives it
    /// an `if_` with an empty body if it has none.
    /// Throws GraphError, and removes nothing, for handles of other graphs; inside a body or a capture that is being
    /// written, of what is outside of it; and for what CUDA keeps: all nodes of a graph with alloc or free nodes,
    /// device-updatable kernels, and parts of captured regions. Takes as long as the graph has nodes and edges, however
    /// many go: remove many by one call.
    template <class... Handle>
    void remove( // cudag: remove(a, b, ...) takes the nodes one by one, or a range of them
        detail::Located<Node> first, const Handle&... rest) {
        remove_all(first.location, first.value, rest...);
    }
    template <class... Handle>
    void remove(detail::Located<CapturedNode> first, const Handle&... rest) {
        remove_all(first.location, first.value, rest...);
    }
    template <detail::NodeRange Range>
    void remove(const Range& nodes, SourceLocation location = SourceLocation::current()) {
        remove_all(location, nodes);
    }

    template <class... Handle>
    requires(sizeof...(Handle) == 0 || !(detail::NodeSource<Handle> && ...))
    void remove(const Handle&...) {
        static_assert(sizeof...(Handle) > 0, "cudag: remove() needs at least one node");
        static_assert(sizeof...(Handle) == 0, "cudag: remove() takes node handles or ranges of node handles");
    }

    /// Takes `to.after(from)` back, whatever the kind of the edge: `from` is a handle, a captured region or a range of
    /// them, `to` a handle or a region. Throws GraphError, and removes nothing, if there is no such edge, both nodes
    /// are of one region, or CUDA has the edge already in a graph with alloc or free nodes, from which it removes none;
    /// and where `remove` does. Takes as long as there are edges, however many go.
    template <class Callable>
    void remove_edge( // cudag: remove_edge(from, to) takes the nodes of `to.after(from)`
        const Callable& from, const Node& to, SourceLocation location = SourceLocation::current()) {
        remove_between(from, std::span(&to, 1), location);
    }
    template <class Callable>
    void remove_edge(const Callable& from, const CapturedNode& to,
                     SourceLocation location = SourceLocation::current()) {
        remove_between(from, to.roots(), location);
    }
    /// The same for a list, whatever the kinds in it say.
    void remove_edges(std::span<const Edge> edges, SourceLocation location = SourceLocation::current());

    /// A view of this builder whose nodes belong to `device`: `b.on(1).kernel(...)`, or `auto second = b.on(1);`. Each
    /// call makes `device` current, and the caller's device again. The view adds to the same graph, which this builder
    /// builds. Throws GraphError if there is no such device.
    [[nodiscard]] GraphBuilder on(int device);

    /// Throws what `build()` would throw, and changes nothing.
    void check() const;

    /// Checks the graph and hands it out; the builder is then empty. Handles stay valid.
    /// Throws GraphError if the edges close a cycle: the message shows the path; or if a condition has no node. Throws
    /// RaceError where nothing orders nodes of which one writes memory that the other uses, as far as cudag knows it,
    /// unless Races::allowed. The builder then stays as it was.
    [[nodiscard]] Graph build( // cudag: build() empties the builder: std::move(builder).build()
        SourceLocation location = SourceLocation::current()) &&;

    template <class... Owner>
    Exec instantiate(const Owner&...) const = delete; // cudag: it takes a Graph: std::move(builder).build()
    void launch(StreamRef) const = delete; // cudag: it takes an Exec: std::move(builder).build().instantiate()
    template <class... Argument>
    void update(const Node&, Argument&&...) const = delete; // cudag: updates are for Graphs: std::move(builder).build()

  private:
    friend class StreamCapture;
    /// A view: it adds nodes to a graph that another builder builds.
    explicit GraphBuilder(std::shared_ptr<detail::GraphState> state) noexcept;

    template <class... Parameter, class... Argument>
    KernelNode<Parameter...> add_kernel(const detail::PassedConfig& config, const SourceLocation& location,
                                        void (*function)(Parameter...), Argument&&... arguments) {
        using Given = std::tuple<std::remove_cvref_t<Argument>...>;
        if constexpr (detail::require_arguments(detail::no_value<std::tuple<Parameter...>>, detail::no_value<Given>)) {
            const detail::BuilderGraph open = state();
            detail::GraphState& graph = open;
            detail::CallEffects effects;
            const void* symbol = detail::kernel_symbol(function);
            const detail::KernelArguments<Parameter...> values(effects, {symbol, nullptr, location, &graph},
                                                               std::forward<Argument>(arguments)...);
            const detail::KernelCall call{
                symbol, &detail::signature_of(detail::no_value<std::tuple<Parameter...>>, detail::no_value<Given>),
                &config, values.pointers(), values.block()};
            return {detail::Passkey(), detail::add_kernel(graph, call, std::move(effects), location)};
        }
        return {};
    }

    template <class... Parameter, class... Argument>
    KernelNode<Parameter...> add_typed(const LaunchConfig& config, const SourceLocation& location,
                                       const Function& function, Argument&&... arguments) {
        using Given = std::tuple<std::remove_cvref_t<Argument>...>;
        if constexpr (detail::require_arguments(detail::no_value<std::tuple<Parameter...>>, detail::no_value<Given>)) {
            const detail::BuilderGraph open = state();
            detail::GraphState& graph = open;
            detail::CallEffects effects;
            const detail::KernelArguments<Parameter...> values(
                effects, {nullptr, nullptr, location, &graph, &function.state()}, std::forward<Argument>(arguments)...);
            const detail::PassedConfig passed(config);
            const detail::KernelCall call{
                nullptr,
                &detail::signature_of(detail::no_value<std::tuple<Parameter...>>, detail::no_value<Given>),
                &passed,
                values.pointers(),
                values.block(),
                &function.state()};
            return {detail::Passkey(), detail::add_kernel(graph, call, std::move(effects), location)};
        }
        return {};
    }

    template <class... Argument>
    FunctionNode add_function(const LaunchConfig& config, const SourceLocation& location, const Function& function,
                              Argument&&... arguments) {
        return {detail::Passkey(), detail::with_all_arguments(
                                       {nullptr, nullptr, location, &graph(), &function.state()},
                                       [&](const detail::GivenArguments& given, detail::CallEffects&& effects) {
                                           return detail::add_function(state(), function, config, given,
                                                                       std::move(effects), location);
                                       },
                                       std::forward<Argument>(arguments)...)};
    }

    template <class... Handle>
    JoinNode add_join(const SourceLocation& location, const Handle&... nodes) {
        static_assert((detail::NodeSource<Handle> && ...),
                      "cudag: join() takes node handles or ranges of node handles");
        const auto from = detail::list_nodes(nodes...);
        return {detail::Passkey(), detail::add_join(state(), from.data(), from.size(), location)};
    }

    template <class... Handle>
    void remove_all(const SourceLocation& location, const Handle&... nodes) {
        static_assert((detail::NodeSource<Handle> && ...),
                      "cudag: remove() takes node handles or ranges of node handles");
        std::vector<Node> all;
        (detail::append_all_nodes(all, nodes), ...);
        detail::remove_nodes(graph(), all, location);
    }

    template <class Callable>
    void remove_between(const Callable& from, std::span<const Node> to, const SourceLocation& location) {
        static_assert(detail::NodeSource<Callable>,
                      "cudag: remove_edge() takes node handles or ranges of node handles");
        if constexpr (detail::NodeSource<Callable>) {
            std::vector<Edge> edges;
            for (const Node& each : detail::list_nodes(from))
                for (const Node& target : to)
                    edges.push_back({each, target});
            detail::remove_edges(graph(), edges, location);
        }
    }

    CapturedNode add_region(StreamRef stream, CaptureOptions options,
                            const std::function<void(StreamCapture&)>& function, const SourceLocation& location);

    template <class Element>
    Node add_semaphores(NodeKind kind, std::span<const Element> list, const SourceLocation& location) {
        detail::Owners owners;
        const auto operations = detail::to_operations(list, owners);
        return detail::add_semaphores(state(), kind, operations, std::move(owners), location);
    }

    template <class GivenEvent>
    Node add_event(NodeKind kind, const GivenEvent& event, const SourceLocation& location) {
        detail::Owners owners;
        const cudaEvent_t native = detail::to_event(event, owners);
        return detail::add_event(state(), kind, native, std::move(owners), location);
    }

    void keep(std::vector<std::shared_ptr<const void>>&& owners);

    Node add_repeat(unsigned times, const detail::GraphBody& body, const SourceLocation& location);
    Node add_conditional(detail::ConditionalKind kind, const Condition& condition, const detail::GraphBody* bodies,
                         std::size_t count, const SourceLocation& location);

    /// What nodes are added to. The device of a view is current as long as the result lives: it is to be passed on in
    /// the same expression.
    [[nodiscard]] detail::BuilderGraph state() const;
    [[nodiscard]] detail::GraphState& graph() const;

    std::shared_ptr<detail::GraphState> state_;
    SourceLocation built_at_ = {}; ///< "nowhere" before
    bool is_view_ = false;
    int device_ = detail::any_device;
};

} // namespace cudag

#include <cudag/detail/capture_nodes.hpp> // which needs a GraphBuilder
