// A check for uses of graph memory outside its lifetime.
#include "memory_check.hpp"

#include "accesses/access_list.hpp"
#include "accesses/address_ranges.hpp"
#include "accesses/conflicts.hpp"
#include "cuda/failure.hpp"
#include "edges/precedence.hpp"
#include "edges/topological_order.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "graph/names.hpp"
#include "graph/node_place.hpp"
#include "lists/none.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

/// An address inside graph memory passed to a node: of one allocation, or of several if CUDA reuses the memory.
struct MemoryUse {
    std::uint32_t node; ///< of the checked graph
    NodePlace place;    ///< the node with the address: `node`, or one inside it
    std::uintptr_t begin;
    std::size_t bytes;
    bool is_pointer;     ///< only the first byte is known
    bool is_end = false; ///< a pointer to the end of memory also passed to the node: no use
};

/// A search by the rules of races: alloc and free nodes write their memory, other nodes read it. Takes as long as
/// find_races for a correct graph. Suspect nodes are checked again, with queries of Precedence for each of their uses.
///
/// The uses are the operands of copies and fills, and a kernel's pointer and span arguments. A pointer counts by its
/// first byte; in a recorded kernel, every parameter of a pointer's size counts.
class Check {
  public:
    explicit Check(const GraphState& graph)
        : graph_(graph), memory_(records_of(graph).allocations().list()), begun_by_(records_of(graph).nodes().size()),
          ended_by_(begun_by_.size()), is_suspect_(begun_by_.size()),
          order_(topological_order(edges_of(graph), EdgeGroups(begun_by_.size(), edges_of(graph), &EdgeRecord::from))),
          place_(places_in(order_)), precedence_(edges_of(graph), order_, place_) {}

    void run() {
        collect_all();
        find_suspects();
        for (const GraphAllocation& memory : memory_)
            if (memory.alloc && memory.free && is_suspect(memory) && !comes_after(*memory.free, *memory.alloc))
                refuse_free(memory);
        for (const MemoryUse& use : uses_)
            if (is_suspect_[use.node] && !is_in_lifetime(use)) refuse_use(use);
    }

  private:
    /// The memory of an alloc or free node; null for a use.
    struct Event {
        const GraphAllocation* memory = nullptr;
        bool frees = false;
    };

    /// Collects the uses by node. The search follows a topological order, with the live memory at each node.
    void collect_all() {
        std::vector<AddressRange> ranges;
        for (const GraphAllocation& memory : memory_) {
            ranges.push_back({memory.address, memory.address + memory.bytes});
            if (memory.alloc)
                begun_by_[*memory.alloc] = &memory;
            else
                live_.emplace(memory.address + memory.bytes, &memory);
            if (memory.free) ended_by_[*memory.free] = &memory;
        }
        const AddressRanges all(std::move(ranges));
        for (const std::uint32_t node : order_) {
            if (const GraphAllocation* const begun = begun_by_[node])
                live_.emplace(begun->address + begun->bytes, begun);
            if (const GraphAllocation* const ended = ended_by_[node])
                live_.erase({ended->address + ended->bytes, ended});
            collect(node, {&graph_, node}, all);
        }
        std::erase_if(uses_, [](const MemoryUse& use) { return use.is_end; });
        std::ranges::stable_sort(uses_, {}, &MemoryUse::node);
    }
    void collect(std::uint32_t node, const NodePlace& place, const AddressRanges& all) {
        const std::size_t first = uses_.size();
        for_each_access(records_of(*place.graph).params(place.index), [&](const UsedRange& used) {
            const std::size_t bytes = std::max<std::size_t>(used.bytes, 1);
            if (!all.are_apart_from({used.begin, used.begin + bytes}))
                uses_.push_back({node, place, used.begin, bytes, used.bytes == 0});
        });
        const std::span mine = std::span(uses_).subspan(first);
        for (MemoryUse& use : mine)
            use.is_end = use.is_pointer && is_end(use.begin, mine);
        for (const auto& inner : nested_in(*place.graph, place.index))
            for (std::uint32_t i = 0; i < records_of(*inner).nodes().size(); ++i)
                collect(node, {inner.get(), i}, all);
    }
    /// Whether live memory ends at `address` that one of `uses` begins in.
    [[nodiscard]] bool is_end(std::uintptr_t address, std::span<const MemoryUse> uses) const {
        for (auto live = live_.lower_bound({address, nullptr}); live != live_.end() && live->first == address; ++live)
            if (std::ranges::any_of(uses, [&](const MemoryUse& use) { return live->second->contains(use.begin); }))
                return true;
        return false;
    }

    /// Marks suspect nodes. Each use of any other node comes after the alloc node of its memory and before the free
    /// node.
    void find_suspects() {
        AccessList accesses;
        std::vector<Event> events;
        const auto write = [&](std::uint32_t node, const GraphAllocation* memory, bool frees) {
            if (memory == nullptr) return;
            accesses.add({node, AccessMode::write, {memory->address, memory->bytes}});
            events.push_back({memory, frees});
        };
        std::vector<std::uintptr_t> ends; // where memory begins or ends
        for (const GraphAllocation& memory : memory_)
            ends.insert(ends.end(), {memory.address, memory.address + memory.bytes});
        std::ranges::sort(ends);
        const auto block_of_use = [&](const MemoryUse& use) { // up to the next ends: few blocks differ
            const auto before = std::ranges::upper_bound(ends, use.begin);
            const auto after = std::ranges::lower_bound(ends, use.begin + use.bytes);
            const std::uintptr_t begin = before == ends.begin() ? use.begin : *std::prev(before);
            return MemoryBlock{begin, (after == ends.end() ? use.begin + use.bytes : *after) - begin};
        };
        for (std::uint32_t node = 0, use = 0; node < begun_by_.size(); ++node) {
            write(node, begun_by_[node], false);
            write(node, ended_by_[node], true);
            for (; use < uses_.size() && uses_[use].node == node; ++use)
                accesses.add({node, AccessMode::read, block_of_use(uses_[use])});
            events.resize(accesses.size());
        }
        std::uint32_t node = none;
        std::vector<std::uint32_t> before; // nodes that must precede `node`
        const auto check = [&] {
            if (before.empty()) return;
            precedence_.remove_ordered(node, before);
            for (const std::uint32_t other : before)
                is_suspect_[node] = is_suspect_[other] = true;
            before.clear();
        };
        for (const auto& [first, second] : needed_order(accesses, place_)) {
            const Event& one = events[first];
            const Event& other = events[second];
            if (one.frees && other.memory != nullptr && !other.frees && one.memory != other.memory) continue; // reused
            const std::uint32_t from = accesses.node_of(first);
            if (node != accesses.node_of(second)) {
                check();
                node = accesses.node_of(second);
            }
            if (one.memory != nullptr && other.memory != nullptr && one.memory != other.memory)
                is_suspect_.assign(is_suspect_.size(), true); // allocations overlap
            else if (one.frees || (other.memory != nullptr && !other.frees))
                is_suspect_[from] = is_suspect_[node] = true;
            else
                before.push_back(from);
        }
        check();
    }

    /// Also of memory whose free node stands before its alloc node, where other memory at its address hides the two.
    [[nodiscard]] bool is_suspect(const GraphAllocation& memory) const {
        return is_suspect_[*memory.alloc] || is_suspect_[*memory.free] || place_[*memory.free] < place_[*memory.alloc];
    }
    [[nodiscard]] bool is_in_lifetime(const MemoryUse& use) {
        return std::ranges::any_of(memory_, [&](const GraphAllocation& memory) {
            return memory.overlaps(use.begin, use.bytes) && (!memory.alloc || comes_after(use.node, *memory.alloc)) &&
                   (!memory.free || comes_after(*memory.free, use.node));
        });
    }
    [[nodiscard]] bool comes_after(std::uint32_t node, std::uint32_t other) {
        if (place_[node] <= place_[other]) return false;
        std::vector<std::uint32_t> unordered{other};
        precedence_.remove_ordered(node, unordered);
        return unordered.empty();
    }

    /// The remedy that puts `later` after `earlier`.
    [[nodiscard]] std::string remedy(std::uint32_t later, std::uint32_t earlier) {
        if (comes_after(earlier, later)) return "reverse the order of the two";
        return fmt::format("let {} come .after({})", describe_node(graph_, later), describe_node(graph_, earlier));
    }

    [[nodiscard]] std::string label(std::uint32_t node) const {
        return std::string(records_of(graph_).nodes()[node].label);
    }

    [[noreturn]] void refuse_free(const GraphAllocation& memory) {
        Subject subject = node_subject(graph_, *memory.free, "build: ");
        subject.labels.push_back(label(*memory.alloc));
        refuse(fmt::format("it frees the memory of {}, and is not ordered after it; {}",
                           describe_node(graph_, *memory.alloc), remedy(*memory.free, *memory.alloc)),
               std::move(subject));
    }

    [[noreturn]] void refuse_use(const MemoryUse& use) {
        // if memory is reused, the last allocation before the use was meant
        const GraphAllocation* meant = nullptr;
        for (const GraphAllocation& memory : memory_)
            if (memory.overlaps(use.begin, use.bytes) &&
                (meant == nullptr || !memory.alloc || comes_after(use.node, *memory.alloc)))
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
    const std::vector<GraphAllocation>& memory_;
    std::vector<const GraphAllocation*> begun_by_; ///< by node: the memory that it allocates
    std::vector<const GraphAllocation*> ended_by_; ///< by node: the memory that it frees
    std::vector<bool> is_suspect_;                 ///< by node
    std::vector<std::uint32_t> order_;
    std::vector<std::uint32_t> place_;
    Precedence precedence_;
    std::set<std::pair<std::uintptr_t, const GraphAllocation*>> live_; ///< by the end, while uses are collected
    std::vector<MemoryUse> uses_;                                      ///< by node
};

} // namespace

void check_graph_memory(const GraphState& graph) {
    Check(graph).run();
}

} // namespace cudag::detail
