// The verification of a cached graph: its function, captured again, must record the same.
#include "verification.hpp"

#include "compare/diff.hpp"
#include "cuda/failure.hpp"
#include "exec/exec_diff.hpp"
#include "graph/graph_identity.hpp"
#include "graph/graph_records.hpp"

#include <cudag/frozen_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

namespace cudag::detail {

namespace {

MemoryPairs pairs_of(const RecordedMemory& kept, const RecordedMemory& again) {
    MemoryPairs pairs;
    for (std::size_t i = 0; i < std::min(kept.made.size(), again.made.size()); ++i)
        if (kept.made[i].bytes == again.made[i].bytes)
            pairs.add({kept.made[i].begin, again.made[i].begin, kept.made[i].bytes});
    if (kept.object.bytes != 0) pairs.add({kept.object.begin, again.object.begin, kept.object.bytes, true});
    return pairs;
}

/// The nodes of the differences, as the details of an error. Empties their handles.
ErrorDetails details_of(std::vector<Difference>& differences) {
    ErrorDetails details;
    for (Difference& difference : differences) {
        const Node node = std::exchange(difference.before, {});
        const Node after = std::exchange(difference.after, {});
        const Node& known = node == Node() ? after : node;
        const NodeRecord& record = records_of(GraphIdentity::of(known)).nodes()[GraphIdentity::index_unchecked(known)];
        if (details.location.line == 0) details.location = record.location;
        const std::string label(record.label);
        if (!label.empty() && std::ranges::find(details.labels, label) == details.labels.end())
            details.labels.push_back(label);
    }
    return details;
}

} // namespace

void require_same(const VerifiedReplay& replay, const Exec& exec, const RecordedMemory& kept, const Graph& again,
                  const RecordedMemory& memory) {
    std::vector<Difference> differences = diff_again(exec, again, pairs_of(kept, memory));
    if (differences.empty()) [[likely]]
        return;
    ErrorDetails details = details_of(differences);
    if (details.location.line == 0) details.location = replay.where;
    const std::string text =
        fmt::format("cudag: {}: the function, captured again, records other work than the kept graph, which has frozen "
                    "the former values; {}{}",
                    replay.text, replay.remedy, list_differences(differences));
    throw FrozenValueError(Passkey(), text, std::move(details),
                           std::make_shared<const std::vector<Difference>>(std::move(differences)));
}

void refuse_again(const VerifiedReplay& replay, const Error& cause) {
    std::string_view what = cause.what();
    if (constexpr std::string_view prefix = "cudag: "; what.starts_with(prefix)) what.remove_prefix(prefix.size());
    throw CaptureError(static_cast<cudaError_t>(cause.code().value()),
                       fmt::format("cudag: {}: the function could not be captured again for its verification; make the "
                                   "call possible to capture, or set .verify to 0: {}",
                                   replay.text, what),
                       {cause.operation(), cause.log(), cause.labels(), cause.location()});
}

} // namespace cudag::detail
