// What update_or_instantiate keeps of an Exec: counts, and the instance before the last change of structure.
#pragma once

#include <cudag/exec.hpp>

#include <cstdint>
#include <memory>
#include <optional>

namespace cudag::detail {

struct FormerExec {
    std::uint64_t structure = 0;             ///< of its last graph
    std::optional<Exec> exec = std::nullopt; ///< none before the structures alternate
};

struct ExecTurns {
    UpdateCounts counts = {};
    std::unique_ptr<FormerExec> former = nullptr; ///< null before the first change of structure
    /// Whether the exec may be kept while another one runs in its place: not a view, and no node was ever disabled.
    bool may_stay = true;
    std::optional<bool> can_source_stay = std::nullopt; ///< likewise of its source; not asked before it is needed
    /// Whether the exec has taken the handles of a later graph with the nodes of its source: BufferParams are then
    /// those of that graph, `made_from()`.
    bool has_become_another = false;
};

} // namespace cudag::detail
