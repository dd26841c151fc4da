// A search for graph memory among the addresses passed to nodes.
#include "memory_uses.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace cudag::detail {

namespace {

struct Range {
    std::uintptr_t begin;
    std::size_t bytes;

    [[nodiscard]] std::uintptr_t end() const noexcept { return begin + bytes; }
};

class UseCollector {
  public:
    explicit UseCollector(const GraphState& graph) {
        note(graph.records().allocations().list());
        for (std::uint32_t node = 0; node < graph.records().nodes().size(); ++node)
            collect(node, graph, node);
        for (const auto& inner : graph.nested())
            collect_inside(inner->tree().parent_node(), *inner);
    }

    [[nodiscard]] std::vector<MemoryUse>&& result() {
        std::ranges::stable_sort(uses_, {}, &MemoryUse::node);
        return std::move(uses_);
    }

  private:
    void note(const std::vector<GraphAllocation>& allocations) {
        std::vector<Range> all;
        all.reserve(allocations.size());
        for (const GraphAllocation& memory : allocations)
            all.push_back({memory.address, memory.bytes});
        std::ranges::sort(all, {}, &Range::begin);
        for (const Range& range : all) {
            if (memory_.empty() || memory_.back().end() <= range.begin)
                memory_.push_back(range);
            else
                memory_.back().bytes = std::max(memory_.back().end(), range.end()) - memory_.back().begin;
        }
    }

    void collect_inside(std::uint32_t node, const GraphState& inner) {
        for (std::uint32_t i = 0; i < inner.records().nodes().size(); ++i)
            collect(node, inner, i);
        for (const auto& nested : inner.nested())
            collect_inside(node, *nested);
    }

    void collect(std::uint32_t node, const GraphState& graph, std::uint32_t index) {
        for_each_access(graph.records().params(index), [&](const UsedRange& used) {
            const Range range{used.begin, std::max<std::size_t>(used.bytes, 1)};
            if (is_graph_memory(range))
                uses_.push_back({node, {&graph, index}, range.begin, range.bytes, used.bytes == 0});
        });
    }

    [[nodiscard]] bool is_graph_memory(const Range& range) const {
        const auto after = std::lower_bound(memory_.begin(), memory_.end(), range.end(),
                                            [](const Range& memory, std::uintptr_t end) { return memory.begin < end; });
        return after != memory_.begin() && range.begin < std::prev(after)->end();
    }

    std::vector<Range> memory_; ///< of all allocations; overlapping ones are merged
    std::vector<MemoryUse> uses_;
};

} // namespace

std::vector<MemoryUse> memory_uses(const GraphState& graph) {
    return UseCollector(graph).result();
}

} // namespace cudag::detail
