// The rules of each kind of node, as CUDA 13.0 has them.
#include "rules.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace cudag {

namespace detail {

namespace {

template <class Params>
NodeParams store(std::pmr::memory_resource& memory, const Params& params) {
    return new (memory.allocate(sizeof(Params), alignof(Params))) const Params(params);
}

using Native = cudaGraphNode_t;
using Memory = std::pmr::memory_resource;

NodeParams read_any_copy(Native node, Memory& memory) {
    const cudaMemcpy3DParms native = read_copy(node);
    const std::optional<CopyParams> copy = to_copy(native);
    return copy ? store(memory, *copy) : store(memory, native);
}

constexpr bool yes = true;
constexpr bool no = false;

// clang-format off
constexpr std::array rules_of_kinds{
    //                                 name               shape     in a body, in a child, disabled, cloned, several execs, launched by kernels, read
    KindRules{NodeKind::kernel,           "kernel",           "box",     yes, yes, yes, yes, yes, DeviceLaunch::work,    nullptr},
    KindRules{NodeKind::memcpy,           "memcpy",           "ellipse", yes, yes, yes, yes, yes, DeviceLaunch::work,    read_any_copy},
    KindRules{NodeKind::memset,           "memset",           "ellipse", yes, yes, yes, yes, yes, DeviceLaunch::work,    [](Native n, Memory& m) { return store(m, read_set(n)); }},
    KindRules{NodeKind::host,             "host",             "hexagon", no,  yes, no,  yes, yes, DeviceLaunch::refused, [](Native n, Memory& m) { return store(m, read_host(n)); }},
    KindRules{NodeKind::child,            "child",            "ellipse", yes, yes, no,  yes, yes, DeviceLaunch::allowed, nullptr},
    KindRules{NodeKind::empty,            "empty",            "diamond", yes, yes, no,  yes, yes, DeviceLaunch::refused, nullptr},
    KindRules{NodeKind::wait_event,       "wait_event",       "ellipse", no,  yes, no,  yes, yes, DeviceLaunch::refused, [](Native n, Memory& m) { return store(m, read_event(n, false)); }},
    KindRules{NodeKind::record_event,     "record_event",     "ellipse", no,  yes, no,  yes, yes, DeviceLaunch::refused, [](Native n, Memory& m) { return store(m, read_event(n, true)); }},
    KindRules{NodeKind::signal_semaphore, "signal_semaphore", "ellipse", no,  yes, no,  yes, yes, DeviceLaunch::refused, [](Native n, Memory& m) { return store(m, read_semaphores(n, true, m)); }},
    KindRules{NodeKind::wait_semaphore,   "wait_semaphore",   "ellipse", no,  yes, no,  yes, yes, DeviceLaunch::refused, [](Native n, Memory& m) { return store(m, read_semaphores(n, false, m)); }},
    KindRules{NodeKind::alloc,            "alloc",            "ellipse", no,  yes, no,  no,  no,  DeviceLaunch::refused, [](Native n, Memory& m) { return store(m, read_alloc(n)); }},
    KindRules{NodeKind::free,             "free",             "ellipse", no,  yes, no,  no,  no,  DeviceLaunch::refused, [](Native n, Memory& m) { return store(m, read_free(n)); }},
    KindRules{NodeKind::conditional,      "conditional",      "ellipse", yes, no,  no,  no,  no,  DeviceLaunch::refused, nullptr},
};
// clang-format on

/// Whether CUDA takes it is for CUDA to say where it does no harm.
constexpr KindRules unknown{NodeKind(~0U), "unknown", "ellipse", no, yes, no, yes, yes, DeviceLaunch::refused, nullptr};

} // namespace

const KindRules& rules_of(NodeKind kind) noexcept {
    const auto* const row = std::ranges::find(rules_of_kinds, kind, &KindRules::kind);
    return row == rules_of_kinds.end() ? unknown : *row;
}

} // namespace detail

std::string_view to_string(NodeKind kind) noexcept {
    return detail::rules_of(kind).name;
}

} // namespace cudag
