// Names of captured nodes, by the steps and marks of the capture.
#pragma once

#include <cudag/source_location.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace cudag::detail {

/// Nodes in a row, in the order of their recording: [first, end).
struct NamedNodes {
    std::uint32_t first;
    std::uint32_t end;
    std::string label;
    SourceLocation location;
    std::size_t depth; ///< deeper is nearer to the nodes: names of equal depth have no node in common
};

/// Steps, possibly nested, and marks. A node takes the name of the next mark after it in its innermost step; without
/// one, the name of the step. Outside of steps, the next mark names it.
class CaptureNames {
  public:
    /// `first` is the first node of the capture; `location` is for nodes without a name.
    CaptureNames(std::uint32_t first, const SourceLocation& location)
        : location_(location), levels_{{no_step, first}} {}

    /// Begins a step at `node`, the next one to be recorded.
    void begin_step(std::string_view label, const SourceLocation& location, std::uint32_t node) {
        stretches_.push_back({node, node, std::string(label), location, 2 * levels_.size() + 1});
        levels_.push_back({stretches_.size() - 1, node});
    }
    void end_step(std::uint32_t node) noexcept {
        stretches_[levels_.back().step].end = node;
        levels_.pop_back();
    }
    /// Forgets a failed step.
    void drop_step() noexcept { levels_.pop_back(); }
    void mark(std::string_view label, const SourceLocation& location, std::uint32_t node) {
        Level& level = levels_.back();
        // less near than the steps it spans
        stretches_.push_back({level.marked, node, std::string(label), location, 2 * levels_.size()});
        level.marked = node;
    }

    /// All names. The nearest one around a node names it.
    [[nodiscard]] const std::vector<NamedNodes>& stretches() const noexcept { return stretches_; }
    [[nodiscard]] const SourceLocation& location() const noexcept { return location_; }

  private:
    static constexpr auto no_step = std::numeric_limits<std::size_t>::max();

    struct Level {
        std::size_t step;     ///< the stretch of the step
        std::uint32_t marked; ///< the first node for the next mark
    };

    SourceLocation location_;
    std::vector<NamedNodes> stretches_;
    std::vector<Level> levels_;
};

} // namespace cudag::detail
