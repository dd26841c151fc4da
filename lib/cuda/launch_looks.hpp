// What looks at each Exec before its launch: nothing, in most programs.
#pragma once

#include <atomic>
#include <cstdint>

namespace cudag::detail {

/// A reason to look at Execs before their launches.
enum class LaunchLook : std::uint32_t {
    runtime = 1,  ///< the runtime may watch writes: see watched_writes.hpp
    released = 2, ///< a pool has released its memory: see released_memory.hpp
    guarded = 4,  ///< a launch guard is installed: see launch_guards.hpp
};

/// The reasons at present. A launch reads this word alone if there are none. Every runtime may watch writes until the
/// first launch has asked it, hence the 1.
inline std::atomic<std::uint32_t> launch_looks = 1;

[[nodiscard]] inline bool is_any_launch_looked_at() noexcept {
    return launch_looks.load(std::memory_order_relaxed) != 0;
}
[[nodiscard]] inline bool is_looked_for(LaunchLook look) noexcept {
    return (launch_looks.load(std::memory_order_relaxed) & static_cast<std::uint32_t>(look)) != 0;
}
inline void look_before_launches(LaunchLook look, bool on) noexcept {
    if (on)
        launch_looks.fetch_or(static_cast<std::uint32_t>(look));
    else
        launch_looks.fetch_and(~static_cast<std::uint32_t>(look));
}

} // namespace cudag::detail
