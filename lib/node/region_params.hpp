// Copies of several dimensions, or of arrays: checked, described, and as CUDA takes them.
#pragma once

#include "cuda/failure.hpp"

#include <cudag/detail/region_copy.hpp>

#include <string>

namespace cudag::detail {

[[nodiscard]] cudaMemcpy3DParms runtime_params(const RegionCopy& copy) noexcept;

/// "16 bytes x 3 rows x 2 slices"; elements instead of bytes where an array takes part.
[[nodiscard]] std::string describe_extent(const cudaMemcpy3DParms& copy);

/// What is wrong with `copy`; empty if nothing is.
[[nodiscard]] std::string problem_of(const RegionCopy& copy);

/// Throws E if the extents of `copy` differ or are 0, a side is null, or a pitch too small. `subject` is called only
/// then.
template <class E = GraphError, class MakeSubject>
void require_region_copy(const RegionCopy& copy, const MakeSubject& subject) {
    if (const std::string problem = problem_of(copy); !problem.empty()) refuse<E>(problem, subject());
}

} // namespace cudag::detail
