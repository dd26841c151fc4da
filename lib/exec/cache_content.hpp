// The content of a cache, for its footprint.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace cudag {
class Exec;
class Graph;
} // namespace cudag

namespace cudag::detail {

/// What a cache holds: valid until its next change.
struct CacheContent {
    std::vector<const Exec*> execs = {};
    std::vector<const Graph*> graphs = {};                ///< of further execs
    std::vector<std::shared_ptr<const void>> owners = {}; ///< such as a pool, beside those of the graphs
    std::size_t buffers = 0;                              ///< bytes of static inputs
    std::size_t held = 0;
    std::size_t held_high = 0;
    bool is_measured = false; ///< `held` is measured, and all of executables
};

} // namespace cudag::detail
