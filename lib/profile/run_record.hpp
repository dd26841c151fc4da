// The record of one run of a node, as a source of times returns it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudag::detail {

struct RunRecord {
    std::uint64_t launch; ///< number of the launch, ascending in the order of launches
    std::size_t node;     ///< index into the profiled nodes
    double begin;         ///< in microseconds of the source's clock
    double end;
};

} // namespace cudag::detail
