// Times from events around the nodes of a copy of the graph.
#include "time_source.hpp"

#include "cuda/compat.hpp"
#include "cuda/failure.hpp"
#include "cuda/handles.hpp"
#include "cuda/node_calls.hpp"
#include "exec/exec_state.hpp"
#include "graph/graph_locks.hpp"
#include "graph/native_graph.hpp"
#include "node/event.hpp"

#include <cudag/error.hpp>

#include <cuda_runtime_api.h>

#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

bool can_be_between_events(NodeKind kind) noexcept {
    return kind == NodeKind::kernel || kind == NodeKind::memcpy || kind == NodeKind::memset || kind == NodeKind::host ||
           kind == NodeKind::child || kind == NodeKind::memcpy_batch;
}

UniqueEvent new_event() {
    cudaEvent_t event = nullptr;
    checked(cudaEventCreate(&event), "cudaEventCreate");
    return UniqueEvent(event);
}

class EventTimes final : public TimeSource {
  public:
    EventTimes(const ExecNodes& nodes, const ExecState& exec) : first_(new_event()) {
        require_measurable(nodes, exec);
        const auto lock = lock_of(exec.source());
        cudaGraph_t clone = nullptr;
        checked(cudaGraphClone(&clone, native_of(exec.source())), "cudaGraphClone");
        graph_ = UniqueGraph(clone);
        std::vector<cudaGraphNode_t> natives(nodes.natives.size());
        for (std::size_t i = 0; i < natives.size(); ++i)
            if (!nodes.profiled.nodes[i].outer)
                checked(cudaGraphNodeFindInClone(&natives[i], nodes.natives[i], clone), "cudaGraphNodeFindInClone");
        std::vector<cudaGraphNode_t> ends(natives.size()); ///< by node: its later event; null for a node without events
        for (std::size_t i = 0; i < natives.size(); ++i)
            if (!nodes.profiled.nodes[i].outer && can_be_between_events(nodes.profiled.nodes[i].kind)) {
                pairs_.push_back({i, new_event(), new_event()});
                ends[i] = add_record(pairs_.back().end, {natives[i]});
            }
        // Events come before the successors of a node, too: its end is recorded before anything else begins.
        auto pair = pairs_.begin();
        for (std::size_t i = 0; i < natives.size(); ++i) {
            std::vector<cudaGraphNode_t> before;
            for (const std::size_t dependency : nodes.profiled.nodes[i].dependencies)
                before.push_back(ends[dependency] != nullptr ? ends[dependency] : natives[dependency]);
            if (ends[i] != nullptr)
                add_edges({add_record(pair++->begin, before)}, natives[i]);
            else if (natives[i] != nullptr)
                add_edges_from_events(nodes.profiled.nodes[i], ends, natives[i]);
        }
        cudaGraphExec_t native = nullptr;
        cudaGraphInstantiateParams params{};
        checked(cudaGraphInstantiateWithParams(&native, clone, &params), "cudaGraphInstantiateWithParams");
        exec_ = UniqueExec(native);
    }

    [[nodiscard]] ProfileSource name() const noexcept override { return ProfileSource::events; }
    [[nodiscard]] Turns turns() const noexcept override { return Turns::all; }
    [[nodiscard]] Scope scope() const noexcept override { return Scope::outermost; }

    /// Launches the copy, and waits: the next launch records the same events.
    void launch(Exec&, StreamRef stream) override {
        checked(cudaEventRecord(first_.get(), stream.get()), "cudaEventRecord");
        checked(cudaGraphLaunch(exec_.get(), stream.get()), "cudaGraphLaunch");
        checked(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
        for (const Pair& pair : pairs_)
            records_.push_back(
                {launches_, pair.node, microseconds_of(pair.begin.get()), microseconds_of(pair.end.get())});
        launches_ += 2; // these launches are not in a row
    }

    [[nodiscard]] std::vector<RunRecord> finish() override { return std::move(records_); }

  private:
    struct Pair {
        std::size_t node;
        UniqueEvent begin;
        UniqueEvent end;
    };

    static void require_measurable(const ExecNodes& nodes, const ExecState& exec) {
        if (!exec.has_basis_alone() || &exec.effective().basis() != &exec.source())
            refuse<Error>(
                "profile: events measure a copy of the Graph, which lacks the updates of this Exec; instantiate "
                "the Graph anew, or measure by CUPTI",
                {}, cudaErrorNotSupported);
        for (std::size_t i = 0; i < nodes.natives.size(); ++i) {
            const NodeProfile& node = nodes.profiled.nodes[i];
            if (node.kind == NodeKind::conditional || node.kind == NodeKind::alloc || node.kind == NodeKind::free)
                refuse<Error>(fmt::format("profile: events measure a copy of the graph, and CUDA copies none with {}; "
                                          "measure by CUPTI",
                                          node.description),
                              {}, cudaErrorNotSupported);
            if (!rules_of(node.kind).can_be_disabled) continue;
            unsigned enabled = 1;
            checked(cudaGraphNodeGetEnabled(nodes.exec, nodes.natives[i], &enabled), "cudaGraphNodeGetEnabled");
            if (enabled == 0)
                refuse<Error>(fmt::format("profile: events measure a copy of the graph, in which {} is not disabled; "
                                          "enable it, or measure by CUPTI",
                                          node.description),
                              {}, cudaErrorNotSupported);
        }
    }

    [[nodiscard]] cudaGraphNode_t add_record(const UniqueEvent& event,
                                             const std::vector<cudaGraphNode_t>& after) const {
        return added_native_node<Error>(graph_.get(), native_params(EventParams{event.get(), true}), after);
    }
    void add_edges(const std::vector<cudaGraphNode_t>& from, cudaGraphNode_t to) const {
        const std::vector<cudaGraphNode_t> ends(from.size(), to);
        checked(compat::graph_add_dependencies(graph_.get(), from.data(), ends.data(), nullptr, from.size()),
                "cudaGraphAddDependencies");
    }
    void add_edges_from_events(const NodeProfile& node, const std::vector<cudaGraphNode_t>& ends,
                               cudaGraphNode_t to) const {
        std::vector<cudaGraphNode_t> events;
        for (const std::size_t before : node.dependencies)
            if (ends[before] != nullptr) events.push_back(ends[before]);
        if (!events.empty()) add_edges(events, to);
    }

    [[nodiscard]] double microseconds_of(cudaEvent_t event) const {
        float milliseconds = 0;
        checked(cudaEventElapsedTime(&milliseconds, first_.get(), event), "cudaEventElapsedTime");
        return 1000 * static_cast<double>(milliseconds);
    }

    UniqueEvent first_; ///< recorded before each launch
    UniqueGraph graph_;
    std::vector<Pair> pairs_{};
    UniqueExec exec_; ///< goes before the events
    std::vector<RunRecord> records_{};
    std::uint64_t launches_ = 0;
};

} // namespace

std::unique_ptr<TimeSource> record_event_times(const ExecNodes& nodes, const ExecState& exec) {
    return std::make_unique<EventTimes>(nodes, exec);
}

} // namespace cudag::detail
