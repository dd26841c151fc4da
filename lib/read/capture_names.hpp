// How the steps and marks of a capture name the nodes that it records.
#pragma once

#include <cudag/source_location.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace cudag::detail {

/// Nodes in a row, by the order in which they were recorded: [first, end).
struct NamedNodes {
    std::uint32_t first;
    std::uint32_t end;
    std::string label;
    SourceLocation location;
    std::size_t depth; ///< the more, the nearer to its nodes: names that are equally near have no node in common
};

/// Steps, which may stand inside each other, and marks. A node has the name of the innermost step around it; else, or
/// within that step, that of the mark after it.
class CaptureNames {
  public:
    /// `first` is the first node that the capture will record; `location` is for nodes that nothing names.
    CaptureNames(std::uint32_t first, const SourceLocation& location)
        : location_(location), levels_{{no_step, first}} {}

    /// `node` is the next one to be recorded.
    void begin_step(std::string_view label, const SourceLocation& location, std::uint32_t node) {
        stretches_.push_back({node, node, std::string(label), location, 2 * levels_.size() + 1});
        levels_.push_back({stretches_.size() - 1, node});
    }
    void end_step(std::uint32_t node) noexcept {
        stretches_[levels_.back().step].end = node;
        levels_.pop_back();
    }
    /// Forgets a step that failed.
    void drop_step() noexcept { levels_.pop_back(); }
    void mark(std::string_view label, const SourceLocation& location, std::uint32_t node) {
        Level& level = levels_.back();
        // less near than the steps that it spans
        stretches_.push_back({level.marked, node, std::string(label), location, 2 * levels_.size()});
        level.marked = node;
    }

    /// The nearest one that holds a node names it.
    [[nodiscard]] const std::vector<NamedNodes>& stretches() const noexcept { return stretches_; }
    [[nodiscard]] const SourceLocation& location() const noexcept { return location_; }

  private:
    static constexpr auto no_step = std::numeric_limits<std::size_t>::max();

    struct Level {
        std::size_t step;     ///< the stretch of the step
        std::uint32_t marked; ///< the first node that the next mark names
    };

    SourceLocation location_;
    std::vector<NamedNodes> stretches_;
    std::vector<Level> levels_;
};

} // namespace cudag::detail
