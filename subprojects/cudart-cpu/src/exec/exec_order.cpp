// The order in which a launch starts its nodes.
#include "exec_order.hpp"

#include "exec_readiness.hpp"

#include <queue>
#include <utility>

namespace cudart_cpu::detail {

namespace {

/// SplitMix64: the same numbers on every machine, unlike the distributions of <random>.
class Generator {
  public:
    explicit Generator(std::uint64_t state) noexcept : state_(state) {}

    std::uint64_t operator()() noexcept {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

  private:
    std::uint64_t state_;
};

class Drawing {
  public:
    Drawing(const LaunchShape& shape, const std::vector<std::uint64_t>& priorities)
        : shape_(shape), priorities_(priorities), readiness_(shape), drawn_(priorities.size()) {}

    std::vector<std::uint32_t> run() {
        order_.reserve(drawn_.size());
        readiness_.start([this](std::uint32_t node) { add(node); });
        while (!ready_.empty()) {
            const std::uint32_t node = ready_.top().second;
            ready_.pop();
            draw(node);
        }
        return std::move(order_);
    }

  private:
    void add(std::uint32_t node) { ready_.emplace(priorities_[node], node); }

    /// A kernel drawn first starts before its producers, but never ends before them.
    void draw(std::uint32_t node) {
        if (drawn_[node]) return;
        drawn_[node] = true;
        order_.push_back(node);
        for (const std::uint32_t producer : shape_.producers[node])
            draw(producer);
        readiness_.finish(node, [this](std::uint32_t next) { add(next); });
    }

    const LaunchShape& shape_;
    const std::vector<std::uint64_t>& priorities_;
    Readiness readiness_;
    std::priority_queue<std::pair<std::uint64_t, std::uint32_t>> ready_;
    std::vector<bool> drawn_;
    std::vector<std::uint32_t> order_;
};

} // namespace

std::vector<std::uint32_t> draw_order(const LaunchShape& shape, Draw draw) {
    const std::size_t count = shape.dependencies.size();
    // The seed is mixed before the launch is added, so seed 1's second launch differs from seed 2's first.
    Generator generator(Generator(draw.seed)() + draw.launch);
    std::vector<std::uint64_t> priorities(count);
    for (std::uint64_t& priority : priorities)
        priority = generator();

    Drawing drawing(shape, priorities);
    return drawing.run();
}

} // namespace cudart_cpu::detail
