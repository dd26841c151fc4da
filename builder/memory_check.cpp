// Whether every path puts the users of graph memory where it exists.
#include "memory_check.hpp"

#include "edge_groups.hpp"
#include "failure.hpp"
#include "memory_uses.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

class Check {
  public:
    explicit Check(const GraphState& graph)
        : graph_(graph), outgoing_(graph.nodes().size(), graph.edges(), &EdgeRecord::from),
          incoming_(graph.nodes().size(), graph.edges(), &EdgeRecord::to), uses_(memory_uses(graph)) {}

    void run() const {
        const auto& memory = graph_.allocations();
        std::vector<bool> placed(uses_.size());
        for (std::uint32_t i = 0; i < memory.size(); ++i) {
            const std::vector<bool> after = reached_from(memory[i].alloc, outgoing_, &EdgeRecord::to);
            const std::vector<bool> before = reached_from(memory[i].free, incoming_, &EdgeRecord::from);
            if (memory[i].alloc && memory[i].free && !after[*memory[i].free]) refuse_free(memory[i]);
            for (std::size_t use = 0; use < uses_.size(); ++use)
                for (const std::uint32_t candidate : uses_[use].allocations)
                    if (candidate == i && after[uses_[use].node] && before[uses_[use].node]) placed[use] = true;
        }
        for (std::size_t use = 0; use < uses_.size(); ++use)
            if (!placed[use]) refuse_use(uses_[use]);
    }

  private:
    /// The nodes on paths from `start`; all of them if there is no such node.
    [[nodiscard]] std::vector<bool> reached_from(std::optional<std::uint32_t> start, const EdgeGroups& edges,
                                                 std::uint32_t EdgeRecord::*next) const {
        std::vector<bool> reached(graph_.nodes().size(), !start);
        if (!start) return reached;
        std::vector<std::uint32_t> waiting{*start};
        while (!waiting.empty()) {
            const std::uint32_t node = waiting.back();
            waiting.pop_back();
            for (std::uint32_t i = edges.first[node]; i < edges.first[node + 1]; ++i) {
                const std::uint32_t other = graph_.edges()[edges.items[i]].*next;
                if (reached[other]) continue;
                reached[other] = true;
                waiting.push_back(other);
            }
        }
        return reached;
    }
    [[nodiscard]] bool comes_after(std::uint32_t node, std::uint32_t other) const {
        return reached_from(other, outgoing_, &EdgeRecord::to)[node];
    }

    /// What to do so that `later` comes after `earlier`.
    [[nodiscard]] std::string remedy(std::uint32_t later, std::uint32_t earlier) const {
        if (comes_after(earlier, later)) return "reverse the order of the two";
        return fmt::format("let {} come .after({})", describe_node(graph_, later), describe_node(graph_, earlier));
    }

    [[nodiscard]] std::string label(std::uint32_t node) const { return std::string(graph_.nodes()[node].label); }

    [[noreturn]] void refuse_free(const GraphAllocation& memory) const {
        Subject subject = node_subject(graph_, *memory.free, "build: ");
        subject.labels.push_back(label(*memory.alloc));
        refuse(fmt::format("it frees the memory of {}, and is not ordered after it; {}",
                           describe_node(graph_, *memory.alloc), remedy(*memory.free, *memory.alloc)),
               std::move(subject));
    }

    [[noreturn]] void refuse_use(const MemoryUse& use) const {
        // where memory is reused, the allocation that comes last before the use is the one that was meant
        const GraphAllocation* meant = &graph_.allocations()[use.allocations.front()];
        for (const std::uint32_t i : use.allocations) {
            const GraphAllocation& candidate = graph_.allocations()[i];
            if (!candidate.alloc || comes_after(use.node, *candidate.alloc)) meant = &candidate;
        }
        Subject subject = node_subject(*use.graph, use.index, "build: ");
        std::string owner = "memory of another graph";
        if (meant->alloc) {
            owner = "the memory of " + describe_node(graph_, *meant->alloc);
            subject.labels.push_back(label(*meant->alloc));
            if (!comes_after(use.node, *meant->alloc))
                refuse(
                    fmt::format("it uses {}, and is not ordered after it; {}", owner, remedy(use.node, *meant->alloc)),
                    std::move(subject));
        }
        subject.labels.push_back(label(*meant->free));
        refuse(fmt::format("it uses {}, and is not ordered before {}; {}", owner, describe_node(graph_, *meant->free),
                           remedy(*meant->free, use.node)),
               std::move(subject));
    }

    const GraphState& graph_;
    EdgeGroups outgoing_;
    EdgeGroups incoming_;
    std::vector<MemoryUse> uses_;
};

} // namespace

void check_graph_memory(const GraphState& graph) {
    Check(graph).run();
}

} // namespace cudag::detail
