// Rejection of invalid parameters, for nodes, updates and stream work alike.
#pragma once

#include "cuda/failure.hpp"

#include <string>

namespace cudag::detail {

/// Throws E if `problem_of(params)` reports a problem. `subject` is called only then.
template <class E = GraphError, class Params, class MakeSubject>
void require_sound(const Params& params, const MakeSubject& subject) {
    if (const std::string problem = problem_of(params); !problem.empty()) [[unlikely]]
        refuse<E>(problem, subject());
}

} // namespace cudag::detail
