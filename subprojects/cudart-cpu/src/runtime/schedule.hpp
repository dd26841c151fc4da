// The schedule of unordered work, as set by control.hpp and the environment.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cudart_cpu::detail {

/// The origin of the drawn order of one graph launch.
struct Draw {
    std::uint64_t seed;   ///< set_seed(), else CUDART_CPU_SEED, else 0
    std::uint64_t launch; ///< number of launches since the seed was set
};
/// Returns the draw of the next launch. The same seed, followed by the same launches, draws the same orders.
Draw next_draw();
/// The number of workers in effect: set_workers(), else CUDART_CPU_WORKERS, else the number of cores; at least 1.
unsigned schedule_workers();
/// Names the nodes of a launch in their drawn order.
using OrderNames = std::function<std::vector<std::string>()>;
/// Keeps the order of a finished launch for last_order(); prints it to stderr under CUDART_CPU_TRACE=1.
void note_order(OrderNames names);

} // namespace cudart_cpu::detail
