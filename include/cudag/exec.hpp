// Exec: a graph that can be launched, and updated at the lowest cost there is.
#pragma once

#include <cudag/buffer_param.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/updates.hpp>
#include <cudag/device_exec.hpp>
#include <cudag/host_error.hpp>
#include <cudag/node.hpp>
#include <cudag/plan.hpp>
#include <cudag/stream.hpp>
#include <cudag/update_options.hpp>
#include <cudag/update_report.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace cudag {

class ChildNode;
class Graph;

namespace detail {

class ExecStore;
class Tuner;

} // namespace detail

/// How a Graph becomes an Exec; the defaults are the safe choice.
struct InstantiateOptions {
    bool auto_free_on_launch = false; ///< allocations of the last launch are freed before the next
    /// Kernels may launch it, see `Exec::on_device`. Then it has kernel, memcpy, memset and child nodes only, on one
    /// device, and copies neither arrays nor host memory that is not page-locked. Excludes auto_free_on_launch.
    bool device_launch = false;
    bool use_node_priority = false; ///< nodes run with their own priority instead of the launching stream's
    std::optional<StreamRef> upload_stream = std::nullopt; ///< upload at once, ordered in this stream
    Plan plan = {};                                        ///< which edges CUDA gets
};

/// What `Exec::update_or_instantiate` has done so far.
struct UpdateCounts {
    std::uint64_t updated = 0;
    std::uint64_t instantiated = 0;
    friend bool operator==(const UpdateCounts&, const UpdateCounts&) = default;
};

/// The executable form of a Graph. Updates affect launches to come, never those in flight, and leave the Graph as it
/// is. A refused update throws UpdateError and changes nothing. Launches of one Exec never overlap each other.
/// Keeps its graph's nodes and owners alive; owners given to an update are kept until the last launch that may use them
/// has ended, also if the Exec is destroyed while one is in flight. CUDA's driver 580 has been seen to crash where an
/// Exec was destroyed soon after it was made, in a thread that it had just started itself, on a busy machine (a few
/// random graphs of thousands); after a synchronisation it never did.
/// Move-only; every call on a moved-from Exec but assignment throws GraphError.
/// Threads: const calls on one Exec may run at once, any other excludes all of them. Other threads may meanwhile use,
/// and update, the Graph that it was made from, those that it is given, and their other Execs.
class CUDAG_EXPORT Exec : public detail::Updates<Exec> {
  public:
    /// An executable graph that somebody else has instantiated from the graph that `graph` is, a view of it as a rule,
    /// and owns: it must outlive this Exec. It is launched and updated as others are; what others have updated in it is
    /// not seen. Owners that updates bring in are kept until the last launch through this Exec that may use them has
    /// ended. Throws GraphError if `exec` is null.
    [[nodiscard]] static Exec view(cudaGraphExec_t exec, const Graph& graph);

    Exec() = delete;                       // cudag: an Exec comes from graph.instantiate()
    Exec(const Exec&) = delete;            // cudag: an Exec has one owner: std::move(exec), or instantiate once more
    Exec& operator=(const Exec&) = delete; // cudag: an Exec has one owner: std::move(exec), or instantiate once more
    explicit Exec(const Graph&) = delete;  // cudag: an Exec comes from graph.instantiate()
    Exec(Exec&&) noexcept;
    Exec& operator=(Exec&&) noexcept;
    ~Exec();

    /// Enqueues one run in `stream`. Asynchronous. Throws Error if CUDA refuses. Uploads first what kernels may change:
    /// a graph with device-updatable nodes, where captured ones count from their first `on_device()` on.
    void launch(StreamRef stream); // cudag: launch(stream) runs it in a stream, and counts that: no const Exec

    /// Throws HostError if host nodes threw in launches of this Exec, and nobody has seen it yet: for launches in
    /// streams that cudag does not synchronise. Does not wait: synchronise first. Launches through `native()` count
    /// too.
    void rethrow() const;

    /// Prepares the next launch on the device, ordered in `stream`, so that it starts sooner. Runs no node. Seen on
    /// driver 580, of CUDA's own calls, too: where several processes share a GPU, a launch behind an upload that has
    /// not ended may never start; synchronise the stream between the two, or leave the upload out.
    void upload(StreamRef stream); // cudag: upload(stream) is ordered in a stream; no const Exec

    /// Whether the device has this Exec as it is: it was uploaded or launched, and not updated since.
    [[nodiscard]] bool is_uploaded() const;

    /// What kernels launch this graph by; of an Exec that was instantiated with `.device_launch`, and uploaded or
    /// launched since its last update. Throws GraphError for others.
    [[nodiscard]] DeviceExec on_device() const;

    using Updates::update;

    /// Gives this Exec the parameters of all nodes of `graph`, which has the same nodes and edges, made in the same
    /// order. Handles of the graph that this Exec was made from remain those to use with it. What CUDA, or cudag in its
    /// place, refuses is no exception but a report; it then says in what `graph` differs, and nothing has changed.
    /// Changes that CUDA neither makes nor refuses (driver 580), other clusters and shared-memory carveouts, are
    /// refused, too; see `UpdateOptions::trust_attributes`. Keeps `graph` until the next such update. Throws
    /// UpdateError if CUDA fails for a reason that is not in the graphs.
    ///
    /// With `Match::structure` the order does not matter, and only nodes that differ are pushed, each with one call,
    /// all or none. Disabled nodes stay disabled, and host nodes call what those of `graph` do. Nodes take what updates
    /// of single nodes can change; where that is not enough, CUDA gets the whole graph if its order is the same, too,
    /// and else the report names what has changed: another kernel, an attribute of a kernel, a copy of several
    /// dimensions, the direction of a copy, graph memory, a condition. It also names the nodes that have no partner, or
    /// says that too many nodes look alike: the search looks at each node and edge 64 times at most, and four million
    /// times more. Captured graphs are read. What this Exec kept before, it keeps, too, until the next update with
    /// `Match::order`.
    [[nodiscard]] UpdateReport update(const Graph& graph, UpdateOptions options = {});

    /// Gives the nodes inside a child node the parameters of those of `graph`, which has the same nodes and edges, made
    /// in the same order; it is kept until the next such update. Throws UpdateError if it has not, or CUDA refuses.
    void update(const ChildNode& node, const Graph& graph);

    /// Updates to `graph` if that is possible, and becomes a new instance of it where only that helps, with the flags
    /// of this one: handles of `graph` are then those to use, all nodes are enabled, and nothing is uploaded. The
    /// report says why it could not be updated; `update_counts()` tells what was done so far. Throws InstantiateError,
    /// and changes nothing, if `graph` cannot be instantiated.
    UpdateReport update_or_instantiate(const Graph& graph, UpdateOptions options = {});
    [[nodiscard]] UpdateCounts update_counts() const;

    /// Uses `memory` in place of `param` wherever the graph that this Exec was made from has that: a DeviceBuffer or a
    /// shared_ptr, kept as an update's, or a DeviceSpan, borrowed; as many elements as the parameter or more. Gives
    /// CUDA exactly the nodes in which something changes, each with one call, and returns how many. The graph stays as
    /// it is, and other updates may change the nodes as well: the last one counts. What nodes declare of the memory by
    /// `.reads` and `.writes` moves with it. Throws UpdateError, and changes nothing, if no node uses the parameter, a
    /// node uses it in a way that cannot be replaced (see BufferParam), the memory is too short, a copy or fill uses
    /// more than it has, or CUDA refuses, as it does copies of two or three dimensions, and in copies memory from
    /// elsewhere (see `update`). Throws RaceError if it would make a race.
    template <class Element, class Memory>
    std::size_t bind( // cudag: bind(parameter, memory), or bind({{a, x}, {b, y}}) for several at once
        const BufferParam<Element>& param, const Memory& memory) {
        if constexpr (detail::require_memory<Element, Memory>()) {
            const BufferBinding binding(param, memory);
            return bind(std::span(&binding, 1));
        }
        return 0;
    }
    /// The same for several: a node that uses more than one takes one call. An address where one parameter ends and
    /// another one of the call begins is the other one's. Parameters that overlap are refused if what they share would
    /// be in two places.
    std::size_t bind(std::initializer_list<BufferBinding> bindings) {
        return bind(std::span(bindings.begin(), bindings.size()));
    }
    std::size_t bind(std::span<const BufferBinding> bindings);

    /// Gives this Exec what `Graph::update` changed in its graph since it was made, or last applied: exactly those
    /// nodes, each with one call. Returns how many nodes that were. Throws UpdateError, and changes nothing, if `graph`
    /// is not the one that this Exec was made from, or if CUDA refuses one of the nodes; RaceError if what this Exec
    /// was given besides would make a race with them.
    std::size_t apply(const Graph& graph); // cudag: apply(graph) takes the Graph that the Exec was made from

    /// A disabled kernel, memcpy or memset node does nothing in launches to come; what comes after it still waits for
    /// what comes before it. It may be updated, and stays disabled, in updates of the whole graph, too. Other kinds
    /// throw UpdateError. CUDA itself lets small memsets that are disabled wait for nothing: cudag gives those other
    /// parameters until they are enabled, so that `native()` must not be used to enable them.
    void enable(const Node& node);  // cudag: enable(node) takes a handle, such as graph.find_one(kernel)
    void disable(const Node& node); // cudag: disable(node) takes a handle, such as graph.find_one(kernel)
    [[nodiscard]] bool is_enabled(const Node& node) const;

    /// How often this Exec was launched.
    [[nodiscard]] std::uint64_t replays() const;

    /// What the plan has made of the edges of its graph, why, and what would gain more. Takes about as long as
    /// planning.
    [[nodiscard]] PlanReport plan() const;

    /// `Graph::dot()` of its graph with the edges that CUDA has by the plan: those that were written and left out, and
    /// joins that became edges or kernels, are grey and dashed, and empty kernels of the plan are points.
    [[nodiscard]] std::string dot() const;

    /// How this Exec was instantiated; an upload stream is not kept.
    [[nodiscard]] InstantiateOptions flags() const;

    /// CUDA's handle, borrowed. Updates made through it are unknown to cudag.
    [[nodiscard]] cudaGraphExec_t native() const;

  private:
    friend class Graph;
    friend class detail::Updates<Exec>;
    friend class detail::Tuner;
    friend class detail::ExecStore;
    friend CUDAG_EXPORT std::string to_string(const Exec& exec);
    explicit Exec(std::unique_ptr<detail::ExecState> state) noexcept;

    [[nodiscard]] detail::UpdateTarget update_target() const;
    [[nodiscard]] detail::ExecState& state() const;

    std::unique_ptr<detail::ExecState> state_;
};

/// "exec of 3 nodes (2 kernel, 1 memcpy), launched 7 times, of the graph made at a.cpp:12"; of a moved-from Exec, that
/// it is one.
[[nodiscard]] CUDAG_EXPORT std::string to_string(const Exec& exec);

} // namespace cudag
