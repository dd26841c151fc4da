// What control.hpp and the environment say about the schedule of unordered work.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cudart_cpu::detail {

/// From what the order of one graph launch is drawn.
struct Draw {
    std::uint64_t seed;   ///< set_seed(), else CUDART_CPU_SEED, else 0
    std::uint64_t launch; ///< how many launches there were since the seed was set
};
/// For the next launch: equal seeds and equal launches since draw equal orders.
Draw next_draw();
/// The workers in force: set_workers(), else CUDART_CPU_WORKERS, else the number of cores; at least 1.
unsigned schedule_workers();
/// Names the nodes of a launch in the order in which it drew them.
using OrderNames = std::function<std::vector<std::string>()>;
/// Keeps the order of a finished launch for last_order(); prints it to stderr under CUDART_CPU_TRACE=1.
void note_order(OrderNames names);

} // namespace cudart_cpu::detail
