// A check for uses of graph memory outside its lifetime.
#include "memory_check.hpp"

#include "cuda/failure.hpp"
#include "edges/edge_groups.hpp"
#include "edges/reach.hpp"
#include "edges/topological_order.hpp"
#include "graph/names.hpp"
#include "lists/none.hpp"
#include "memory_uses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

/// The allocations alive between two nodes of a topological order.
class LiveMemory {
  public:
    explicit LiveMemory(const std::vector<GraphAllocation>& all) : all_(all) {}

    void begin(std::uint32_t allocation) {
        const GraphAllocation& memory = all_[allocation];
        bool apart = true;
        for_each_apart(memory.address, memory.bytes, [&](std::uint32_t) { apart = false; });
        if (apart)
            apart_.emplace(memory.address, allocation);
        else
            others_.push_back(allocation);
    }
    void end(std::uint32_t allocation) {
        const auto found = apart_.find(all_[allocation].address);
        if (found != apart_.end() && found->second == allocation)
            apart_.erase(found);
        else
            std::erase(others_, allocation);
    }
    template <class Visit>
    void for_each(std::uintptr_t begin, std::size_t bytes, const Visit& visit) const {
        for_each_apart(begin, bytes, visit);
        for (const std::uint32_t allocation : others_)
            if (all_[allocation].overlaps(begin, bytes)) visit(allocation);
    }

  private:
    template <class Visit>
    void for_each_apart(std::uintptr_t begin, std::size_t bytes, const Visit& visit) const {
        for (auto after = apart_.lower_bound(begin + bytes); after != apart_.begin();) {
            --after;
            if (!all_[after->second].overlaps(begin, bytes)) return;
            visit(after->second);
        }
    }

    const std::vector<GraphAllocation>& all_;
    std::map<std::uintptr_t, std::uint32_t> apart_; ///< by address, without overlap
    std::vector<std::uint32_t> others_;             ///< usually none: CUDA allocates no memory in use
};

/// A use and an allocation it may refer to, since the allocation is alive at the use's place in some order.
struct Candidate {
    std::uint32_t allocation;
    std::uint32_t use;
};

/// One sweep in that order finds the live allocations at each use: usually one, however often memory is reused. One
/// search forward from each alloc node and one back from each free node must then reach the uses. Takes (nodes + edges
/// + uses) * log(allocations), plus the searches: see Reach. At worst, with edges crossing everywhere, these take
/// allocations * edges.
class Check {
  public:
    explicit Check(const GraphState& graph)
        : graph_(graph), outgoing_(graph.records().nodes().size(), graph.edges(), &EdgeRecord::from),
          incoming_(graph.records().nodes().size(), graph.edges(), &EdgeRecord::to), uses_(memory_uses(graph)) {}

    void run() const {
        const std::vector<std::uint32_t> order = topological_order(graph_.edges(), outgoing_);
        std::vector<std::uint32_t> place(order.size());
        for (std::uint32_t i = 0; i < order.size(); ++i)
            place[order[i]] = i;
        Reach forward(graph_.edges(), place, Reach::Along::edges);
        Reach backward(graph_.edges(), place, Reach::Along::against);
        std::vector<bool> placed(uses_.size());
        const std::vector<Candidate> candidates = sorted_candidates(order, placed);

        const auto& memory = graph_.records().allocations().list();
        auto first = candidates.begin();
        for (std::uint32_t i = 0; i < memory.size(); ++i) {
            const auto last =
                std::find_if(first, candidates.end(), [i](const Candidate& c) { return c.allocation != i; });
            const std::span mine(first, last);
            first = last;
            const std::vector<std::uint32_t> after = reached(forward, memory[i].alloc, mine, memory[i].free);
            if (memory[i].alloc && memory[i].free && !contains(after, *memory[i].free)) refuse_free(memory[i]);
            const std::vector<std::uint32_t> before = reached(backward, memory[i].free, mine, std::nullopt);
            for (const Candidate& candidate : mine) {
                const std::uint32_t node = uses_[candidate.use].node;
                if ((!memory[i].alloc || contains(after, node)) && (!memory[i].free || contains(before, node)))
                    placed[candidate.use] = true;
            }
        }
        for (std::size_t use = 0; use < uses_.size(); ++use)
            if (!placed[use]) refuse_use(uses_[use]);
    }

  private:
    /// The candidates, sorted by allocation. Sets `placed` for pointers to the end of memory, which are no uses.
    [[nodiscard]] std::vector<Candidate> sorted_candidates(const std::vector<std::uint32_t>& order,
                                                           std::vector<bool>& placed) const {
        const auto& memory = graph_.records().allocations().list();
        std::vector<std::uint32_t> begins(order.size(), none);
        std::vector<std::uint32_t> ends(order.size(), none);
        LiveMemory live(memory);
        for (std::uint32_t i = 0; i < memory.size(); ++i) {
            if (memory[i].alloc)
                begins[*memory[i].alloc] = i;
            else
                live.begin(i);
            if (memory[i].free) ends[*memory[i].free] = i;
        }
        const auto precedes = [](const MemoryUse& use, std::uint32_t node) { return use.node < node; };
        std::vector<Candidate> found;
        for (const std::uint32_t node : order) {
            if (begins[node] != none) live.begin(begins[node]);
            if (ends[node] != none) live.end(ends[node]);
            const auto first = std::lower_bound(uses_.begin(), uses_.end(), node, precedes);
            const auto last = std::find_if(first, uses_.end(), [&](const MemoryUse& use) { return use.node != node; });
            for (auto use = first; use != last; ++use) {
                const auto number = static_cast<std::uint32_t>(use - uses_.begin());
                if (use->is_pointer && is_end(*use, {first, last}, live))
                    placed[number] = true;
                else
                    live.for_each(use->begin, use->bytes, [&](std::uint32_t allocation) {
                        found.push_back({allocation, number});
                    });
            }
        }
        std::ranges::stable_sort(found, {}, &Candidate::allocation);
        return found;
    }

    /// Whether a pointer is only the end of memory also passed to its node. `uses` are all uses of the node.
    [[nodiscard]] bool is_end(const MemoryUse& pointer, std::span<const MemoryUse> uses, const LiveMemory& live) const {
        bool found = false;
        live.for_each(pointer.begin - 1, 1, [&](std::uint32_t allocation) {
            const GraphAllocation& memory = graph_.records().allocations().list()[allocation];
            if (memory.address + memory.bytes != pointer.begin) return;
            found = found || std::any_of(uses.begin(), uses.end(), [&](const MemoryUse& other) {
                        return other.place == pointer.place && memory.overlaps(other.begin, 1);
                    });
        });
        return found;
    }

    /// The nodes of `candidates`, and `other`, reached by a search from `start`; sorted, and empty without a start.
    [[nodiscard]] std::vector<std::uint32_t> reached(Reach& reach, std::optional<std::uint32_t> start,
                                                     std::span<const Candidate> candidates,
                                                     std::optional<std::uint32_t> other) const {
        std::vector<std::uint32_t> nodes;
        if (!start) return nodes;
        std::vector<Reach::Target> targets;
        for (const Candidate& candidate : candidates)
            targets.push_back({uses_[candidate.use].node});
        if (other) targets.push_back({*other});
        reach.search(*start, targets);
        for (const Reach::Target& target : targets)
            if (target.reached) nodes.push_back(target.node);
        std::sort(nodes.begin(), nodes.end());
        return nodes;
    }
    [[nodiscard]] static bool contains(const std::vector<std::uint32_t>& sorted, std::uint32_t node) {
        return std::binary_search(sorted.begin(), sorted.end(), node);
    }

    /// All nodes on paths from `start`.
    [[nodiscard]] std::vector<bool> all_from(std::uint32_t start, const EdgeGroups& edges,
                                             std::uint32_t EdgeRecord::*next) const {
        std::vector<bool> found(graph_.records().nodes().size());
        std::vector<std::uint32_t> waiting{start};
        while (!waiting.empty()) {
            const std::uint32_t node = waiting.back();
            waiting.pop_back();
            for (std::uint32_t i = edges.first[node]; i < edges.first[node + 1]; ++i) {
                const std::uint32_t other = graph_.edges()[edges.items[i]].*next;
                if (found[other]) continue;
                found[other] = true;
                waiting.push_back(other);
            }
        }
        return found;
    }
    [[nodiscard]] bool comes_after(std::uint32_t node, std::uint32_t other) const {
        return all_from(other, outgoing_, &EdgeRecord::to)[node];
    }

    /// The remedy that puts `later` after `earlier`.
    [[nodiscard]] std::string remedy(std::uint32_t later, std::uint32_t earlier) const {
        if (comes_after(earlier, later)) return "reverse the order of the two";
        return fmt::format("let {} come .after({})", describe_node(graph_, later), describe_node(graph_, earlier));
    }

    [[nodiscard]] std::string label(std::uint32_t node) const {
        return std::string(graph_.records().nodes()[node].label);
    }

    [[noreturn]] void refuse_free(const GraphAllocation& memory) const {
        Subject subject = node_subject(graph_, *memory.free, "build: ");
        subject.labels.push_back(label(*memory.alloc));
        refuse(fmt::format("it frees the memory of {}, and is not ordered after it; {}",
                           describe_node(graph_, *memory.alloc), remedy(*memory.free, *memory.alloc)),
               std::move(subject));
    }

    [[noreturn]] void refuse_use(const MemoryUse& use) const {
        // if memory is reused, the last allocation before the use was meant
        const std::vector<bool> before = all_from(use.node, incoming_, &EdgeRecord::from);
        const GraphAllocation* meant = nullptr;
        for (const GraphAllocation& memory : graph_.records().allocations().list())
            if (memory.overlaps(use.begin, use.bytes) && (meant == nullptr || !memory.alloc || before[*memory.alloc]))
                meant = &memory;
        Subject subject = use.place.subject("build: ");
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
