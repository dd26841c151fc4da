// Calls of a graphed function with buckets: sizes in items, and what is beyond the given inputs.
#pragma once

#include "cuda/failure.hpp"

#include <cudag/detail/graphed_task.hpp>
#include <cudag/source_location.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace cudag::detail {

/// Throws GraphError, naming `subject`, for options about buckets that do not fit together, or to the function.
void require_sound(const GraphedFunctionOptions& options, const GraphedTask& task, Subject&& subject);

/// Returns "GraphedFunction at f.cpp:12: forward".
[[nodiscard]] Subject subject_of_forward(const SourceLocation& location);

/// A call, rounded up to its bucket.
struct PaddedCall {
    std::size_t items = 0;
    std::size_t bucket = 0;
    std::vector<GraphedInput>
        shape; ///< inputs of the bucket's sizes, the number of valid items last if it is asked for
    bool fills_zeros = true;
    std::optional<std::uint32_t> valid = std::nullopt;
};

/// Rounds the call of `given` up. Throws GraphError if its inputs have no whole number of items, or different ones, or
/// if there is no bucket for them; `location` is that of the function.
[[nodiscard]] PaddedCall pad(const GraphedFunctionOptions& options, const GraphedTask& task,
                             std::span<const GraphedInput> given, const SourceLocation& location);
/// Returns the call for a graph of `bucket` items, made of zeros.
[[nodiscard]] PaddedCall call_of_zeros(const GraphedFunctionOptions& options, const GraphedTask& task,
                                       std::size_t bucket);

/// Fills what the call pads, in `inputs`, the static inputs of its shape: after the copies of `given`. Throws Error.
void fill_padding(cudaStream_t stream, const PaddedCall& call, std::span<const GraphedInput> given,
                  const std::vector<StaticInput>& inputs);

} // namespace cudag::detail
