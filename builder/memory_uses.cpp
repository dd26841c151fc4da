// Looks for addresses in what nodes are given.
#include "memory_uses.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace cudag::detail {

namespace {

struct Range {
    std::uintptr_t begin;
    std::size_t bytes;
};

Range range_of(const void* address, std::size_t bytes) {
    return {reinterpret_cast<std::uintptr_t>(address), bytes};
}

class Collector {
  public:
    explicit Collector(const GraphState& graph) : memory_(graph.allocations()) {
        for (const GraphAllocation& memory : memory_) {
            lowest_ = std::min(lowest_, memory.address);
            highest_ = std::max(highest_, memory.address + memory.bytes);
        }
        for (std::uint32_t node = 0; node < graph.nodes().size(); ++node)
            collect(node, graph, node);
        for (const auto& inner : graph.nested())
            collect_inside(inner->parent_node(), *inner);
    }

    [[nodiscard]] std::vector<MemoryUse>&& result() {
        std::stable_sort(uses_.begin(), uses_.end(),
                         [](const MemoryUse& a, const MemoryUse& b) { return a.node < b.node; });
        return std::move(uses_);
    }

  private:
    void collect_inside(std::uint32_t node, const GraphState& inner) {
        for (std::uint32_t i = 0; i < inner.nodes().size(); ++i)
            collect(node, inner, i);
        for (const auto& nested : inner.nested())
            collect_inside(node, *nested);
    }

    void collect(std::uint32_t node, const GraphState& graph, std::uint32_t index) {
        find_ranges(graph.nodes()[index].params);
        for (const Range& range : ranges_) {
            if (range.begin >= highest_ || range.begin + range.bytes <= lowest_) continue;
            std::vector<std::uint32_t> found;
            for (std::uint32_t i = 0; i < memory_.size(); ++i)
                if (memory_[i].overlaps(range.begin, range.bytes)) found.push_back(i);
            if (!found.empty()) uses_.push_back({node, &graph, index, std::move(found)});
        }
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
            if (parameter.type != ParameterType::pointer && parameter.type != ParameterType::span) continue;
            std::uintptr_t address = 0;
            std::memcpy(&address, kernel.values + parameter.offset, sizeof address);
            ranges_.push_back({address, 1});
        }
        if (ranges_.size() > 1) std::erase_if(ranges_, [this](const Range& range) { return is_end(range.begin); });
    }

    /// Whether the kernel is given memory that ends at `address`, which is then no use of what begins there.
    [[nodiscard]] bool is_end(std::uintptr_t address) const {
        return std::any_of(memory_.begin(), memory_.end(), [&](const GraphAllocation& memory) {
            return memory.address + memory.bytes == address &&
                   std::any_of(ranges_.begin(), ranges_.end(),
                               [&](const Range& other) { return memory.contains(other.begin); });
        });
    }

    const std::vector<GraphAllocation>& memory_;
    std::uintptr_t lowest_ = UINTPTR_MAX;
    std::uintptr_t highest_ = 0;
    std::vector<Range> ranges_; ///< of the node that is being looked at
    std::vector<MemoryUse> uses_;
};

} // namespace

std::vector<MemoryUse> memory_uses(const GraphState& graph) {
    return Collector(graph).result();
}

} // namespace cudag::detail
