// Inference of edges from memory accesses, in the order of addition.
#include "inference.hpp"

#include "edges/edge_groups.hpp"
#include "edges/topological_order.hpp"
#include "lists/assertion.hpp"
#include "lists/none.hpp"
#include "needed_order.hpp"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

namespace cudag::detail {

namespace {

class Inference {
  public:
    Inference(const AccessList& accesses, std::size_t nodes, const std::vector<EdgeRecord>& edges,
              const InferenceRules& rules)
        : accesses_(accesses), nodes_(static_cast<std::uint32_t>(nodes)), edges_(edges), rules_(rules),
          needed_(accesses, nodes), incoming_(nodes, edges, &EdgeRecord::to) {}

    InferredOrder run() {
        find_needed();
        has_next_.resize(nodes_);
        last_ = 0;
        for (std::uint32_t node = 0; node < nodes_; ++node)
            if (takes_part(node)) add_edges(node);
        return std::move(order_);
    }

  private:
    /// A list with many successors.
    struct Shared {
        std::uint32_t uses = 0;  ///< number of dependent nodes, except those with left out edges
        std::uint32_t first = 0; ///< the lowest number in it
        std::uint32_t last = 0;
        std::uint32_t user = none; ///< the last node counted
        std::uint32_t join = none;
    };

    [[nodiscard]] bool keeps_place(std::uint32_t node) const {
        return !rules_.keeps_place.empty() && rules_.keeps_place[node];
    }
    [[nodiscard]] bool takes_part(std::uint32_t node) const {
        return rules_.left_out.empty() || !rules_.left_out[node];
    }
    [[nodiscard]] bool is_long(std::uint32_t list) const { return needed_.length(list) >= rules_.joins_from; }
    /// Whether a join, if there is one, can order the list before `node`.
    [[nodiscard]] bool may_join(const Shared& shared, std::uint32_t node) const {
        return shared.last < node && shared.first >= last_ && (rules_.has_early.empty() || !rules_.has_early[node]);
    }
    /// Records the last node before the current one that keeps its place: predecessors of that node precede the current
    /// one, too.
    void pass(std::uint32_t node) {
        if (keeps_place(node)) last_ = node;
    }

    void find_needed() {
        first_.reserve(nodes_ + std::size_t{1});
        first_.push_back(0);
        for (std::uint32_t node = 0; node < nodes_; ++node) {
            const std::span<const NeededOrder::After> afters = needed_.take(node);
            afters_.insert(afters_.end(), afters.begin(), afters.end());
            first_.push_back(afters_.size());
            for (const NeededOrder::After& after : afters)
                if (is_long(after.list)) note_use(after.list, node);
            pass(node);
        }
    }
    void note_use(std::uint32_t list, std::uint32_t node) {
        const auto [known, is_new] = shared_.try_emplace(list);
        Shared& shared = known->second;
        if (is_new) {
            shared.first = none;
            needed_.for_each_node(list, [&](std::uint32_t other) {
                shared.first = std::min(shared.first, other);
                shared.last = std::max(shared.last, other);
            });
        }
        if (may_join(shared, node) && std::exchange(shared.user, node) != node) ++shared.uses;
    }

    void add_edges(std::uint32_t node) {
        needed_.look_at(node);
        bool follows_last = false; // by an edge from the last node that keeps its place, or from a later one
        for (std::uint32_t i = incoming_.first[node]; i < incoming_.first[node + 1]; ++i) {
            const EdgeRecord& edge = edges_[incoming_.items[i]];
            needed_.leave_out(edge.from);
            if (edge.kind == EdgeKind::full) note_edge(edge.from, follows_last);
        }
        conflicts_.clear();
        sources_.clear();
        for (std::size_t i = first_[node]; i < first_[node + 1]; ++i)
            if (const std::uint32_t join = join_for(afters_[i].list, node); join == none)
                needed_.add_conflicts(afters_[i], conflicts_);
            else if (std::exchange(joined_by_[join - nodes_], node) != node)
                sources_.push_back(join);
        follows_last = follows_last || !sources_.empty();
        for (const Conflict& conflict : conflicts_)
            if (const std::uint32_t from = accesses_.node_of(conflict.first); from >= last_) {
                note_edge(from, follows_last);
                sources_.push_back(from);
            }
        if (keeps_place(node))
            add_place_of(node);
        else if (!follows_last && last_ < node && keeps_place(last_) && !has_written_edge(last_, node))
            note_edge(last_, follows_last), sources_.push_back(last_);
        std::ranges::sort(sources_);
        for (const std::uint32_t from : sources_)
            order_.edges.push_back({from, node});
        pass(node);
    }
    void note_edge(std::uint32_t from, bool& follows_last) {
        has_next_[from] = true;
        follows_last = follows_last || from >= last_;
    }

    /// Orders a node that keeps its place after all nodes before it: edges from those without successors suffice.
    void add_place_of(std::uint32_t node) {
        for (std::uint32_t other = last_; other < node; ++other)
            if (takes_part(other) && !has_next_[other] && !has_written_edge(other, node)) {
                has_next_[other] = true;
                sources_.push_back(other);
            }
    }
    [[nodiscard]] bool has_written_edge(std::uint32_t from, std::uint32_t node) const {
        for (std::uint32_t i = incoming_.first[node]; i < incoming_.first[node + 1]; ++i)
            if (edges_[incoming_.items[i]].from == from) return true;
        return false;
    }

    /// The join after a list, made for the first node that needs it; `none` if there is to be no join.
    [[nodiscard]] std::uint32_t join_for(std::uint32_t list, std::uint32_t node) {
        if (!is_long(list)) return none;
        Shared& shared = shared_.find(list)->second;
        if (shared.uses < rules_.joins_from || !may_join(shared, node)) return none;
        if (shared.join != none) return shared.join;
        shared.join = nodes_ + static_cast<std::uint32_t>(order_.joins.size());
        order_.joins.push_back(node);
        joined_by_.push_back(none);
        std::vector<std::uint32_t> members;
        needed_.for_each_node(list, [&](std::uint32_t other) { members.push_back(other); });
        std::ranges::sort(members);
        members.erase(std::unique(members.begin(), members.end()), members.end());
        for (const std::uint32_t member : members) {
            has_next_[member] = true;
            order_.edges.push_back({member, shared.join});
        }
        return shared.join;
    }

    const AccessList& accesses_;
    std::uint32_t nodes_;
    const std::vector<EdgeRecord>& edges_;
    const InferenceRules& rules_;
    NeededOrder needed_;
    EdgeGroups incoming_;
    std::vector<NeededOrder::After> afters_; ///< of all nodes
    std::vector<std::size_t> first_;         ///< by node: its first entry in `afters_`
    std::unordered_map<std::uint32_t, Shared> shared_;
    std::uint32_t last_ = 0;     ///< the last node so far that keeps its place; the first node if there is none
    std::vector<bool> has_next_; ///< by node: whether it has a full edge to a node up to the next one that keeps its
                                 ///< place
    std::vector<std::uint32_t> joined_by_; ///< by join: the last node with an edge from it
    std::vector<Conflict> conflicts_;      ///< of one node
    std::vector<std::uint32_t> sources_;   ///< of one node
    InferredOrder order_;
};

} // namespace

InferredOrder inferred_order(const AccessList& accesses, std::size_t nodes, const std::vector<EdgeRecord>& edges,
                             const InferenceRules& rules) {
    CUDAG_ASSERT(are_forward(edges));
    InferredOrder order = Inference(accesses, nodes, edges, rules).run();
    if (!std::ranges::is_sorted(order.edges, edge_precedes)) std::ranges::sort(order.edges, edge_precedes);
    return order;
}

} // namespace cudag::detail
