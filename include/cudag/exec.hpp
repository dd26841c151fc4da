// Exec: the executable form of a Graph. It is launched many times, and updated at the lowest cost.
#pragma once

#include <cudag/arg.hpp>
#include <cudag/buffer_param.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/private_access.hpp>
#include <cudag/device_exec.hpp>
#include <cudag/footprint.hpp>
#include <cudag/host_error.hpp>
#include <cudag/node.hpp>
#include <cudag/plan.hpp>
#include <cudag/stream.hpp>
#include <cudag/update_options.hpp>
#include <cudag/update_report.hpp>
#include <cudag/updates.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace cudag {

class ChildNode;
class Graph;

/// Options of `Graph::instantiate`. The defaults are the safe choice.
struct InstantiateOptions {
    bool auto_free_on_launch = false; ///< frees allocations of the previous launch before each launch
    /// Lets kernels launch the graph (device-side graph launch), see `Exec::on_device`. Such a graph has kernel,
    /// memcpy, memset and child nodes only, all on one device, and copies neither arrays nor pageable host memory.
    /// Excludes auto_free_on_launch.
    bool device_launch = false;
    bool use_node_priority = false; ///< nodes run with their own priority instead of the launching stream's
    std::optional<StreamRef> upload_stream = std::nullopt; ///< uploads at once, ordered in this stream
    Plan plan = {};                                        ///< decides the edges of CUDA's graph
    /// Marks the begin and the end of each node in host memory. Errors after a fault, and DeadlineError, then name the
    /// unfinished nodes: see recorder.hpp. Costs GPU time: one or two tiny kernels a node. The environment variable
    /// CUDAG_CHECK=recorder sets it for all graphs that allow it. Excludes device_launch, and graphs with memory nodes.
    bool recorder = false;
    /// Lets `launch` write the nodes into a capture begun by other code, too; see `Exec::launch`. While such an Exec
    /// exists, each launch in the process asks whether there are captures.
    bool capturable = false;
};

/// Counts of `Exec::update_or_instantiate`: its updates, its new instances, and its returns to the former instance.
struct UpdateCounts {
    std::uint64_t updated = 0;
    std::uint64_t instantiated = 0;
    std::uint64_t switched = 0;
    friend bool operator==(const UpdateCounts&, const UpdateCounts&) = default;
};

/// The executable form of a Graph: launches it, and updates its nodes without another instantiation.
///
///     auto node = b.kernel(config, scale, x, 2.0f, n);
///     cudag::Graph graph = std::move(b).build();
///     cudag::Exec exec = graph.instantiate();
///     exec.launch(stream);
///     exec.update(node, cudag::arg<1>(3.0f)); // another factor in later launches
///     exec.launch(stream);
///     stream.synchronize();
///
/// Launches of one Exec never overlap each other. Updates affect later launches, never those in flight, and leave the
/// Graph unchanged. A refused update throws UpdateError and changes nothing.
///
/// An Exec keeps the nodes of its graph, their handles and the graph's owners alive, even after the Graph is gone. It
/// keeps the owners given to an update until the last launch with access to them has ended, even if the Exec is
/// destroyed while that launch is in flight. Updates never wait for the device: a later call that may wait, such as an
/// allocation or a synchronisation, frees the memory that they release.
///
/// Move-only. Every call on a moved-from Exec except assignment throws GraphError. Threads: const calls on one Exec may
/// run concurrently; any other call excludes all others on it. Meanwhile other threads may use and update its Graph,
/// the graphs given to its updates, and the other Execs of these graphs.
///
/// CUDA's driver 580 was seen to crash after an Exec was destroyed soon after its creation: in a thread just started by
/// the driver itself, on a busy machine, for a few random graphs of thousands. After a synchronisation it never
/// crashed.
class CUDAG_EXPORT Exec : public detail::Updates<Exec> {
  public:
    /// Wraps an executable graph owned by other code and instantiated from the graph of `graph`, usually a
    /// `Graph::view`. It must outlive this Exec. Launches and updates work as in other Execs; updates made by other
    /// code are not seen. Owners given to updates stay alive until the last launch through this Exec with access to
    /// them has ended. Throws GraphError if `exec` is null, or `graph` is an inner graph.
    [[nodiscard]] static Exec view(cudaGraphExec_t exec, const Graph& graph);

    Exec() = delete;                       // cudag: an Exec comes from graph.instantiate()
    Exec(const Exec&) = delete;            // cudag: an Exec has one owner: std::move(exec), or instantiate once more
    Exec& operator=(const Exec&) = delete; // cudag: an Exec has one owner: std::move(exec), or instantiate once more
    explicit Exec(const Graph&) = delete;  // cudag: an Exec comes from graph.instantiate()
    Exec(Exec&&) noexcept;
    Exec& operator=(Exec&&) noexcept;
    ~Exec();

    /// Enqueues one run of the graph in `stream`. Asynchronous. Throws Error if CUDA refuses. A graph with
    /// device-updatable kernels is uploaded first if necessary; a captured kernel counts as device-updatable only after
    /// `KernelNode::on_device` was called for it.
    ///
    /// If a StreamCapture captures `stream`, the nodes are written into its graph, as `GraphBuilder::inline_graph`
    /// does: with the parameters in force now, labels, accesses and owners, and an empty node for each disabled one.
    /// Later updates of this Exec do not reach them, `replays()` counts nothing, and only one thread at a time may do
    /// so. A capture by other code needs `.capturable`, or `StreamCapture::join_existing`; without, CUDA refuses the
    /// launch, which breaks that capture (CaptureError). Throws GraphError, naming the node, if it cannot be written:
    /// - the nodes refused by `inline_graph`, such as device-updatable kernels
    /// - graph memory not freed by this graph
    /// - graph memory or a conditional after a whole update to another graph
    void launch(StreamRef stream); // cudag: launch(stream) runs it in a stream, and counts that: no const Exec

    /// Throws HostError if host nodes threw exceptions in launches of this Exec that no call has reported yet. Needed
    /// for streams that cudag does not synchronise. Does not wait: synchronise first. Launches through `native()`
    /// count, too.
    void rethrow() const;

    /// Prepares the next launch on the device, ordered in `stream`, so that it starts sooner. Runs no node. Where
    /// several processes share a GPU, a launch behind an unfinished upload may never start (seen on driver 580, with
    /// CUDA's own calls, too): synchronise the stream between the two, or omit the upload.
    void upload(StreamRef stream); // cudag: upload(stream) is ordered in a stream; no const Exec

    /// Returns whether the device has the current state of this Exec: it was uploaded or launched, and not updated
    /// since.
    [[nodiscard]] bool is_uploaded() const;

    /// Returns a handle for kernels that launch this graph (device-side graph launch). Throws GraphError unless this
    /// Exec was instantiated with `.device_launch`, and uploaded or launched since its last update.
    [[nodiscard]] DeviceExec on_device() const;

    /// Updates one node for later launches. Throws UpdateError, and changes nothing, if the update is refused;
    /// RaceError if it would make a race. The forms, by the kind of the node:
    ///   - kernel: `update(node, arguments...)`, `update(node, arg<1>(2.0f))` for some arguments by position (of a
    ///     FunctionNode: `arg(1, 2.0f)`), or `update(node, config, arguments...)` with all, some or no arguments
    ///   - copy: `update(node, destination, source)`. CUDA fixes the direction, the devices and the origin of the
    ///     memory (cudaMalloc or the host, a memory pool, or a graph), and updates copies in one dimension only
    ///   - fill: `update(node, range, value)`. CUDA fixes the device and the height; above a height of 1, the width and
    ///     the pitch, too
    ///   - host node: `update(node, function)`
    ///   - event node: `update(node, event)`
    ///   - semaphore node: `update(node, {semaphore, value})`, or a list of the same length
    ///
    /// Alloc, free, join and conditional nodes have no update; `update(child, graph)` is below.
    using Updates::update;

    /// Updates the whole Exec (a whole update): its nodes receive the parameters of the nodes of `graph`. By default
    /// `graph` must have the same nodes and edges, created in the same order.
    ///
    ///     cudag::Graph next = std::move(b).build();
    ///     if (cudag::UpdateReport report = exec.update(next); !report.updated())
    ///         std::puts(report.to_string().c_str());
    ///
    /// A refusal, by CUDA or by cudag, is a report and no exception: the report lists the differences, and nothing has
    /// changed. Throws UpdateError if CUDA fails for a reason outside the graphs, and GraphError if `graph` is an inner
    /// graph. Keep using the handles of this Exec's own graph. Keeps `graph` alive until the next such update.
    ///
    /// CUDA silently ignores other cluster sizes and shared-memory carveouts (driver 580), so cudag refuses them; see
    /// `UpdateOptions::trust_attributes`.
    ///
    /// With `Match::structure` the order of the nodes does not matter:
    ///   - Only nodes that differ are updated, one call each, all or none. They take the changes possible in updates of
    ///     single nodes. For other changes, CUDA receives the whole graph if its order is the same, too.
    ///   - If the order differs, the report lists the impossible changes: another kernel, a kernel attribute, a copy of
    ///     several dimensions, the direction of a copy, graph memory, a condition.
    ///   - The report lists nodes without a partner. The search may also give up because too many nodes look alike: it
    ///     looks at each node and edge at most 64 times, plus four million times in total.
    ///   - Disabled nodes stay disabled. Host nodes call the functions of `graph`.
    ///   - Captured graphs are read.
    ///   - Former graphs and owners are kept, too, until the next update with `Match::order`.
    [[nodiscard]] UpdateReport update(const Graph& graph, UpdateOptions options = {});

    /// Updates the nodes inside a child node: they receive the parameters of the nodes of `graph`, which must have the
    /// same nodes and edges in the same order. Keeps `graph` alive until the next such update. Throws UpdateError, and
    /// changes nothing, if nodes or edges differ or CUDA refuses; RaceError if the update would make a race.
    void update(const ChildNode& node, const Graph& graph);

    /// Updates this Exec to `graph`, or replaces it by a new instance of `graph`. The report has three outcomes:
    /// - `updated()`: the update was made,
    /// - `needs_instantiate()`: the update is impossible for the reported reason, and the Exec is another instance,
    /// - neither: instantiation would not help either, and the Exec is unchanged.
    ///
    /// Another instance has the same `options()`, all its nodes enabled, and is not uploaded; from then on, use the
    /// handles of `graph`. It is a new one; but once two structures have come in turns, both instances are kept, and
    /// from then on each `graph` of the other structure updates the other one, without an instantiation
    /// (`UpdateCounts::switched`). New instances are made as before for graphs with memory nodes, conditionals,
    /// device-updatable kernels or DynamicParams, with `Match::structure`, and if nodes were disabled. For more
    /// structures, see ExecCache. Throws as `update` does, and InstantiateError if `graph` cannot be
    /// instantiated; nothing has changed then.
    UpdateReport update_or_instantiate(const Graph& graph, UpdateOptions options = {});
    [[nodiscard]] UpdateCounts update_counts() const;

    /// Replaces the memory of `param` by `memory` in all nodes of this Exec's graph that use it; see BufferParam for
    /// the uses that count.
    ///
    ///     cudag::BufferParam param = graph.parameter(x);
    ///     exec.bind(param, y); // later launches use y instead of x
    ///     exec.bind({{param, x}}); // several parameters at once
    ///
    /// `memory` has at least as many elements as the parameter: a DeviceBuffer or shared_ptr is kept as an update's
    /// operand is; a DeviceSpan is borrowed. Updates exactly the nodes in which something changes, one call each, and
    /// returns their number. The graph stays unchanged. Other updates may change the same nodes: the last one counts.
    /// Memory declared by `.reads` and `.writes` moves, too.
    ///
    /// Throws GraphError if `param` was moved from. Throws UpdateError, and changes nothing, in these cases:
    ///   - no node uses the parameter, or a node uses it in a way that cannot be replaced (see BufferParam)
    ///   - the memory is null or too short, or a copy or fill exceeds the parameter
    ///   - a whole update has given a node a kernel with other parameter types
    ///   - CUDA refuses: it updates no copies of two or three dimensions, and fixes the origin of a copy's memory (see
    ///     `update`)
    ///
    /// Throws RaceError, and changes nothing, if it would make a race.
    template <class Element, class Memory>
    std::size_t bind( // cudag: bind(parameter, memory), or bind({{a, x}, {b, y}}) for several at once
        const BufferParam<Element>& param, const Memory& memory) {
        if constexpr (detail::require_memory<Element, Memory>()) {
            const BufferBinding binding(param, memory);
            return bind(std::span(&binding, 1));
        }
        return 0;
    }
    /// Replaces the memory of several parameters, all or none: a node that uses more than one takes one call. An
    /// address where one parameter ends and another one of the call begins belongs to the latter, except with
    /// `EndPointers::bound`. Throws, in addition, UpdateError if a parameter is given twice, or if overlapping
    /// parameters would place their common part in two places.
    std::size_t bind(std::initializer_list<BufferBinding> bindings) {
        return bind(std::span(bindings.begin(), bindings.size()));
    }
    std::size_t bind(std::span<const BufferBinding> bindings);

    /// Applies all changes made by `Graph::update` to its graph since this Exec was made or last called `apply`:
    /// updates exactly these nodes, one call each, and returns their number. Throws UpdateError, and changes nothing,
    /// if `graph` is not the graph of this Exec or CUDA refuses a node; RaceError if the changes would make a race
    /// together with other updates of this Exec.
    std::size_t apply(const Graph& graph); // cudag: apply(graph) takes the Graph that the Exec was made from

    /// Enables or disables a kernel, memcpy or memset node for later launches. A disabled node does nothing; its
    /// successors still wait for its predecessors. It may be updated, and stays disabled then, after updates of the
    /// whole graph, too. Throws UpdateError for nodes of other graphs, and of other kinds; `is_enabled` returns true
    /// for the latter. Never enable nodes through `native()`: CUDA lets small disabled memsets wait for nothing, so
    /// cudag gives them substitute parameters until they are enabled.
    void enable(const Node& node);  // cudag: enable(node) takes a handle, such as graph.find_one(kernel)
    void disable(const Node& node); // cudag: disable(node) takes a handle, such as graph.find_one(kernel)
    [[nodiscard]] bool is_enabled(const Node& node) const;
    /// Enables or disables one copy of a batch, as a node.
    void enable(const CopyInBatch& copy);
    void disable(const CopyInBatch& copy);
    [[nodiscard]] bool is_enabled(const CopyInBatch& copy) const;

    /// Returns the memory of this Exec, with its plan and its updates. A captured graph is read.
    [[nodiscard]] Footprint memory() const;

    /// Returns the number of launches of this Exec.
    [[nodiscard]] std::uint64_t replays() const;

    /// Reports the edges made by the plan, the reasons, and possible gains. Takes about as long as planning.
    [[nodiscard]] PlanReport plan() const;

    /// Returns the text of `Graph::dot()` for its graph, with CUDA's edges. Omitted edges, and joins replaced by edges
    /// or kernels, are grey and dashed; empty kernels of the plan are points.
    [[nodiscard]] std::string dot() const;

    /// Returns the options of this Exec's instantiation, without the upload stream.
    [[nodiscard]] InstantiateOptions options() const;

    /// Returns CUDA's handle, borrowed. cudag does not see updates made through it. Launches through it keep owners
    /// alive, too: after this call, owners replaced by an update stay until the next launch through this Exec has
    /// ended, or until the Exec's end.
    [[nodiscard]] cudaGraphExec_t native() const;

  private:
    friend struct detail::Access;
    explicit Exec(std::unique_ptr<detail::ExecState>&& state) noexcept;

    [[nodiscard]] detail::UpdateTarget update_target() const;
    [[nodiscard]] detail::ExecState& state() const;

    std::unique_ptr<detail::ExecState> state_;
};

/// Returns "exec of 3 nodes (2 kernel, 1 memcpy), launched 7 times, of the graph made at a.cpp:12", or "moved-from
/// Exec".
[[nodiscard]] CUDAG_EXPORT std::string to_string(const Exec& exec);

inline detail::ExecState& detail::Access::state(const Exec& exec) {
    return exec.state();
}
inline const detail::ExecState* detail::Access::find_state(const Exec& exec) noexcept {
    return exec.state_.get();
}
inline Exec detail::Access::exec_of(std::unique_ptr<ExecState>&& state) noexcept {
    return Exec(std::move(state));
}
inline detail::UpdateTarget detail::Access::target(const Exec& exec) {
    return exec.update_target();
}

} // namespace cudag
