// Exec::update of a child node by a graph.
#include <cudag/exec.hpp>
#include <cudag/graph.hpp>
#include <cudag/nested_node.hpp>

#include "changed_nodes.hpp"
#include "compare/diff.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/no_waiting.hpp"
#include "exec_declarations.hpp"
#include "exec_nodes.hpp"
#include "graph/in_force.hpp"
#include "node/native_result.hpp"
#include "order/race_check.hpp"
#include "update_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cudag {

namespace detail {

namespace {

/// The changes of nodes inside a child node, prepared before CUDA is asked.
class PendingUpdate {
  public:
    PendingUpdate(ExecState& exec, const GraphState& mine, const GraphState& next) : exec_(exec) {
        for_each_graph_pair(mine, next, [this](const GraphState& before, const GraphState& after) {
            const std::size_t first = nodes_.size();
            for (std::uint32_t i = 0; i < before.records().nodes().size(); ++i) {
                const NodePlace place{&before, i};
                Shadow& shadow = exec_.effective().shadow(place);
                const NodeParams& params = after.records().params(i);
                exec_.effective().reserve(shadow, params);
                nodes_.push_back({place, &shadow, &params, all_declared(after, i)});
            }
            for (const UpdatedNode& node : after.records().updated().all())
                nodes_[first + node.index].owners = version_of(Owners(node.owners));
        });
    }

    /// Throws RaceError if the exec refuses races and the update would make one.
    template <class MakeSubject>
    void require_no_race(const MakeSubject& subject) {
        if (!refuses_races(exec_)) return;
        for (const PendingNode& node : nodes_)
            if (changes_accesses(exec_, node.place, *node.next, node.declared))
                races_.stage(exec_.races().watch(), node.place, *node.next, node.declared);
        races_.require_none("", subject);
    }

    void commit() noexcept {
        races_.commit();
        for (PendingNode& node : nodes_)
            put_in_force(node);
    }

    /// Updates differing nodes one by one, and commits. Returns false if an exec cannot take a change or parameters are
    /// unknown. Throws UpdateError if CUDA refuses a node. In both cases nothing has changed, and `commit` must not
    /// follow.
    [[nodiscard]] bool push_each() {
        ChangedNodes changed(exec_, nodes_.size(), "update of ");
        std::vector<PendingNode*> equal; // CUDA needs no call for them, but their owners and declarations change
        for (PendingNode& node : nodes_) {
            if (is_unknown(node.place.record().kind, *node.next)) return false;
            const std::vector<FieldDifference> differences = diff_params(node.shadow->params, *node.next);
            if (differences.empty()) {
                equal.push_back(&node);
                continue;
            }
            if (std::ranges::any_of(differences, &FieldDifference::is_fixed_in_node)) return false;
            changed.add(node.place, *node.next, std::move(node.owners), std::vector(node.declared));
        }
        bind_context();
        if (std::optional<ChangedNodes::Refusal> refusal = changed.push())
            raise_update(refusal->result, refusal->params, std::move(refusal->subject));
        changed.commit();
        for (PendingNode* const node : equal)
            put_in_force(*node);
        races_.commit();
        return true;
    }

  private:
    struct PendingNode {
        NodePlace place;
        Shadow* shadow;
        const NodeParams* next;
        std::vector<ArgumentAccess> declared;
        OwnerVersions owners = {};
    };

    void put_in_force(PendingNode& node) noexcept {
        node.shadow->declared = std::move(node.declared);
        Shadows::assign(*node.shadow, *node.next);
        exec_.commit(*node.shadow, std::move(node.owners));
    }

    ExecState& exec_;
    std::vector<PendingNode> nodes_;
    RaceCheck races_;
};

[[noreturn]] void refuse_differences(const std::vector<Difference>& differences, Subject&& subject) {
    std::string text = "the graph inside it has other nodes or edges than the one given";
    text += list_differences(differences);
    refuse<UpdateError>(text, std::move(subject), cudaErrorGraphExecUpdateFailure);
}

} // namespace

} // namespace detail

void Exec::update(const ChildNode& node, const Graph& graph) {
    const detail::NoWaiting no_waiting; // see Exec::update(const Graph&)
    detail::ExecState& exec = state();
    detail::GraphState& next = detail::Access::state(graph);
    require_root(next, "update");
    const auto lock = next.lock();
    const detail::NodePlace target = exec.node_of(node);
    const auto subject = [&] { return target.subject("update of "); };
    const detail::GraphState& mine = **find_nested(*target.graph, target.index, 0);
    if (const auto differences = detail::diff_structure(mine, next); !differences.empty())
        detail::refuse_differences(differences, subject());
    if (const std::string ignored = detail::silently_ignored(mine, next); !ignored.empty())
        detail::refuse<UpdateError>(ignored + ", which is fixed at instantiation; give it the one that it has, or "
                                              "instantiate the graph",
                                    subject());

    complete_source(exec, mine, next);
    detail::PendingUpdate pending(exec, mine, next);
    pending.require_no_race(subject);
    const bool is_recaptured = mine.construction().recapture != nullptr;
    if (is_recaptured) exec.bound_params().reserve_recapture(mine);
    detail::Shadow& shadow = exec.effective().shadow(target);
    const std::vector<detail::HostNodeRun> hosts = exec.hosts().runs(mine, next);
    detail::Owners kept = owners_of(hosts);
    kept.push_back({0, 0, detail::Access::shared_state(graph)});
    list_owners(next, kept); // a graph moved into another one loses its owners
    detail::OwnerVersions owners = detail::version_of(std::move(kept));
    const detail::WithoutUserObjects as_owned(next);
    // CUDA compares all nodes ever added to both graphs, in number and place. Nodes removed by builders and plans
    // count.
    CUgraphNodeParams params = detail::native_params(CU_GRAPH_NODE_TYPE_GRAPH);
    params.graph.graph = next.native();
    const auto [status, operation, api] = detail::set_native({target.native(), exec.native()}, params);
    if (status == cudaSuccess) {
        pending.commit();
    } else {
        const detail::CallFailure failure = detail::describe_failure(status, operation, subject(), api);
        if (status != cudaErrorGraphExecUpdateFailure || !pending.push_each())
            throw UpdateError(status, failure.text, failure.details);
    }
    if (is_recaptured)
        exec.bound_params().set_recapture(mine, exec.effective().in_basis(mine), next.construction().recapture);
    exec.set_host_runs(hosts); // also in unchanged nodes: the former runs go with their owners
    exec.commit(shadow, std::move(owners));
    exec.disabled_memsets().park_inside(exec, mine);
}

} // namespace cudag
