// Comparison of a graph with another recording of the same function.
#include "diff_again.hpp"

#include "condition_pairs.hpp"
#include "diff.hpp"
#include "graph/allocations.hpp"
#include "graph/graph_identity.hpp"
#include "graph/graph_records.hpp"
#include "node/node_params.hpp"
#include "node/owned_params.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace cudag::detail {

namespace {

/// Pairs the memory allocated by the nodes of two graphs: CUDA gives each graph addresses of its own.
void pair_allocations(const GraphState& before, const GraphState& after, MemoryPairs& pairs) {
    for_each_graph_pair(before, after, [&](const GraphState& a, const GraphState& b) {
        const std::vector<GraphAllocation>& ours = records_of(a).allocations().list();
        const std::vector<GraphAllocation>& theirs = records_of(b).allocations().list();
        for (std::size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i)
            if (ours[i].alloc == theirs[i].alloc && ours[i].bytes == theirs[i].bytes)
                pairs.add({ours[i].address, theirs[i].address, ours[i].bytes});
    });
}

std::uintptr_t number_of(const void* address) noexcept {
    return reinterpret_cast<std::uintptr_t>(address);
}

/// The bytes as a hexadecimal number in memory order, at most eight.
std::string first_bytes(const std::byte* bytes, std::size_t count) {
    constexpr std::size_t shown = 8;
    std::string text = "bytes";
    for (std::size_t i = 0; i < std::min(count, shown); ++i)
        text += fmt::format(" {:02x}", std::to_integer<unsigned>(bytes[i]));
    return count > shown ? text + " ..." : text;
}

/// Returns the difference between the values that two copies read from the function objects: each recording has its
/// own.
std::optional<FieldDifference> diff_values(const NodeParams& former, const NodeParams& next, const MemoryPairs& pairs) {
    const auto* const* before = std::get_if<const CopyParams*>(&former);
    const auto* const* after = std::get_if<const CopyParams*>(&next);
    if (before == nullptr || after == nullptr) return std::nullopt;
    const std::size_t bytes = bytes_of(**before);
    const MemoryPair* const pair = pairs.find(number_of((*before)->source), number_of((*after)->source));
    if (pair == nullptr || !pair->is_value || bytes != bytes_of(**after)) return std::nullopt;
    if (bytes > pair->before + pair->bytes - number_of((*before)->source)) return std::nullopt;
    const auto* const ours = static_cast<const std::byte*>((*before)->source);
    const auto* const theirs = static_cast<const std::byte*>((*after)->source);
    const auto first = static_cast<std::size_t>(std::mismatch(ours, ours + bytes, theirs).first - ours);
    if (first == bytes) return std::nullopt;
    return FieldDifference{DifferenceKind::parameter, fmt::format("value of the source from byte {}", first),
                           first_bytes(ours + first, bytes - first), first_bytes(theirs + first, bytes - first),
                           ChangedBy::node_update};
}

/// Takes back differences between the parameters of two nodes that no user has made.
class SameRoles {
  public:
    SameRoles(const MemoryPairs& pairs, const SameConditions& conditions) : pairs_(pairs), conditions_(conditions) {}

    /// Gives `next` each value of `former` with the same role.
    void take_back(const NodeParams& former, OwnedParams& next) const {
        if (auto* kernel = next.find<KernelParams>())
            take_back(*std::get<const KernelParams*>(former), *kernel);
        else if (auto* copy = next.find<CopyParams>())
            take_back(*std::get<const CopyParams*>(former), *copy);
        else if (auto* batch = next.find<CopyBatchParams>())
            take_back(*std::get<const CopyBatchParams*>(former), *batch);
        else if (auto* copy_3d = next.find<cudaMemcpy3DParms>())
            take_back(*std::get<const cudaMemcpy3DParms*>(former), *copy_3d);
        else if (auto* set = next.find<SetParams>())
            take_back(std::get<const SetParams*>(former)->destination, set->destination);
        else if (auto* host = next.find<HostParams>())
            host->userData = std::get<const HostParams*>(former)->userData;
    }

  private:
    template <class Pointer>
    void take_back(Pointer former, Pointer& next) const {
        if (former != next && pairs_.are_same(number_of(former), number_of(next))) next = former;
    }
    void take_back(const CopyParams& former, CopyParams& next) const {
        take_back(former.destination, next.destination);
        take_back(former.source, next.source);
    }
    void take_back(const CopyBatchParams& former, CopyBatchParams& next) const {
        for (std::uint32_t i = 0; i < next.count && i < former.count; ++i) {
            take_back(former.operations[i].destination, next.operations[i].destination);
            take_back(former.operations[i].source, next.operations[i].source);
        }
    }
    void take_back(const cudaMemcpy3DParms& former, cudaMemcpy3DParms& next) const {
        take_back(former.dstPtr.ptr, next.dstPtr.ptr);
        take_back(former.srcPtr.ptr, next.srcPtr.ptr);
    }
    void take_back(const KernelParams& former, KernelParams& next) const {
        if (!same_layout(*former.signature, *next.signature)) return;
        for (std::uint32_t i = 0; i < next.signature->count; ++i)
            take_back(next.signature->parameters[i], former.values, next.values);
    }
    /// Addresses may be in objects, too. CUDA does not tell the types of arguments: a condition may be a number of its
    /// size.
    void take_back(const Parameter& parameter, const std::byte* former, std::byte* next) const {
        constexpr auto word = static_cast<std::uint32_t>(sizeof(std::uintptr_t));
        const std::uint32_t end = parameter.offset + parameter.size;
        for (std::uint32_t at = (parameter.offset + word - 1) / word * word; at + word <= end; at += word) {
            std::uintptr_t ours = 0;
            std::uintptr_t theirs = 0;
            std::memcpy(&ours, former + at, word);
            std::memcpy(&theirs, next + at, word);
            if (ours == theirs) continue;
            const bool may_be_condition = parameter.cpp_type == nullptr && parameter.size == word;
            if (pairs_.are_same(ours, theirs) || (may_be_condition && conditions_.same(ours, theirs)))
                std::memcpy(next + at, former + at, word);
        }
    }

    const MemoryPairs& pairs_;
    const SameConditions& conditions_;
};

} // namespace

std::vector<Difference> diff_again(const GraphState& before, const InForce& in_force, const GraphState& after,
                                   MemoryPairs pairs) {
    std::vector<Difference> found = diff_structure(before, after);
    const auto is_edge = [](const Difference& difference) { return difference.kind == DifferenceKind::edge; };
    if (!std::ranges::all_of(found, is_edge)) return found;
    pair_allocations(before, after, pairs);
    const ConditionPairs conditions(before, after, false);
    const SameRoles roles(pairs, conditions);
    std::pmr::monotonic_buffer_resource memory;
    for_each_graph_pair(before, after, [&](const GraphState& a, const GraphState& b) {
        for (std::uint32_t i = 0; i < records_of(b).nodes().size(); ++i) {
            const NodeParams& former = in_force.params({&a, i});
            const NodeParams& next = records_of(b).params(i);
            if (same_params(former, next, conditions)) continue;
            OwnedParams adapted(memory, next);
            if (former.index() == next.index()) roles.take_back(former, adapted);
            std::vector<FieldDifference> fields = diff_params(former, adapted, conditions);
            if (std::optional<FieldDifference> values = diff_values(former, next, pairs))
                fields.push_back(std::move(*values));
            for (FieldDifference& field : fields)
                found.push_back({field.kind, identity_of(a).handle(i), identity_of(b).handle(i), describe_pair(a, b, i),
                                 std::move(field.field), std::move(field.before), std::move(field.after),
                                 field.needs_instantiate()});
        }
    });
    return found;
}

} // namespace cudag::detail
