// Looks for addresses in what nodes are given.
#include "memory_uses.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <unordered_map>
#include <utility>

namespace cudag::detail {

namespace {

struct Range {
    std::uintptr_t begin;
    std::size_t bytes;

    [[nodiscard]] std::uintptr_t end() const noexcept { return begin + bytes; }
};

Range range_of(const void* address, std::size_t bytes) {
    return {reinterpret_cast<std::uintptr_t>(address), bytes};
}

class Collector {
  public:
    explicit Collector(const GraphState& graph) {
        note(graph.allocations().list());
        for (std::uint32_t node = 0; node < graph.nodes().size(); ++node)
            collect(node, graph, node);
        for (const auto& inner : graph.nested())
            collect_inside(inner->parent_node(), *inner);
    }

    [[nodiscard]] std::vector<MemoryUse>&& result() {
        std::ranges::stable_sort(uses_, {}, &MemoryUse::node);
        return std::move(uses_);
    }

  private:
    void note(const std::vector<GraphAllocation>& allocations) {
        std::vector<Range> all;
        all.reserve(allocations.size());
        for (const GraphAllocation& memory : allocations) {
            all.push_back({memory.address, memory.bytes});
            const auto lowest = lowest_to_.try_emplace(memory.address + memory.bytes, memory.address).first;
            lowest->second = std::min(lowest->second, memory.address);
        }
        std::ranges::sort(all, {}, &Range::begin);
        for (const Range& range : all) {
            if (memory_.empty() || memory_.back().end() <= range.begin)
                memory_.push_back(range);
            else
                memory_.back().bytes = std::max(memory_.back().end(), range.end()) - memory_.back().begin;
        }
    }

    void collect_inside(std::uint32_t node, const GraphState& inner) {
        for (std::uint32_t i = 0; i < inner.nodes().size(); ++i)
            collect(node, inner, i);
        for (const auto& nested : inner.nested())
            collect_inside(node, *nested);
    }

    void collect(std::uint32_t node, const GraphState& graph, std::uint32_t index) {
        find_ranges(graph.params(index));
        for (const Range& range : ranges_)
            if (is_graph_memory(range)) uses_.push_back({node, &graph, index, range.begin, range.bytes});
    }

    [[nodiscard]] bool is_graph_memory(const Range& range) const {
        const auto after = std::lower_bound(memory_.begin(), memory_.end(), range.end(),
                                            [](const Range& memory, std::uintptr_t end) { return memory.begin < end; });
        return after != memory_.begin() && range.begin < std::prev(after)->end();
    }

    void find_ranges(const NodeParams& params) {
        ranges_.clear();
        if (const auto* copy = std::get_if<const CopyParams*>(&params)) {
            const std::size_t bytes = (*copy)->source_size * (*copy)->element_bytes;
            ranges_.push_back(range_of((*copy)->destination, bytes));
            ranges_.push_back(range_of((*copy)->source, bytes));
        } else if (const auto* region = std::get_if<const cudaMemcpy3DParms*>(&params)) {
            if ((*region)->dstPtr.ptr != nullptr) ranges_.push_back(range_of((*region)->dstPtr.ptr, 1));
            if ((*region)->srcPtr.ptr != nullptr) ranges_.push_back(range_of((*region)->srcPtr.ptr, 1));
        } else if (const auto* set = std::get_if<const SetParams*>(&params)) {
            const std::size_t row = (*set)->size * (*set)->element_bytes;
            ranges_.push_back(range_of((*set)->destination, ((*set)->height - 1) * (*set)->pitch + row));
        } else if (const auto* kernel = std::get_if<const KernelParams*>(&params)) {
            find_arguments(**kernel);
        }
    }

    void find_arguments(const KernelParams& kernel) {
        for (std::uint32_t i = 0; i < kernel.signature->count; ++i) {
            const Parameter& parameter = kernel.signature->parameters[i];
            if (!may_be_address(parameter)) continue;
            std::uintptr_t address = 0;
            std::memcpy(&address, kernel.values + parameter.offset, sizeof address);
            ranges_.push_back({address, 1});
        }
        if (ranges_.size() < 2) return;
        const std::vector<Range> all = ranges_;
        std::erase_if(ranges_, [&](const Range& range) { return is_end(range.begin, all); });
    }

    /// Of a recorded kernel CUDA tells the sizes only. What stands inside larger objects may be left over from before.
    static bool may_be_address(const Parameter& parameter) noexcept {
        if (parameter.cpp_type == nullptr) return parameter.size == sizeof(std::uintptr_t);
        return parameter.type == ParameterType::pointer || parameter.type == ParameterType::span;
    }

    /// Whether a kernel that is given `all` has memory that ends at `address`, which is then no use of what begins
    /// there.
    [[nodiscard]] bool is_end(std::uintptr_t address, const std::vector<Range>& all) const {
        const auto lowest = lowest_to_.find(address);
        return lowest != lowest_to_.end() && std::any_of(all.begin(), all.end(), [&](const Range& other) {
                   return other.begin >= lowest->second && other.begin < address;
               });
    }

    std::vector<Range> memory_;                                    ///< of all allocations, what overlaps as one
    std::unordered_map<std::uintptr_t, std::uintptr_t> lowest_to_; ///< where allocations begin that end there
    std::vector<Range> ranges_;                                    ///< of the node that is being looked at
    std::vector<MemoryUse> uses_;
};

} // namespace

std::vector<MemoryUse> memory_uses(const GraphState& graph) {
    return Collector(graph).result();
}

} // namespace cudag::detail
