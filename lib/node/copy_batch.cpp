// Batches of copies in one node: CUDA 13.5.
#include "copy_batch.hpp"

#include "comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace cudag::detail {

namespace {

/// Calls `use` with CUDA's parameters of a node.
template <class Use>
NativeResult use_native_copies(const CopyBatchParams& params, const Use& use) {
    std::vector<CUdeviceptr> destinations, sources;
    std::vector<std::size_t> bytes, first_of_attributes;
    std::vector<compat::CopyAttributes> attributes;
    for (std::uint32_t i = 0; i < params.count; ++i) {
        const CopyOfBatch& each = params.operations[i];
        destinations.push_back(std::bit_cast<CUdeviceptr>(each.destination));
        sources.push_back(std::bit_cast<CUdeviceptr>(each.source));
        bytes.push_back(each.bytes);
        if (i != 0 && !each.begins_attributes) continue;
        attributes.push_back(each.attributes);
        first_of_attributes.push_back(i);
    }
    return use(
        compat::copy_batch_params({params.context, params.count, destinations.data(), sources.data(), bytes.data(),
                                   attributes.data(), first_of_attributes.data(), attributes.size()}));
}

/// Memory of a batch, by its copy.
struct CopyRange {
    std::uintptr_t begin;
    std::uintptr_t end;
    std::uint32_t copy;
    bool is_written;
};

/// The ranges that reach furthest so far, of two copies: each range has another copy to compare with.
class FurthestRanges {
  public:
    void add(const CopyRange& range) noexcept {
        if (range.end <= furthest_[0].end) {
            if (range.copy != furthest_[0].copy && range.end > furthest_[1].end) furthest_[1] = range;
            return;
        }
        if (range.copy != furthest_[0].copy) furthest_[1] = furthest_[0];
        furthest_[0] = range;
    }
    /// Returns a range of another copy that reaches beyond the beginning of `range`; null if there is none.
    [[nodiscard]] const CopyRange* overlap(const CopyRange& range) const noexcept {
        const CopyRange& found = furthest_[0].copy == range.copy ? furthest_[1] : furthest_[0];
        return found.end > range.begin ? &found : nullptr;
    }

  private:
    std::array<CopyRange, 2> furthest_{}; ///< the second is of another copy
};

std::string problem_of_overlap(std::vector<CopyRange>& ranges) {
    std::ranges::sort(ranges, {}, &CopyRange::begin);
    FurthestRanges written, all;
    for (const CopyRange& range : ranges) {
        if (const CopyRange* other = (range.is_written ? all : written).overlap(range)) {
            const auto [first, second] = std::minmax(other->copy, range.copy);
            return fmt::format("copies {} and {} of the batch share {} bytes at {:#x}, which one of them writes; the "
                               "copies of a batch have no order among each other: make them by two calls",
                               first, second, std::min(other->end, range.end) - range.begin, range.begin);
        }
        all.add(range);
        if (range.is_written) written.add(range);
    }
    return {};
}

/// A visitor for comparing one copy of two nodes.
class NumberedComparison : public FieldVisitor {
  public:
    NumberedComparison(std::uint32_t number, const CopyBatchParams& before, const CopyBatchParams& after,
                       Differences& found)
        : number_(number), before_(before.operations[number]), after_(after.operations[number]), found_(found) {}

    template <class Get>
    void field(const char* name, const Get& get, const FieldRule& rule) {
        if (same_value(get(before_), get(after_))) return;
        found_.add([&] {
            return FieldDifference{rule.kind, fmt::format("{} {}", name, number_), value_text(get(before_)),
                                   value_text(get(after_)), rule.changed_by};
        });
    }

  private:
    std::uint32_t number_;
    const CopyOfBatch& before_;
    const CopyOfBatch& after_;
    Differences& found_;
};

void add_attributes(Hash& hash, const compat::CopyAttributes& attributes) noexcept {
    hash.add(std::uint64_t{attributes.order} << 32U | attributes.flags);
    for (const auto& [type, id] : {attributes.source, attributes.destination})
        hash.add(std::uint64_t{static_cast<std::uint32_t>(type)} << 32U | static_cast<std::uint32_t>(id));
}

} // namespace

std::string problem_of(const CopyBatchParams& params) {
    if (params.count == 0) return "a batch of 0 copies; leave it out";
    std::vector<CopyRange> ranges;
    ranges.reserve(2 * std::size_t{params.count});
    for (std::uint32_t i = 0; i < params.count; ++i) {
        const CopyOfBatch& each = params.operations[i];
        if (each.bytes == 0) continue;
        const auto to = std::bit_cast<std::uintptr_t>(each.destination);
        const auto from = std::bit_cast<std::uintptr_t>(each.source);
        ranges.push_back({to, to + each.bytes, i, true});
        ranges.push_back({from, from + each.bytes, i, false});
    }
    return problem_of_overlap(ranges);
}

NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const CopyBatchParams& params) {
    return use_native_copies(params, [&](CUgraphNodeParams native) { return add_native(node, graph, native); });
}

NativeResult set_native(const NodeTarget& target, const CopyBatchParams& params) {
    return use_native_copies(params, [&](const CUgraphNodeParams& native) { return set_native(target, native); });
}

CopyBatchParams read_copy_batch(cudaGraphNode_t node, std::pmr::memory_resource& memory) {
    const CUgraphNodeParams native = read_native_node(node, static_cast<CUgraphNodeType>(compat::copy_batch_type));
    const compat::CopyArrays copies = compat::copy_arrays(native);
    auto* list = static_cast<CopyOfBatch*>(memory.allocate(copies.count * sizeof(CopyOfBatch), alignof(CopyOfBatch)));
    std::size_t attributes = 0;
    for (std::size_t i = 0; i < copies.count; ++i) {
        const bool begins = attributes + 1 < copies.attribute_count && copies.first_of_attributes[attributes + 1] == i;
        if (begins) ++attributes;
        new (list + i) CopyOfBatch{std::bit_cast<void*>(copies.destinations[i]),
                                   std::bit_cast<const void*>(copies.sources[i]),
                                   copies.bytes[i],
                                   1,
                                   begins,
                                   copies.attributes[attributes]};
    }
    return {copies.context, static_cast<std::uint32_t>(copies.count), list};
}

void BatchedCopies::compare(const CopyBatchParams& before, const CopyBatchParams& after, Differences& found) {
    found.compare("context", static_cast<const void*>(before.context), static_cast<const void*>(after.context),
                  fixed());
    for (std::uint32_t i = 0; i < std::min(before.count, after.count); ++i) {
        NumberedComparison visit(i, before, after, found);
        fields(before.operations[i], visit);
    }
}

void BatchedCopies::add_to(Hash& hash, const CopyBatchParams& params, HashedFields which) noexcept {
    for (const CopyOfBatch& each : params.list())
        if (which == HashedFields::changing) {
            hash.add(static_cast<const void*>(each.destination));
            hash.add(each.source);
            hash.add(std::uint64_t{each.bytes});
        } else {
            add_attributes(hash, each.attributes);
            hash.add(std::uint64_t{each.begins_attributes});
        }
}

std::string title(const CopyBatchParams& params) {
    std::size_t bytes = 0;
    for (const CopyOfBatch& each : params.list())
        bytes += each.bytes;
    return fmt::format("{} copies, {} bytes", params.count, bytes);
}

} // namespace cudag::detail
