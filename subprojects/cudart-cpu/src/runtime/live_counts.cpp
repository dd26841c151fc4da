// The implementation of control.hpp's live().
#include "live_counts.hpp"

#include <cudart_cpu/control.hpp>

namespace cudart_cpu {

LiveCounts live() {
    using detail::Kind;
    const auto count = [](Kind kind) { return detail::live_counter(kind).load(std::memory_order_relaxed); };
    return {
        count(Kind::stream), count(Kind::event),      count(Kind::device_allocation), count(Kind::host_allocation),
        count(Kind::graph),  count(Kind::graph_exec), count(Kind::user_object),       count(Kind::external_semaphore)};
}

} // namespace cudart_cpu
