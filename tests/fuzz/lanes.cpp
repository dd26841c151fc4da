// Acts in several streams.
#include "lanes.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace {

/// Adds what step `to` comes after: the last of its lane, what it waits for, and, first in its lane, all of lane 0.
void add_edges(Order& order, const std::vector<LaneStep>& steps, std::size_t to) {
    bool is_first = true;
    for (std::size_t from = 0; from < to; ++from)
        if (steps[from].lane == steps[to].lane) {
            is_first = false;
            order.add(from, to);
        }
    if (is_first)
        for (std::size_t from = 0; from < to; ++from)
            if (steps[from].lane == 0) order.add(from, to);
    for (const unsigned from : steps[to].waits)
        order.add(from, to);
    order.close();
}

} // namespace

std::vector<LaneStep> draw_lanes(const std::vector<Accesses>& nodes, const std::vector<bool>& written, Random& random) {
    const unsigned lanes = random.between(1, Bench::lanes);
    std::vector<LaneStep> steps;
    Order order(nodes.size());
    for (unsigned to = 0; to < nodes.size(); ++to) {
        steps.push_back({written[to] ? 0 : random.below(lanes), {}});
        add_edges(order, steps, to);
        for (unsigned from = to; from-- > 0;) {
            const bool is_needed = conflict(nodes[from], nodes[to]) && !order.before(from, to);
            if (!is_needed && !random.percent(4)) continue;
            steps[to].waits.push_back(from);
            add_edges(order, steps, to);
        }
    }
    return steps;
}

Order order_of_lanes(const std::vector<LaneStep>& steps) {
    Order order(steps.size());
    for (std::size_t to = 0; to < steps.size(); ++to)
        add_edges(order, steps, to);
    return order;
}

void record_lanes(cudag::StreamCapture& c, const Bench& bench, const std::vector<LaneStep>& steps,
                  const std::function<void(unsigned, cudaStream_t)>& record) {
    std::array<bool, Bench::lanes> used{true};
    for (unsigned i = 0; i < steps.size(); ++i) {
        const LaneStep& step = steps[i];
        const cudag::Stream& stream = bench.captured[step.lane];
        if (!std::exchange(used[step.lane], true)) c.fork(stream);
        for (const unsigned earlier : step.waits)
            cudag::check(cudaStreamWaitEvent(stream.get(), bench.recorded[earlier].get(), 0));
        record(i, stream.get());
        cudag::check(cudaEventRecord(bench.recorded[i].get(), stream.get()));
    }
    for (unsigned lane = 1; lane < Bench::lanes; ++lane)
        if (used[lane]) c.join(bench.captured[lane]);
}
