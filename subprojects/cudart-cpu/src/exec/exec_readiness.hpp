// The readiness of a launch's nodes to run.
#pragma once

#include "exec_flat.hpp"

namespace cudart_cpu::detail {

/// Makes each node ready once: when its dependencies have finished and its producers are ready. A producer at the end
/// of a long line of nodes waiting for each other must have finished first: otherwise its consumer would run it on top
/// of its own stack.
class Readiness {
  public:
    explicit Readiness(const LaunchShape& shape);

    /// Calls `ready` with each node that is ready at the beginning.
    template <class Ready>
    void start(Ready&& ready) {
        for (std::uint32_t node = 0; node < missing_.size(); ++node)
            if (shape_.dependencies[node].empty() && shape_.producers[node].empty()) make_ready(node, ready);
    }

    /// Calls `ready` with each node made ready by the end of `node`.
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
    std::vector<unsigned char> line_; // for a ready node, the length of the longest line of producers before it
    std::vector<std::uint32_t> open_;
};

} // namespace cudart_cpu::detail
