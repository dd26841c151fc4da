// Refuses parameters that cannot be right, whether they become nodes, updates or stream work.
#pragma once

#include "cuda/failure.hpp"

#include <string>

namespace cudag::detail {

/// Throws E if something is wrong with `params`, as their `problem_of` says. `subject` is called only then.
template <class E = GraphError, class Params, class MakeSubject>
void require_sound(const Params& params, const MakeSubject& subject) {
    if (const std::string problem = problem_of(params); !problem.empty()) [[unlikely]]
        refuse<E>(problem, subject());
}

} // namespace cudag::detail
