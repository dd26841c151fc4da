// Counts of live objects, for control.hpp's live().
#pragma once

#include <atomic>
#include <cstddef>

namespace cudart_cpu::detail {

enum class Kind {
    stream,
    event,
    device_allocation,
    host_allocation,
    graph,
    graph_exec,
    user_object,
    external_semaphore
};
inline constexpr std::size_t kind_count = 8;

inline std::atomic<std::size_t> live_counters[kind_count];

inline std::atomic<std::size_t>& live_counter(Kind kind) noexcept {
    return live_counters[static_cast<std::size_t>(kind)];
}

/// A member of this type counts its object as one of `kind` for as long as it lives.
template <Kind kind>
class Counted {
  public:
    Counted() noexcept { live_counter(kind).fetch_add(1, std::memory_order_relaxed); }
    Counted(const Counted&) noexcept : Counted() {}
    Counted& operator=(const Counted&) noexcept = default;
    ~Counted() { live_counter(kind).fetch_sub(1, std::memory_order_relaxed); }
};

} // namespace cudart_cpu::detail
