// The sum of the memory of graphs and Execs.
#pragma once

#include <cudag/footprint.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace cudag {
class Exec;
class Graph;
} // namespace cudag

namespace cudag::detail {

class ExecState;
class GraphOwners;
class GraphState;
class PoolState;
struct CacheContent;

/// Sums up memory; what several graphs share counts once.
class FootprintSum {
  public:
    /// Adds the memory of a graph, with its effective parameters. Reads a captured graph. Throws GraphError.
    void add(const Graph& graph);
    /// Adds the memory of an exec, with its effective parameters.
    void add(const Exec& exec);
    void add(const ExecState& exec);
    /// Adds the memory of the graphs of a cache, and of the cache itself.
    void add(const CacheContent& content);
    /// Returns the pools, the oldest first.
    [[nodiscard]] std::vector<std::shared_ptr<PoolState>> pools() const;

    /// Returns the sum.
    [[nodiscard]] Footprint total() const;

  private:
    struct Range {
        std::uintptr_t begin;
        std::uintptr_t end;
    };
    class Ranges;

    template <class Params>
    void add_tree(const GraphState& graph, const Params& params);
    /// Adds what `owner` keeps alive.
    void add_owner(const std::shared_ptr<const void>& owner);
    void add_owners(const GraphOwners& owners);

    Footprint sum_; ///< without pools and host memory
    std::unordered_set<const void*> owners_;
    std::unordered_map<const PoolState*, std::shared_ptr<const PoolState>> pools_;
    std::vector<Range> kept_; ///< host memory behind owners
    std::vector<Range> host_; ///< used by copies
};

} // namespace cudag::detail
