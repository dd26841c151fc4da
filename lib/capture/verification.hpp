// The verification of a cached graph: its function, captured again, must record the same.
#pragma once

#include "compare/memory_pairs.hpp"
#include "cuda/made_memory.hpp"

#include <cudag/error.hpp>
#include <cudag/exec.hpp>
#include <cudag/graph.hpp>
#include <cudag/source_location.hpp>

#include <string>
#include <vector>

namespace cudag::detail {

/// The memory of a captured function itself: equal roles, but other addresses, in each capture.
struct RecordedMemory {
    std::vector<MadeBlock> made; ///< allocated by the function, in order
    MadeBlock object{};          ///< the function object; no bytes if it is the same in all captures
};

/// A replay about to be launched, for errors.
struct VerifiedReplay {
    std::string text; ///< "CaptureCache: key 4: replay 100"
    SourceLocation where;
    const char* remedy; ///< against frozen values
};

/// Throws FrozenValueError unless `again`, recorded by the function with `memory`, equals the effective graph of
/// `exec`, recorded with `kept`.
void require_same(const VerifiedReplay& replay, const Exec& exec, const RecordedMemory& kept, const Graph& again,
                  const RecordedMemory& memory);

/// Throws CaptureError: the function could not be captured again.
[[noreturn]] void refuse_again(const VerifiedReplay& replay, const Error& cause);

} // namespace cudag::detail
