// PoolOrder: the stated order of graphs that share the memory of a CapturePool, and a check of it.
#pragma once

#include <cudag/config.hpp>
#include <cudag/graph.hpp>
#include <cudag/source_location.hpp>

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace cudag {

class CapturePool;

namespace detail {

class PoolOrderState;

} // namespace detail

/// The options of a PoolOrder.
struct PoolOrderOptions {
    /// Checks all launches while the PoolOrder lives. CUDAG_CHECK=pools in the environment does the same for all of
    /// them. A check looks at all nodes of the launched graph, also of one outside of the order; without checks,
    /// launches cost nothing.
    bool checked = false;
    /// A round may leave graphs out. After the last graph, any graph begins the next round; before it, the first one.
    bool may_skip = false;
    bool may_repeat = false; ///< a graph may run several times in a row, as if once
};

/// A statement: graphs that share the memory of a pool run in this order, round by round.
///
///     cudag::CapturePool pool("activations");
///     const auto scratch = pool.allocate<float>(1024);
///     cudag::GraphBuilder first, second;
///     first.kernel(config, scale, scratch, 2.0f, n);
///     second.kernel(config, scale, scratch, 3.0f, n);
///     cudag::Graph prefill = std::move(first).build().name("prefill");
///     cudag::Graph decode = std::move(second).build().name("decode");
///     const cudag::PoolOrder order(pool, {prefill, decode}, {.checked = true});
///     cudag::Exec exec = decode.instantiate();
///     // exec.launch(stream) throws Error: "prefill" is first
///
/// Memory that one graph's capture has given back to the pool serves the captures after it. Their graphs must then run
/// in the order of their captures: each finds the memory of earlier ones as they left it, and may overwrite what the
/// earlier ones no longer need. The statement does not order launches on the device: launch in one stream, or order the
/// streams.
///
/// Checked, a launch of an Exec throws Error, and launches nothing, if
/// - its graph is in the order, and not the next one; the first one may begin a new round at any time
/// - its graph is not in the order, and keeps the pool, or memory of it
/// - a node uses memory that has been freed since the statement: memory of CUDA's, or a buffer of a pool that none of
///   the graphs keeps. Memory given by an update is known from its first launch on. Memory allocated anew at the same
///   address counts as freed, unless the node has been updated since its last launch.
/// Execs count as their source graph, also in caches and after whole updates. Launches through `native()` are not seen.
/// Move-only. Threads: all calls may run concurrently, except moves and assignment.
class CUDAG_EXPORT PoolOrder {
  public:
    /// States the order of `graphs`, which need not outlive this object. Throws GraphError if there are none, if one is
    /// given twice or is moved from, or if one keeps neither `pool` nor memory of it.
    PoolOrder(const CapturePool& pool, std::span<const std::reference_wrapper<const Graph>> graphs,
              PoolOrderOptions options = {}, SourceLocation location = SourceLocation::current());
    PoolOrder(const CapturePool& pool, std::initializer_list<std::reference_wrapper<const Graph>> graphs,
              PoolOrderOptions options = {}, SourceLocation location = SourceLocation::current())
        : PoolOrder(pool, std::span(graphs.begin(), graphs.size()), options, location) {}
    PoolOrder(PoolOrder&&) noexcept;
    PoolOrder& operator=(PoolOrder&&) noexcept;
    PoolOrder(const PoolOrder&) = delete;            // cudag: a PoolOrder has one owner: std::move(order)
    PoolOrder& operator=(const PoolOrder&) = delete; // cudag: a PoolOrder has one owner: std::move(order)
    ~PoolOrder();

    /// Returns whether launches are checked.
    [[nodiscard]] bool is_checked() const;
    /// Returns the number of launches of graphs in the order that were checked and not refused.
    [[nodiscard]] std::size_t launches() const;
    /// Begins a new round: the first graph is the next one.
    void restart();

  private:
    [[nodiscard]] detail::PoolOrderState& state() const;

    std::shared_ptr<detail::PoolOrderState> state_;
};

} // namespace cudag
