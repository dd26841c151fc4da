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

} // namespace

std::vector<std::uint32_t> draw_order(const LaunchShape& shape, Draw draw) {
    const std::size_t count = shape.dependencies.size();
    // The seed is mixed before the launch is added, so that seed 1's second launch is not seed 2's first.
    Generator generator(Generator(draw.seed)() + draw.launch);
    std::vector<std::uint64_t> priorities(count);
    for (std::uint64_t& priority : priorities)
        priority = generator();

    std::priority_queue<std::pair<std::uint64_t, std::uint32_t>> ready;
    const auto add = [&](std::uint32_t node) { ready.emplace(priorities[node], node); };
    Readiness readiness(shape);
    readiness.start(add);
    std::vector<std::uint32_t> order;
    order.reserve(count);
    while (!ready.empty()) {
        const std::uint32_t node = ready.top().second;
        ready.pop();
        order.push_back(node);
        readiness.finish(node, add);
    }
    return order;
}

} // namespace cudart_cpu::detail
