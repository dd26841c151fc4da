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

/// GraphBuilder builds a graph node by node. Each call adds one node, and CUDA validates it at once. `.after` on a
/// handle adds edges, and `build()` returns the Graph. A call that throws has added nothing.
///
///     auto up = b.memcpy(x, host).label("upload");
///     auto work = b.kernel(cudag::grid_1d(n, 256), scale, x, 2.0f, n).after(up);
///     b.memcpy(host, x).after(work);
///     graph = std::move(b).build();
///     exec = graph.instantiate();
///
/// The graph keeps arguments that own memory (DeviceBuffer, PinnedBuffer, shared_ptr). Spans and raw pointers are
/// borrowed: they must outlive every launch. A node belongs to the device that is current when the node is made.
/// Move-only; a moved-from or built builder may only be assigned to or destroyed: other calls throw GraphError, as does
/// a call that needs a newer CUDA. Host-only; does not synchronise. Threads: one at a time on one builder and on the
/// handles of its nodes. Other threads may meanwhile use a Graph that is being cloned into a child.
class CUDAG_EXPORT GraphBuilder {
  public:
    /// Makes an empty graph. Throws Error if CUDA cannot make one (no driver, no device).
    GraphBuilder();
    explicit GraphBuilder(const BuilderOptions& options);
    GraphBuilder(const GraphBuilder&) = delete;            // cudag: a builder has no copies: pass a GraphBuilder&
    GraphBuilder& operator=(const GraphBuilder&) = delete; // cudag: a builder has no copies: std::move(builder)
    GraphBuilder(GraphBuilder&&) noexcept;
    GraphBuilder& operator=(GraphBuilder&&) noexcept;
    ~GraphBuilder();

    /// Adds a launch of `function`, a `__global__` function. The `arguments` are copied now. The compiler checks their
    /// types: pointers convert as in C++, buffers and spans become pointers, and a floating-point number must not be
    /// wider than its parameter. Throws GraphError if an integer does not fit its parameter exactly, or if CUDA refuses
    /// the launch (grid, block, shared memory, unknown kernel).
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

    /// Adds a launch of a Function, a kernel known only at run time. The number and sizes of the arguments are checked
    /// now; PackedArguments replace the whole list. Throws GraphError if they do not fit or CUDA refuses the launch.
    template <class... Argument>
    FunctionNode kernel(detail::Located<LaunchConfig> config, const Function& function, Argument&&... arguments) {
        return add_function(config.value, config.location, function, std::forward<Argument>(arguments)...);
    }
    template <class... Argument>
    FunctionNode kernel(const detail::BracedConfig& config, const Function& function, Argument&&... arguments) {
        return add_function(LaunchConfig(config), config.location, function, std::forward<Argument>(arguments)...);
    }

    /// Adds a launch of a TypedFunction, a Function with known parameter types: arguments are checked by the compiler.
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

    /// Adds a copy of all of `source` to `destination`, device or host ranges of the same element type and size. The
    /// types determine the direction. Throws GraphError if the sizes differ or are 0.
    /// Use a PinnedBuffer for host memory: it is faster, and avoids these effects of pageable memory (seen on driver
    /// 580):
    /// - A pageable source is read during the launch call, not when the node runs. The copy may miss writes of earlier
    ///   kernels and host nodes of the launch.
    /// - A pageable destination, or a large pageable source (16 MiB), blocks the launch call until the copy has run.
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

    /// Adds a copy of all of `source` to `destination`, as `memcpy` does, but as a child node: its inner graph has two
    /// memcpy nodes if CUDA runs one of that size slowly, otherwise one. On a device, from 16 MiB on, CUDA runs many
    /// sizes up to 1.25 times as long in a graph as in a stream, such as 512 and 1024 MiB, and none of the pieces.
    ///
    ///     auto copy = b.memcpy_in_pieces(y, x).after(b.memset(x, 1.0f));
    ///
    /// Updates differ from those of a memcpy node: `exec.update(copy, other)` takes a graph with as many pieces, and
    /// the nodes of `copy.graph()` are updated piece by piece.
    template <class Destination, class Source>
    ChildNode memcpy_in_pieces( // cudag: memcpy_in_pieces(destination, source) copies all of two ranges of one length
        Destination&& destination, Source&& source, SourceLocation location = SourceLocation::current()) {
        if constexpr (detail::require_operand<Destination>() && detail::require_operand<Source>()) {
            detail::Owners owners;
            const detail::CopyParams copy = detail::copy_params(destination, source, owners);
            GraphBuilder pieces;
            pieces.device_ = device_;
            detail::add_pieces(pieces.state(), copy, owners, location);
            const Graph whole = std::move(pieces).build(location);
            return child(whole, location); // a clone: CUDA before 12.9 moves no graphs
        }
        return {};
    }

    /// Adds a copy of all of `source` to `destination`: each is a DeviceSpan2D, HostSpan2D or ArraySpan, with the same
    /// element type and extents. Throws GraphError if the extents differ or are 0, or a pitch is smaller than its row.
    /// An Exec never changes the copy, because CUDA updates 1D copies only. Graph::update changes it for future Execs.
    template <class Destination, class Source>
    MemcpyNode memcpy2d( // cudag: memcpy2d(destination, source) copies all of a DeviceSpan2D, HostSpan2D or ArraySpan
        const Destination& destination, const Source& source, SourceLocation location = SourceLocation::current()) {
        if constexpr (detail::require_dimensions<2, Destination, Source>())
            return {detail::Passkey(), detail::add_copy_3d(state(), detail::copy_3d(destination, source), location)};
        return {};
    }

    /// Adds a copy of all of `source` to `destination` in three dimensions: DeviceSpan3D, HostSpan3D or ArraySpan.
    /// Errors and updates are those of `memcpy2d`.
    template <class Destination, class Source>
    MemcpyNode memcpy3d( // cudag: memcpy3d(destination, source) copies all of a DeviceSpan3D, HostSpan3D or ArraySpan
        const Destination& destination, const Source& source, SourceLocation location = SourceLocation::current()) {
        if constexpr (detail::require_dimensions<3, Destination, Source>())
            return {detail::Passkey(), detail::add_copy_3d(state(), detail::copy_3d(destination, source), location)};
        return {};
    }

    /// Adds a node that sets all elements (not bytes) of `destination` to `value`; elements are of any trivially
    /// copyable type.
    /// CUDA repeats a pattern of 1, 2 or 4 bytes. The bytes of larger elements, padding included, must repeat in this
    /// way: those of 0.0 and -1L do, those of -0.0 do not. Throws GraphError if they do not, or if `destination` is
    /// empty.
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

    /// Adds a node that sets all bytes of `destination` to 0: a range or a DeviceSpan2D of any trivially copyable
    /// elements. Throws GraphError if it is empty. An update takes a value: `update(node, range, Element())`.
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

    /// Adds a node that sets all elements of a DeviceSpan2D to `value`; values and errors are those of `memset`.
    /// Updates of an Exec must keep the height and, if it is more than 1, the width and the pitch.
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

    /// Adds a call of `callable()` on the host. The callable is moved or copied into the graph and lives as long as
    /// launches may use it. It must make no CUDA calls, and may run concurrently with itself if several Execs of one
    /// graph run.
    /// An exception of the callable does not stop the launch: later nodes run all the same. The next wait for the
    /// launch through cudag, or `Exec::rethrow`, throws it, nested in a HostError.
    /// Throws GraphError in the body of a conditional.
    template <class Callable>
    HostNode host( // cudag: host(function) takes a function without arguments: host([=] { f(x); })
        Callable&& callable, SourceLocation location = SourceLocation::current()) {
        return {detail::Passkey(),
                detail::add_host(state(), detail::host_task(std::forward<Callable>(callable)), location)};
    }

    /// Adds a node that records `event`: an Event or `cudaEvent_t` (it must outlive every launch), or a shared_ptr to
    /// an Event (the graph keeps it). Each launch records the event anew, replacing an earlier record, when the nodes
    /// before this one have finished. Throws GraphError if the event is null or moved-from, and in the body of a
    /// conditional.
    template <class GivenEvent>
    RecordNode record( // cudag: record(event) marks an event
        GivenEvent&& event, SourceLocation location = SourceLocation::current()) {
        if constexpr (detail::require_event<GivenEvent, detail::EventUse::record>())
            return RecordNode(detail::Passkey(), add_event(NodeKind::record_event, event, location));
        return {};
    }

    /// Adds a wait for the work recorded in `event`, or for nothing if the event was never recorded. Record the event
    /// before the launch of the graph; within one launch, order nodes by `.after`. Accepts the events of `record`, and
    /// throws as it does.
    template <class GivenEvent>
    requires(!detail::SemaphoreWaits<GivenEvent>)
    WaitNode wait( // cudag: wait(event), or wait({semaphore, value}) in braces
        GivenEvent&& event, SourceLocation location = SourceLocation::current()) {
        if constexpr (detail::require_event<GivenEvent, detail::EventUse::wait>())
            return WaitNode(detail::Passkey(), add_event(NodeKind::wait_event, event, location));
        return {};
    }

    /// Adds a node that signals external semaphores: one, as in `signal({semaphore, 5})`, or a list. Throws GraphError
    /// if the list is empty, if a semaphore is null or moved-from, and in the body of a conditional.
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

    /// Adds a node that waits for an external semaphore, or for all in a list. Throws as `signal` does.
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

    /// Adds a node from CUDA's own parameters, of any kind except conditional. CUDA writes its outputs into `params`,
    /// such as the address of an allocation. All that the parameters refer to is borrowed. cudag reads the node back,
    /// as it reads captured nodes. Throws GraphError with CUDA's reason, and for kinds that the body of a conditional
    /// does not accept.
    NativeNode native( // cudag: native(params) takes a cudaGraphNodeParams variable, not a temporary
        cudaGraphNodeParams& params, SourceLocation location = SourceLocation::current()) {
        return NativeNode(detail::Passkey(), detail::add_native(state(), params, location));
    }

    /// Keeps `owners` (DeviceBuffer, PinnedBuffer, CapturePool, shared_ptr) alive with the graph, its clones and Execs,
    /// and their launches in flight. Use it for memory that nodes borrow.
    template <detail::OwnerArgument... Owner>
    void retain(const Owner&... owners) { // cudag: retain(owner) keeps buffers, pools and shared_ptrs
        static_assert(sizeof...(Owner) > 0, "cudag: retain() needs at least one owner");
        keep({detail::owner_of(owners)...});
    }

    /// Allocates memory of `count` elements that `Exec::bind` can later replace by other memory. Nodes use the result
    /// as any buffer. Adds no node. Throws like the constructor of BufferParam.
    template <class Element = detail::NoElement>
    [[nodiscard]] BufferParam<Element> parameter( // cudag: parameter<float>(count); for existing memory, BufferParam(x)
        std::size_t count, BufferParamOptions options = {}, SourceLocation location = SourceLocation::current()) {
        static_assert(!std::is_same_v<Element, detail::NoElement>,
                      "cudag: parameter needs the type of the elements: parameter<float>(count)");
        const detail::BuilderGraph device_is_current = state();
        return BufferParam<Element>(count, options, location);
    }

    /// Adds an alloc node for `count` elements of graph memory: each launch allocates them, and `.span()` of the handle
    /// returns them. A graph with alloc or free nodes (graph memory nodes) cannot be cloned, and has one Exec at a
    /// time.
    /// Throws GraphError if
    /// - `count` is 0 or too large,
    /// - the device does not exist, a peer cannot access it, or CUDA refuses the allocation,
    /// - the edges so far close a cycle,
    /// - this is the body of a conditional.
    template <class Element = detail::NoElement>
    AllocNode<Element> alloc(std::size_t count, const AllocOptions& options = {},
                             SourceLocation location = SourceLocation::current()) {
        static_assert(!std::is_same_v<Element, detail::NoElement>,
                      "cudag: alloc needs the type of the elements: alloc<float>(count)");
        constexpr bool plain = std::is_trivially_copyable_v<Element> && !std::is_const_v<Element>;
        static_assert(plain, "cudag: graph memory holds trivially copyable, non-const elements");
        return {detail::Passkey(), detail::add_alloc(state(), count, sizeof(Element), options, location)};
    }

    /// Adds a node that frees the memory of an alloc node: of this graph, or of another graph that runs before and does
    /// not free the memory itself. All uses of the memory must come before this node; `build()` checks this. Add copies
    /// and fills of the memory before this call: CUDA refuses the memory afterwards. Throws GraphError if the memory is
    /// already freed, and in the body of a conditional.
    template <class Element>
    FreeNode free( // cudag: free(alloc) takes an alloc node or its span()
        const AllocNode<Element>& alloc, SourceLocation location = SourceLocation::current()) {
        return {detail::Passkey(), detail::add_free(state(), alloc, location)};
    }

    /// Adds a node that frees the memory of an alloc node of this graph, given as its whole `range`. Throws GraphError
    /// as `free(alloc)` does, and if no alloc node of this graph has exactly this range.
    template <class Element>
    FreeNode free(DeviceSpan<Element> range, SourceLocation location = SourceLocation::current()) {
        const detail::Allocation memory{const_cast<std::remove_const_t<Element>*>(range.data()), range.size_bytes()};
        return {detail::Passkey(), detail::add_free(state(), memory, location)};
    }

    /// Adds a barrier after one or more nodes, each given as a handle, a captured region or a range of these. Nodes
    /// `.after` the barrier come after all of them, with n + m edges instead of n * m. Throws GraphError for a handle
    /// of another graph.
    template <class... Handle>
    JoinNode join( // cudag: join(a, b, ...) takes the nodes one by one, or a range of them
        detail::Located<Node> first, const Handle&... rest) {
        return add_join(first.location, first.value, rest...);
    }
    template <class... Handle>
    JoinNode join(detail::Located<CapturedNode> first, const Handle&... rest) {
        return add_join(first.location, first.value, rest...);
    }

    /// Adds a barrier after all nodes of a range, as `join(a, b, ...)` does.
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

    /// Adds a clone of the current state of `graph` as one node. `inside` of the handle finds the nodes in it. Throws
    /// GraphError if `graph` has conditional nodes, graph memory nodes or device-updatable kernels, or is already
    /// inside another graph.
    ChildNode child(const Graph& graph, // cudag: child(graph) takes a Graph
                    SourceLocation location = SourceLocation::current()) {
        return {detail::Passkey(), detail::add_child(state(), detail::Access::state(graph), location)};
    }

    /// Adds `graph` itself as one node, without a clone. Its handles stay valid, and Execs of the outer graph accept
    /// them. `graph` may still be inspected, but not instantiated, cloned or added again. Needs CUDA 12.9. Throws
    /// GraphError, and leaves `graph` as it is, if it has conditional nodes or a live Exec, is a Graph::view, or is
    /// already inside another graph.
    ChildNode child(Graph&& graph, SourceLocation location = SourceLocation::current()) {
        static_cast<void>(detail::Access::state(graph));
        return {detail::Passkey(), detail::move_child(state(), detail::Access::shared_state(graph), location)};
    }

    /// Records the work that `function` enqueues into `stream`, by stream capture, and adds it to the graph as one
    /// region. `function` is called at once, with the stream or with the StreamCapture& (for steps, forks and owners);
    /// this call ends the capture.
    /// The region comes after no other node: order it with `.after`. If `function` returns a value (not a reference),
    /// the result is a CapturedRegion with handle and value. An empty region is refused unless `allow_empty`, and then
    /// becomes an empty node. Memory is borrowed as StreamCapture describes. The builder accepts no other nodes during
    /// the call. In the body of a conditional, `stream` must be of the body's device; nodes that CUDA allows in no body
    /// are refused by name.
    /// An exception of `function` passes through. Throws CaptureError as cudag::capture does. In both cases the stream
    /// stays usable, and the graph is as before the call, except that
    /// - a broken capture destroys CUDA's graph: cudag restores it from a clone, so the native handles of its nodes
    ///   change,
    /// - the graph is lost if the capture is broken and CUDA cannot clone the graph (conditional nodes or conditions,
    ///   graph memory nodes, device-updatable kernels), or if handles exist of nodes that the function added by
    ///   StreamCapture::add. The error reports the loss, and the builder and its handles throw GraphError from then on.
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

    /// Makes a condition for one conditional node of this graph, or of a body inside it, on the current device. Its
    /// value is `initial` at the start of each launch. If the conditional node is in a body that a `while_` repeats,
    /// the value is also reset at each start of that body: cudag adds a kernel node to the body, before all its other
    /// nodes. This needs CUDA 12.8, and the first one in a process takes some 60 ms to load. Without `initial`, the
    /// value is undefined until a kernel sets it, and is never reset.
    [[nodiscard]] Condition condition(unsigned initial, SourceLocation location = SourceLocation::current()) {
        return detail::make_condition(state(), initial, location);
    }
    [[nodiscard]] Condition condition(SourceLocation location = SourceLocation::current()) {
        return detail::make_condition(state(), std::nullopt, location);
    }

    /// Adds an if node: it runs the nodes of the body `then` if `condition` is not 0 when the node starts.
    /// `then` is a function `void(GraphBuilder&)`. It is called at once, with a builder for the nodes of the body; that
    /// builder accepts no nodes later, and the outer one none during the call. An exception of `then` is rethrown, and
    /// the builder is as before the call; but if the graph has graph memory nodes, `build()` then throws, since CUDA
    /// removes no nodes.
    /// A body may have kernel, memcpy, memset, join, child and conditional nodes, all of one device, and may use host
    /// memory only if page-locked (rules of CUDA). Edges never cross the border of a body. Throws GraphError if
    /// `condition` belongs to another graph, was made on another device than the current one, or already has a node.
    IfNode if_( // cudag: if_(condition, then), with a Condition of builder.condition()
        const Condition& condition, detail::GraphBody then, SourceLocation location = SourceLocation::current()) {
        return {detail::Passkey(), add_conditional(detail::ConditionalKind::if_, condition, &then, 1, location)};
    }

    /// Adds an if-else node: it runs the body `then` if `condition` is not 0 when the node starts, and `else_` if it is
    /// 0. Rules and errors are those of `if_` with one body. Needs CUDA 12.8.
    IfNode if_(const Condition& condition, detail::GraphBody then, detail::GraphBody else_,
               SourceLocation location = SourceLocation::current()) {
        const detail::GraphBody bodies[] = {then, else_};
        return {detail::Passkey(), add_conditional(detail::ConditionalKind::if_, condition, bodies, 2, location)};
    }

    /// Adds a while loop: it tests `condition` before each iteration and runs the body while it is not 0, possibly
    /// never. Rules and errors are those of `if_`. A kernel in the body, or in an inner graph of it, must take the
    /// condition as an argument and set it to 0 eventually: otherwise `build()` throws GraphError, unless the condition
    /// is initially 0 and no kernel outside takes it.
    ///
    /// `build()` may add a kernel node without effect, labelled "end of a turn" (some 0.4 us per iteration), after a
    /// kernel that takes the condition: if nothing else in the body comes after that kernel, and the graph has other
    /// conditional nodes. Without it such launches sometimes end in cudaErrorLaunchFailure (H200, driver 580.159).
    WhileNode
    while_(const Condition& condition, // cudag: while_(condition, body), with a Condition of builder.condition()
           detail::GraphBody body, SourceLocation location = SourceLocation::current()) {
        detail::know_condition_kernels();
        return {detail::Passkey(), add_conditional(detail::ConditionalKind::while_, condition, &body, 1, location)};
    }

    /// Adds a loop that runs the nodes of `body` exactly `times` times in each launch, one iteration after the other.
    /// cudag adds one kernel node to the body, labelled "count of turns", that counts the iterations. Needs CUDA 12.8.
    /// Throws GraphError if `times` is negative or 2^32 or more, and as `while_` does.
    template <std::integral Number>
    WhileNode repeat( // cudag: repeat(times, body) takes a number; while_(condition, body) lets kernels decide
        Number times, detail::GraphBody body, SourceLocation location = SourceLocation::current()) {
        detail::know_condition_kernels();
        return {detail::Passkey(), add_repeat(detail::turn_count(times, location), body, location)};
    }

    /// Adds a kernel node that sets `condition` to a number in memory, read when the node runs. `value` holds one
    /// unsigned or int: a DeviceScalar, DeviceBuffer, BufferParam or PinnedBuffer, all of which the graph keeps, or a
    /// DeviceSpan.
    /// One node sets up to four conditions: `set(a, x, b, y)`. It counts as a kernel that takes them: it must run
    /// before the conditional node or inside it, and may end a loop. Updates take the same arguments:
    /// `exec.update(node, arg<1>(other))`.
    /// Needs CUDA 12.8; the first call in a process loads the kernel, in some 60 ms. Throws GraphError if a value is
    /// not one number, and as `kernel` does.
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

    /// Adds a switch node: it runs the body numbered by the value of `condition` when the node starts, from 0 on, or
    /// none if there is no such body. Rules and errors are those of `if_`. Throws GraphError if there are no bodies.
    /// Needs CUDA 12.8.
    SwitchNode switch_( // cudag: switch_(condition, {body, body}), with a Condition of builder.condition()
        const Condition& condition, std::initializer_list<detail::GraphBody> bodies,
        SourceLocation location = SourceLocation::current()) {
        return {detail::Passkey(),
                add_conditional(detail::ConditionalKind::switch_, condition, bodies.begin(), bodies.size(), location)};
    }

    /// Adds a switch node with one body for each function of a range. Rules and errors are those of `switch_` with a
    /// list.
    template <detail::GraphBodies Bodies>
    SwitchNode switch_( // cudag: switch_(condition, {body, body}), with a Condition of builder.condition()
        const Condition& condition, Bodies&& bodies, SourceLocation location = SourceLocation::current()) {
        const std::vector<detail::GraphBody> list(std::ranges::begin(bodies), std::ranges::end(bodies));
        return {detail::Passkey(),
                add_conditional(detail::ConditionalKind::switch_, condition, list.data(), list.size(), location)};
    }

    /// Removes one or more nodes, each given as a handle, a captured region or a range of these. A repeated handle
    /// counts once.
    /// The edges of the nodes go too, and no edge replaces them: nodes before and after a removed node are no longer
    /// ordered by it. Their inner graphs go, too, including a moved child. Owners are released at once, except those of
    /// captured work: the graph keeps them. Inferred edges come from the remaining nodes only. All other handles stay
    /// valid; handles of removed nodes throw GraphError with this reason.
    /// The condition of a removed conditional may get another node. If it has none, `build()` gives it an `if_` with an
    /// empty body, because CUDA removes no conditions.
    /// Throws GraphError, and removes nothing, for
    /// - handles of other graphs,
    /// - nodes outside the body or capture under construction,
    /// - nodes that cannot be removed: all nodes of a graph with graph memory nodes, device-updatable kernels, and
    ///   parts of captured regions.
    ///
    /// The cost depends on the nodes and edges of the graph, not on the number removed: remove many nodes by one call.
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

    /// Removes the edges of `to.after(from)`, of whatever kind. `from` is a handle, a captured region or a range of
    /// these; `to` is a handle or a region. The cost depends on the edges of the graph, not on the number removed.
    /// Throws GraphError, and removes nothing, as `remove` does, and if
    /// - there is no such edge,
    /// - both nodes belong to one region,
    /// - CUDA already has the edge, in a graph with graph memory nodes: CUDA removes no edges from it.
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
    /// Removes all edges in a list, whatever their kinds in it. Throws, and removes nothing, as `remove_edge` does.
    void remove_edges(std::span<const Edge> edges, SourceLocation location = SourceLocation::current());

    /// Returns a view of this builder that adds its nodes on `device`: `b.on(1).kernel(...)`, or `auto second =
    /// b.on(1);`. Each call of the view makes `device` current, and then the caller's device again. The view adds to
    /// the graph of this builder, keeps that alive, and accepts nodes until this builder builds it. Throws GraphError
    /// if there is no such device.
    [[nodiscard]] GraphBuilder on(int device);

    /// Checks the graph as `build()` does: throws the same errors, and changes nothing.
    void check() const;

    /// Checks the graph and returns it; the builder is then empty. Handles stay valid. If it throws, the builder is
    /// unchanged.
    /// Throws GraphError if the edges close a cycle (the message shows the path), if a use of graph memory is not
    /// between its alloc and free nodes, if a condition has no node, if a loop cannot end, or on a view of another
    /// builder. Throws RaceError if two unordered nodes use the same memory and one of them writes it, as far as cudag
    /// knows their accesses, unless Races::allowed.
    [[nodiscard]] Graph build( // cudag: build() empties the builder: std::move(builder).build()
        SourceLocation location = SourceLocation::current()) &&;

    template <class... Owner>
    Exec instantiate(const Owner&...) const = delete; // cudag: it takes a Graph: std::move(builder).build()
    void launch(StreamRef) const = delete; // cudag: it takes an Exec: std::move(builder).build().instantiate()
    template <class... Argument>
    void update(const Node&, Argument&&...) const = delete; // cudag: updates are for Graphs: std::move(builder).build()

  private:
    friend class StreamCapture;
    /// Makes a view: it adds nodes to a graph that another builder builds.
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
                effects, {nullptr, nullptr, location, &graph, &detail::Access::state(function)},
                std::forward<Argument>(arguments)...);
            const detail::PassedConfig passed(config);
            const detail::KernelCall call{
                nullptr,
                &detail::signature_of(detail::no_value<std::tuple<Parameter...>>, detail::no_value<Given>),
                &passed,
                values.pointers(),
                values.block(),
                &detail::Access::state(function)};
            return {detail::Passkey(), detail::add_kernel(graph, call, std::move(effects), location)};
        }
        return {};
    }

    template <class... Argument>
    FunctionNode add_function(const LaunchConfig& config, const SourceLocation& location, const Function& function,
                              Argument&&... arguments) {
        return {detail::Passkey(), detail::with_all_arguments(
                                       {nullptr, nullptr, location, &graph(), &detail::Access::state(function)},
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

    /// Returns the graph that nodes are added to. The device of a view is current as long as the result lives: pass it
    /// on in the same expression.
    [[nodiscard]] detail::BuilderGraph state() const;
    [[nodiscard]] detail::GraphState& graph() const;

    std::shared_ptr<detail::GraphState> state_;
    SourceLocation built_at_ = {}; ///< the call of build(); "nowhere" before it
    bool is_view_ = false;
    int device_ = detail::any_device;
};

} // namespace cudag

#include <cudag/detail/capture_nodes.hpp> // needs GraphBuilder
