// Which nodes of a launch may run.
#pragma once

#include "exec_flat.hpp"

namespace cudart_cpu::detail {

/// Each node becomes ready once: when its dependencies have finished and its producers are ready. A producer that is
/// the last of a long line of nodes that wait for each other must have finished: its consumer runs it on top of its own
/// stack otherwise.
class Readiness {
  public:
    explicit Readiness(const LaunchShape& shape);

    /// Calls `ready` with each node that nothing comes before.
    template <class Ready>
    void start(Ready&& ready) {
        for (std::uint32_t node = 0; node < missing_.size(); ++node)
            if (shape_.dependencies[node].empty() && shape_.producers[node].empty()) make_ready(node, ready);
    }

    /// Calls `ready` with each node that becomes ready because `node` has finished.
    template <class Ready>
    void finish(std::uint32_t node, Ready&& ready) {
        for (const std::uint32_t dependent : shape_.dependents[node])
            if (--missing_[dependent] == 0) make_ready(dependent, ready);
        if (lets_consumers_start_early(node)) return;
        for (const std::uint32_t consumer : shape_.consumers[node])
            if (--missing_[consumer] == 0) make_ready(consumer, ready);
    }

  private:
    static constexpr unsigned char longest_line = 16;

    bool lets_consumers_start_early(std::uint32_t node) const noexcept { return line_[node] < longest_line; }
    unsigned char line_before(std::uint32_t node) const noexcept;

    template <class Ready>
    void make_ready(std::uint32_t first, Ready&& ready) {
        for (open_.push_back(first); !open_.empty();) {
            const std::uint32_t node = open_.back();
            open_.pop_back();
            line_[node] = line_before(node);
            ready(node);
            if (!lets_consumers_start_early(node)) continue;
            for (const std::uint32_t consumer : shape_.consumers[node])
                if (--missing_[consumer] == 0) open_.push_back(consumer);
        }
    }

    const LaunchShape& shape_;
    std::vector<std::size_t> missing_;
    std::vector<unsigned char> line_; // of a node that is ready: how many producers may stand in a line before it
    std::vector<std::uint32_t> open_;
};

} // namespace cudart_cpu::detail
