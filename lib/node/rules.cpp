// The rules of each kind of node, as CUDA 13.0 has them.
#include "rules.hpp"

#include <algorithm>
#include <array>

namespace cudag {

namespace detail {

namespace {

constexpr bool yes = true;
constexpr bool no = false;

// clang-format off
constexpr std::array rules{
    //                                 name               shape     in a body, in a child, disabled, cloned, several execs, launched by kernels
    KindRules{NodeKind::kernel,           "kernel",           "box",     yes, yes, yes, yes, yes, DeviceLaunch::work},
    KindRules{NodeKind::memcpy,           "memcpy",           "ellipse", yes, yes, yes, yes, yes, DeviceLaunch::work},
    KindRules{NodeKind::memset,           "memset",           "ellipse", yes, yes, yes, yes, yes, DeviceLaunch::work},
    KindRules{NodeKind::host,             "host",             "hexagon", no,  yes, no,  yes, yes, DeviceLaunch::refused},
    KindRules{NodeKind::child,            "child",            "ellipse", yes, yes, no,  yes, yes, DeviceLaunch::allowed},
    KindRules{NodeKind::empty,            "empty",            "diamond", yes, yes, no,  yes, yes, DeviceLaunch::refused},
    KindRules{NodeKind::wait_event,       "wait_event",       "ellipse", no,  yes, no,  yes, yes, DeviceLaunch::refused},
    KindRules{NodeKind::record_event,     "record_event",     "ellipse", no,  yes, no,  yes, yes, DeviceLaunch::refused},
    KindRules{NodeKind::signal_semaphore, "signal_semaphore", "ellipse", no,  yes, no,  yes, yes, DeviceLaunch::refused},
    KindRules{NodeKind::wait_semaphore,   "wait_semaphore",   "ellipse", no,  yes, no,  yes, yes, DeviceLaunch::refused},
    KindRules{NodeKind::alloc,            "alloc",            "ellipse", no,  yes, no,  no,  no,  DeviceLaunch::refused},
    KindRules{NodeKind::free,             "free",             "ellipse", no,  yes, no,  no,  no,  DeviceLaunch::refused},
    KindRules{NodeKind::conditional,      "conditional",      "ellipse", yes, no,  no,  no,  no,  DeviceLaunch::refused},
};
// clang-format on

/// Whether CUDA takes it is for CUDA to say where it does no harm.
constexpr KindRules unknown{NodeKind(~0U), "unknown", "ellipse", no, yes, no, yes, yes, DeviceLaunch::refused};

} // namespace

const KindRules& rules_of(NodeKind kind) noexcept {
    const auto* const row = std::ranges::find(rules, kind, &KindRules::kind);
    return row == rules.end() ? unknown : *row;
}

} // namespace detail

std::string_view to_string(NodeKind kind) noexcept {
    return detail::rules_of(kind).name;
}

} // namespace cudag
