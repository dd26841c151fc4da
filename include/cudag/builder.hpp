// GraphBuilder: writes a graph node by node.
#pragma once

#include <cudag/builder/conditionals.hpp>
#include <cudag/builder/copies.hpp>
#include <cudag/builder/events.hpp>
#include <cudag/builder/kernels.hpp>
#include <cudag/builder/memory.hpp>
#include <cudag/builder/memory_operations.hpp>
#include <cudag/builder/structure.hpp>
#include <cudag/builder_options.hpp>
#include <cudag/capture.hpp>
#include <cudag/captured_node.hpp>
#include <cudag/condition.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/builder_graph.hpp>
#include <cudag/detail/graph_body.hpp>
#include <cudag/detail/host_task.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/detail/owner_argument.hpp>
#include <cudag/detail/owners.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/detail/private_access.hpp>
#include <cudag/detail/record.hpp>
#include <cudag/graph.hpp>
#include <cudag/host_options.hpp>
#include <cudag/nested_node.hpp>
#include <cudag/node.hpp>
#include <cudag/source_location.hpp>
#include <cudag/stream.hpp>
#include <cudag/stream_capture.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace cudag {

class GreenContext;

/// GraphBuilder builds a graph node by node. Each call adds one node, and CUDA validates it at once. `.after` on a
/// handle adds edges, and `build()` returns the Graph. A call that throws has added nothing.
///
///     auto up = b.memcpy(x, host).label("upload");
///     auto work = b.kernel(cudag::grid_1d(n, 256), scale, x, 2.0f, n).after(up);
///     b.memcpy(host, x).after(work);
///     graph = std::move(b).build();
///     exec = graph.instantiate();
///
/// The calls, and the headers that declare them:
///   - `host`, `native`, `capture`, `memcpy_in_pieces`, `retain`, `on`, `check`, `build`: this header
///   - `kernel`: builder/kernels.hpp
///   - `memcpy`, `memcpy2d`, `memcpy3d`, `memset`, `memset2d`, `clear`: builder/copies.hpp
///   - `if_`, `while_`, `repeat`, `switch_`, `condition`, `set`: builder/conditionals.hpp
///   - `record`, `wait`, `signal`: builder/events.hpp
///   - `parameter`, `alloc`, `free`: builder/memory.hpp
///   - `wait_value`, `write_value`, `memory_operations`: builder/memory_operations.hpp
///   - `join`, `child`, `remove`, `remove_edge`, `remove_edges`: builder/structure.hpp
///
/// The graph keeps arguments that own memory (DeviceBuffer, PinnedBuffer, shared_ptr). Spans and raw pointers are
/// borrowed: they must outlive every launch. A node belongs to the device that is current when the node is made.
/// Move-only; a moved-from or built builder may only be assigned to or destroyed: other calls throw GraphError, as does
/// a call that needs a newer CUDA. Host-only; does not synchronise. Threads: one at a time on one builder and on the
/// handles of its nodes. Other threads may meanwhile use a Graph that is being cloned into a child.
class CUDAG_EXPORT GraphBuilder : public detail::KernelCalls<GraphBuilder>,
                                  public detail::CopyCalls<GraphBuilder>,
                                  public detail::ConditionalCalls<GraphBuilder>,
                                  public detail::EventCalls<GraphBuilder>,
                                  public detail::MemoryCalls<GraphBuilder>,
                                  public detail::MemoryOperationCalls<GraphBuilder>,
                                  public detail::StructureCalls<GraphBuilder> {
  public:
    /// Makes an empty graph. Throws Error if CUDA cannot make one (no driver, no device).
    GraphBuilder();
    explicit GraphBuilder(const BuilderOptions& options);
    GraphBuilder(const GraphBuilder&) = delete;            // cudag: a builder has no copies: pass a GraphBuilder&
    GraphBuilder& operator=(const GraphBuilder&) = delete; // cudag: a builder has no copies: std::move(builder)
    GraphBuilder(GraphBuilder&&) noexcept;
    GraphBuilder& operator=(GraphBuilder&&) noexcept;
    ~GraphBuilder();

    /// Adds a call of `callable()` on the host. The callable is moved or copied into the graph and lives as long as
    /// launches may use it. It must make no CUDA calls, and may run concurrently with itself if several Execs of one
    /// graph run.
    /// An exception of the callable does not stop the launch: later nodes run all the same. The next wait for the
    /// launch through cudag, or `Exec::rethrow`, throws it, nested in a HostError.
    /// Throws GraphError in the body of a conditional, and if CUDA is too old for the options.
    template <class Callable>
    HostNode host( // cudag: host(function) takes a function without arguments: host([=] { f(x); })
        Callable&& callable, const HostOptions& options = {}, SourceLocation location = SourceLocation::current()) {
        return {detail::Passkey(),
                detail::add_host(state(), detail::host_task(std::forward<Callable>(callable)), options, location)};
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

    /// Returns a view of this builder that adds its nodes on `device`: `b.on(1).kernel(...)`, or `auto second =
    /// b.on(1);`. Each call of the view makes `device` current, and then the caller's device again. The view adds to
    /// the graph of this builder, keeps that alive, and accepts nodes until this builder builds it. Throws GraphError
    /// if there is no such device.
    [[nodiscard]] GraphBuilder on(int device);
    /// Returns a view of this builder that adds its nodes in a green context: its kernels, fills and copies run on the
    /// multiprocessors of `context` only. Other nodes use none. The graph keeps the context alive. All nodes in the
    /// body of a conditional belong to the context of the conditional. Throws GraphError if `context` was moved from.
    [[nodiscard]] GraphBuilder on(const GreenContext& context);

    /// Returns the number of nodes so far, without those of inner graphs.
    [[nodiscard]] std::size_t node_count() const;

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
    friend struct detail::Access;
    friend class StreamCapture;
    Graph build_at(SourceLocation location);
    /// Makes a view: it adds nodes to a graph that another builder builds.
    explicit GraphBuilder(std::shared_ptr<detail::GraphState> state) noexcept;

    /// Calls `function(GraphState&)` with the device of a view current, and returns its result.
    template <class Function>
    auto place(const SourceLocation&, const Function& function) {
        return function(static_cast<detail::GraphState&>(state()));
    }

    CapturedNode add_region(StreamRef stream, CaptureOptions options,
                            const std::function<void(StreamCapture&)>& function, const SourceLocation& location);

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
