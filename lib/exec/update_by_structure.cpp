// Updates of an exec by graphs with another order of nodes.
#include "update_by_structure.hpp"

#include "changed_nodes.hpp"
#include "compare/condition_pairs.hpp"
#include "compare/match_tree.hpp"
#include "compare/unpaired.hpp"
#include "complete_kernels.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "exec_declarations.hpp"
#include "exec_in_force.hpp"
#include "exec_nodes.hpp"
#include "graph/in_force.hpp"
#include "update_graph.hpp"
#include "update_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace cudag::detail {

namespace {

/// Conditions are equal only if their handles are: a node takes a handle's number from another graph, and an exec keeps
/// its conditions.
class KeptConditions : public ConditionPairs {
  public:
    KeptConditions(const GraphState& before, const GraphState& after) : ConditionPairs(before, after, true) {}
    [[nodiscard]] bool same(cudaGraphConditionalHandle before, cudaGraphConditionalHandle after) const override {
        return before == after;
    }
    [[nodiscard]] bool compares_initial() const noexcept override { return true; }
    /// Unknown values may differ.
    [[nodiscard]] std::string initial_before(cudaGraphConditionalHandle handle) const override {
        return or_unknown(ConditionPairs::initial_before(handle), "unknown before");
    }
    [[nodiscard]] std::string initial_after(cudaGraphConditionalHandle handle) const override {
        return or_unknown(ConditionPairs::initial_after(handle), "unknown");
    }

  private:
    static std::string or_unknown(std::string initial, const char* unknown) {
        return initial.empty() ? unknown : std::move(initial);
    }
};

void* address_of(const NodeParams& params) noexcept {
    if (const auto* const* alloc = std::get_if<const AllocParams*>(&params)) return (*alloc)->address;
    const auto* const* free = std::get_if<const FreeParams*>(&params);
    return free != nullptr ? (*free)->address : nullptr;
}

UpdateVerdict verdict_of(DifferenceKind kind) noexcept {
    switch (kind) {
    case DifferenceKind::node:
    case DifferenceKind::edge:
        return UpdateVerdict::topology_changed;
    case DifferenceKind::node_kind:
        return UpdateVerdict::node_kind_changed;
    case DifferenceKind::function:
        return UpdateVerdict::function_changed;
    case DifferenceKind::parameter:
        return UpdateVerdict::parameters_changed;
    case DifferenceKind::attribute:
        return UpdateVerdict::attributes_changed;
    }
    return UpdateVerdict::refused;
}

class StructureUpdate {
  public:
    StructureUpdate(ExecState& exec, const std::shared_ptr<GraphState>& graph)
        : exec_(exec), graph_(graph), conditions_(exec.source(), *graph) {}

    /// Returns nothing if CUDA may take the whole graph.
    [[nodiscard]] std::optional<UpdateReport> run() {
        const Matcher loose(before_.graph(), after_.graph());
        const bool is_in_order = loose.is_in_order();
        if (is_in_order) {
            partner_.resize(before_.size());
            std::iota(partner_.begin(), partner_.end(), 0U);
            if (can_push()) return push();
        }
        const MatchGraph fixed_before = before_.with_fixed();
        const MatchGraph fixed_after = after_.with_fixed();
        Matching matching = Matcher(fixed_before, fixed_after).find();
        if (matching.is_refuted() && !is_in_order) matching = loose.find(); // they may differ in fixed fields alone
        const bool is_found = matching.result == Matching::Result::found;
        if (is_found) {
            partner_ = std::move(matching.partner);
            if (can_push()) return push();
        }
        if (is_in_order) return std::nullopt;
        if (!is_found && are_in_order_but_for_kernels())
            return std::nullopt; // a whole update may change a node's kernel
        if (!is_found) return not_paired(matching);
        return refused(differences(), "some changes cannot be made node by node, and the nodes are in another order "
                                      "than CUDA needs for a whole update");
    }

  private:
    /// A node that takes parameters. A kernel takes shape and arguments only: its other parameters stay right, and must
    /// not end with the other graph.
    struct Change {
        NodePlace place;
        const NodeParams* next;
        Owners owners;
        std::vector<ArgumentAccess> declared;
        KernelParams kernel = {};
        LaunchConfig attributes = {};
        NodeParams merged = {};
    };

    /// A node with unchanged parameters, but other declared accesses.
    struct Redeclared {
        NodePlace place;
        std::vector<ArgumentAccess> declared;
    };

    /// The differences between a node and its partner.
    struct Unequal {
        NodePlace mine;
        NodePlace next;
        std::vector<FieldDifference> fields;
    };

    /// Whether the nodes have the same kinds and edges in the same order, regardless of their kernels.
    [[nodiscard]] bool are_in_order_but_for_kernels() const {
        const MatchGraph before = before_.with_kinds(), after = after_.with_kinds();
        return Matcher(before, after).is_in_order();
    }

    /// Compares the pairs. False if a change is impossible in updates of single nodes.
    [[nodiscard]] bool can_push() {
        unequal_.clear();
        changes_.clear();
        redeclared_.clear();
        kept_.clear();
        bool can = true;
        for (std::uint32_t i = 0; i < partner_.size(); ++i)
            can = compare(before_.place(i), after_.place(partner_[i])) && can;
        return can;
    }

    [[nodiscard]] bool compare(const NodePlace& mine, const NodePlace& next) {
        const NodeParams& current = exec_.effective().of(mine);
        const NodeParams& wanted = next.graph->records().params(next.index);
        const UpdatedNode* const updated = next.graph->records().updated().find(next.index);
        const NodeKind kind = mine.record().kind;
        std::vector<FieldDifference> fields =
            diff_params(complete_before_.params(mine), complete_after_.params(next), conditions_);
        if (address_of(current) != address_of(wanted))
            fields.push_back({DifferenceKind::parameter, "address of graph memory", fmt::to_string(address_of(current)),
                              fmt::to_string(address_of(wanted)), ChangedBy::instantiate});
        if (is_unknown(kind, wanted))
            fields.push_back(
                {DifferenceKind::parameter, "parameters", "not known", "not known", ChangedBy::instantiate});
        if (fields.empty()) {
            if (updated != nullptr) kept_.append(updated->owners.begin(), updated->owners.end());
            if (!declares_as(exec_, mine, *next.graph, next.index, declared_))
                redeclared_.push_back({mine, all_declared(*next.graph, next.index)});
            return true;
        }
        const bool can = std::ranges::none_of(fields, &FieldDifference::is_fixed_in_node);
        if (can) add_change(mine, current, next, updated != nullptr ? updated->owners : Owners());
        unequal_.push_back({mine, next, std::move(fields)});
        return can;
    }

    /// Lists the differences, impossible changes and those of `first` at the beginning.
    [[nodiscard]] std::vector<Difference> differences(const NodePlace& first = {}) {
        std::vector<Difference> list;
        for (Unequal& node : unequal_)
            for (FieldDifference& field : node.fields)
                list.push_back({field.kind, node.mine.graph->identity().handle(node.mine.index),
                                node.next.graph->identity().handle(node.next.index), node.mine.describe(),
                                std::move(field.field), std::move(field.before), std::move(field.after),
                                field.is_fixed_in_node()});
        const Node culprit = first ? first.graph->identity().handle(first.index) : Node();
        std::stable_partition(list.begin(), list.end(), [&](const Difference& difference) {
            return difference.needs_instantiate || difference.before == culprit;
        });
        return list;
    }

    void add_change(const NodePlace& mine, const NodeParams& current, const NodePlace& next, const Owners& owners) {
        const NodeParams& wanted = next.graph->records().params(next.index);
        Change& change = changes_.emplace_back(Change{mine, &wanted, owners, all_declared(*next.graph, next.index)});
        const auto* const* kernel = std::get_if<const KernelParams*>(&wanted);
        if (kernel == nullptr) return;
        change.kernel = *std::get<const KernelParams*>(current);
        change.kernel.shape = (*kernel)->shape;
        change.kernel.values = (*kernel)->values;
        if (change.kernel.attributes != nullptr) {
            change.attributes = *change.kernel.attributes;
            change.kernel.attributes = &change.attributes;
        }
        change.merged = &change.kernel;
        change.next = &change.merged;
    }

    [[nodiscard]] UpdateReport push() {
        ChangedNodes changed(exec_, changes_.size(), "update of ");
        for (Change& change : changes_)
            changed.add(change.place, *change.next,
                        change.owners.empty() ? OwnerVersions() : version_of(std::move(change.owners)),
                        std::move(change.declared));
        const bool is_own = exec_.is_of(*graph_);
        if (!is_own) {
            kept_.push_back({0, 0, graph_});
            list_owners(*graph_, kept_); // a graph moved into another one loses its owners
        }
        OwnerVersions kept = kept_.empty() ? OwnerVersions() : version_of(std::move(kept_));
        for (Redeclared& node : redeclared_)
            changed.add_declared(node.place, std::move(node.declared));
        bind_context();
        if (std::optional<ChangedNodes::Refusal> refusal = changed.push()) return refused(std::move(*refusal));
        changed.commit();
        exec_.races().forget();
        exec_.owners().keep_matched(std::move(kept), exec_.in_flight());
        exec_.set_changed();
        if (is_own) exec_.set_seen(graph_->changes().version());
        return UpdateReport(Passkey());
    }

    /// Reports a refusal, with the verdict of the first difference.
    [[nodiscard]] static UpdateReport refused(std::vector<Difference>&& differences, const char* reason) {
        const UpdateVerdict verdict =
            differences.empty() ? UpdateVerdict::topology_changed : verdict_of(differences.front().kind);
        return {Passkey(), verdict, reason, std::move(differences), true};
    }
    /// Reports CUDA's refusal in its own words. Throws UpdateError if the cause is outside the graph.
    [[nodiscard]] UpdateReport refused(ChangedNodes::Refusal&& refusal) {
        const cudaError_t status = refusal.result.status;
        if (status != cudaErrorInvalidValue && status != cudaErrorNotSupported &&
            status != cudaErrorGraphExecUpdateFailure)
            raise_update(refusal.result, refusal.params, std::move(refusal.subject));
        std::string reason = "CUDA refused the " + refusal.subject.text;
        const CallFailure failure =
            describe_failure(status, refusal.result.operation, std::move(refusal.subject), refusal.result.api);
        if (!failure.details.log.empty()) reason += fmt::format("; CUDA's log: {}", failure.details.log);
        return {Passkey(), UpdateVerdict::refused, std::move(reason), differences(refusal.place), true};
    }
    [[nodiscard]] UpdateReport not_paired(const Matching& matching) const {
        if (matching.result == Matching::Result::gave_up)
            return {Passkey(),
                    UpdateVerdict::refused,
                    fmt::format("no pairing of the nodes was found by looking at each node and edge {} times, and {} "
                                "times more: too many nodes look alike; give them labels, or make them in the same "
                                "order",
                                Matcher::steps_of_an_edge, Matcher::more_steps),
                    {},
                    true};
        return refused(describe_unpaired(before_, after_, matching),
                       "in every order the nodes or edges differ from those of the exec");
    }

    ExecState& exec_;
    const std::shared_ptr<GraphState>& graph_;
    const KeptConditions conditions_;
    const ExecInForce in_force_{exec_};
    const CompleteKernels complete_before_{in_force_};
    const CompleteKernels complete_after_{graph_in_force};
    LabelNumbers labels_;
    const MatchTree before_{exec_.source(), complete_before_, labels_};
    const MatchTree after_{*graph_, complete_after_, labels_};
    std::vector<std::uint32_t> partner_; ///< of each node of the exec
    std::vector<Unequal> unequal_;
    std::deque<Change> changes_; ///< they point into themselves
    std::vector<Redeclared> redeclared_;
    std::vector<ArgumentAccess> declared_; ///< of one node; spares allocations
    Owners kept_;                          ///< of unchanged nodes
};

/// Whether two nodes agree in all that decides about partners, apart from edges. Attributes of captured kernels do not:
/// they cost CUDA a call each, and graphs in the same order are paired in order.
bool are_alike(const NodeParams& current, const NodeRecord& mine, const NodeRecord& next) {
    const bool is_same = mine.kind == next.kind && mine.device == next.device &&
                         std::string_view(mine.label) == next.label && current.index() == next.params.index();
    if (!is_same) return false;
    if (const auto* const* kernel = std::get_if<const KernelParams*>(&current)) {
        const auto& other = *std::get<const KernelParams*>(next.params);
        return (*kernel)->function == other.function && (*kernel)->attributes == nullptr && other.attributes == nullptr;
    }
    if (const auto* const* copy = std::get_if<const CopyParams*>(&current))
        return (*copy)->kind == std::get<const CopyParams*>(next.params)->kind;
    if (const auto* const* set = std::get_if<const SetParams*>(&current))
        return (*set)->height == 1 && std::get<const SetParams*>(next.params)->height == 1;
    return mine.kind == NodeKind::empty;
}

/// Whether `graph` is a captured one whose nodes are those of the exec in the same order: CUDA can take it as a whole.
/// Compares kernels, copies and fills only. Requires the graph's lock.
bool is_captured_in_order(const ExecState& exec, const GraphState& graph) {
    const GraphState& source = exec.source();
    if (!graph.records().special().read || exec.is_of(graph) || graph.changes().version() != 0) return false;
    const std::vector<NodeRecord>& nodes = source.records().nodes();
    const std::vector<NodeRecord>& next = graph.records().nodes();
    if (nodes.size() != next.size() || !source.nested().empty() || !graph.nested().empty()) return false;
    for (std::uint32_t i = 0; i < nodes.size(); ++i)
        if (!are_alike(exec.effective().of({&source, i}), nodes[i], next[i])) return false;
    return source.edges() == graph.edges();
}

} // namespace

UpdateReport update_by_structure(ExecState& exec, const std::shared_ptr<GraphState>& graph,
                                 const UpdateOptions& options) {
    bool is_in_order = false;
    {
        const auto lock = graph->lock();
        is_in_order = is_captured_in_order(exec, *graph);
    }
    if (is_in_order)
        if (UpdateReport report = update_whole(exec, graph, options, Compared::if_refused); report.updated())
            return report;
    {
        const auto lock = graph->lock();
        if (std::string reason = about_device_updatable(exec.source(), *graph); !reason.empty())
            return {Passkey(), UpdateVerdict::not_supported, std::move(reason), {}, true};
        if (std::optional<UpdateReport> report = StructureUpdate(exec, graph).run()) return std::move(*report);
    }
    return update_whole(exec, graph);
}

} // namespace cudag::detail
