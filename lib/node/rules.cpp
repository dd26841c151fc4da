// CUDA's rules for each kind of node, as of CUDA 13.0.
#include "rules.hpp"

#include "cuda/driver.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

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
SetParams read_fill(Native node, Memory&) {
    return read_set(node);
}
HostParams read_host_call(Native node, Memory&) {
    return read_host(node);
}
template <bool records>
EventParams read_event_of(Native node, Memory&) {
    return read_event(node, records);
}
template <bool signals>
SemaphoreParams read_semaphores_of(Native node, Memory& memory) {
    return read_semaphores(node, signals, memory);
}
AllocParams read_allocation(Native node, Memory&) {
    return read_alloc(node);
}
NodeParams read_any_memory_operations(Native node, Memory& memory) {
    const std::optional<MemoryOperationParams> found = read_memory_operations(node, memory);
    return found ? store(memory, *found) : NodeParams();
}
CopyBatchParams read_copies(Native node, Memory& memory) {
    return read_copy_batch(node, memory);
}
FreeParams read_freed(Native node, Memory&) {
    return read_free(node);
}

/// The bit of an alternative of NodeParams.
template <class Params, std::size_t index = 0>
constexpr unsigned bit_of() {
    static_assert(index < std::variant_size_v<NodeParams>, "NodeParams have no such alternative");
    if constexpr (std::is_same_v<std::variant_alternative_t<index, NodeParams>, Params>)
        return 1U << index;
    else
        return bit_of<Params, index + 1>();
}

/// The permitted alternatives of a kind, and the reader of CUDA's parameters.
struct Described {
    unsigned alternatives;
    NodeParams (*read)(Native node, Memory& memory);
};
/// A kind with one alternative, read by `read`.
template <auto read>
constexpr Described read_by() {
    using Params = decltype(read(Native(), std::declval<Memory&>()));
    return {bit_of<const Params*>(), [](Native node, Memory& memory) { return store(memory, read(node, memory)); }};
}
/// A kind with other alternatives, and their reader, or none.
template <class... Params>
constexpr Described made_as(NodeParams (*read)(Native, Memory&) = nullptr) {
    return {(bit_of<Params>() | ...), read};
}
constexpr Described not_described = made_as<std::monostate>();

constexpr KindRules row(NodeKind kind, std::string_view name, const char* shape, const char* color, bool in_body,
                        bool in_child, bool disabled, bool cloned, bool execs, DeviceLaunch launch, Effects effects,
                        const Described& described) {
    return {kind,          name,   shape, color,  in_body, in_child,
            disabled,      cloned, execs, launch, effects, described.alternatives,
            described.read};
}

constexpr bool yes = true;
constexpr bool no = false;

// clang-format off
constexpr std::array rules_of_kinds{
    //                              name               shape      color      in a body, in a child, disabled, cloned, several execs, launched by kernels, effects, described
    row(NodeKind::kernel,           "kernel",           "box", "#cfe2f3",     yes, yes, yes, yes, yes, DeviceLaunch::work,    Effects::arguments,  made_as<const KernelParams*>()),
    row(NodeKind::memcpy,           "memcpy",           "ellipse", "#d9ead3", yes, yes, yes, yes, yes, DeviceLaunch::work,    Effects::operands,   made_as<const CopyParams*, const cudaMemcpy3DParms*>(read_any_copy)),
    row(NodeKind::memset,           "memset",           "ellipse", "#d0e0e3", yes, yes, yes, yes, yes, DeviceLaunch::work,    Effects::operands,   read_by<read_fill>()),
    row(NodeKind::host,             "host",             "hexagon", "#fce5cd", no,  yes, no,  yes, yes, DeviceLaunch::refused, Effects::undeclared, read_by<read_host_call>()),
    row(NodeKind::child,            "child",            "ellipse", "#eeeeee", yes, yes, no,  yes, yes, DeviceLaunch::allowed, Effects::inside,     not_described),
    row(NodeKind::empty,            "empty",            "diamond", "#ffffff", yes, yes, no,  yes, yes, DeviceLaunch::refused, Effects::nothing,    not_described),
    row(NodeKind::wait_event,       "wait_event",       "ellipse", "#fff2cc", no,  yes, no,  yes, yes, DeviceLaunch::refused, Effects::outside,    read_by<read_event_of<false>>()),
    row(NodeKind::record_event,     "record_event",     "ellipse", "#fff2cc", no,  yes, no,  yes, yes, DeviceLaunch::refused, Effects::outside,    read_by<read_event_of<true>>()),
    row(NodeKind::signal_semaphore, "signal_semaphore", "ellipse", "#fff2cc", no,  yes, no,  yes, yes, DeviceLaunch::refused, Effects::outside,    read_by<read_semaphores_of<true>>()),
    row(NodeKind::wait_semaphore,   "wait_semaphore",   "ellipse", "#fff2cc", no,  yes, no,  yes, yes, DeviceLaunch::refused, Effects::outside,    read_by<read_semaphores_of<false>>()),
    row(NodeKind::alloc,            "alloc",            "ellipse", "#ead1dc", no,  yes, no,  no,  no,  DeviceLaunch::refused, Effects::nothing,    read_by<read_allocation>()),
    row(NodeKind::free,             "free",             "ellipse", "#ead1dc", no,  yes, no,  no,  no,  DeviceLaunch::refused, Effects::nothing,    read_by<read_freed>()),
    row(NodeKind::batch_mem_op,     "batch_mem_op",     "ellipse", "#fff2cc", no,  yes, no,  yes, yes, DeviceLaunch::refused, Effects::visible,    made_as<const MemoryOperationParams*, std::monostate>(read_any_memory_operations)),
    row(NodeKind::conditional,      "conditional",      "ellipse", "#d9d2e9", yes, no,  no,  no,  no,  DeviceLaunch::refused, Effects::condition,  made_as<const ConditionalParams*, std::monostate>()),
    row(NodeKind::memcpy_batch,     "memcpy_batch",     "ellipse", "#d9ead3", no,  yes, yes, yes, yes, DeviceLaunch::refused, Effects::operands,   read_by<read_copies>()),
};

/// The row of unknown kinds: CUDA decides about their uses, as far as that is harmless.
constexpr KindRules unknown_kind = row(NodeKind(~0U), "unknown", "ellipse", "#eeeeee", no, yes, no, yes, yes, DeviceLaunch::refused, Effects::undeclared, not_described);
// clang-format on

/// Whether a value has an enumerator: compilers print a value without one as a cast.
template <NodeKind kind>
constexpr bool has_enumerator() {
    return std::string_view(__PRETTY_FUNCTION__).find("NodeKind)") == std::string_view::npos;
}
constexpr unsigned most_kinds = 64;
template <unsigned... value>
constexpr std::size_t enumerators(std::integer_sequence<unsigned, value...>) {
    return (std::size_t{has_enumerator<static_cast<NodeKind>(value)>()} + ...);
}
constexpr bool are_rows_in_order() {
    for (std::size_t i = 0; i < rules_of_kinds.size(); ++i)
        if (static_cast<std::size_t>(rules_of_kinds[i].kind) != i) return false;
    return rules_of_kinds.size() < most_kinds;
}
constexpr unsigned described_alternatives() {
    unsigned all = 0;
    for (const KindRules& rules : rules_of_kinds)
        all |= rules.alternatives;
    return all;
}
constexpr unsigned alternatives_by(Effects effects) {
    unsigned all = 0;
    for (const KindRules& rules : rules_of_kinds)
        if (rules.effects == effects) all |= rules.alternatives;
    return all;
}

struct IgnoredAccess {
    void operator()(const ArgumentAccess&) const noexcept {}
};
/// The alternatives with operands in memory.
template <class... Block>
constexpr unsigned alternatives_with_regions(const std::variant<std::monostate, const Block*...>* /*params*/) {
    unsigned all = 0;
    ((all |= requires(const Block& block) { for_each_block(block, IgnoredAccess()); } ? bit_of<const Block*>() : 0),
     ...);
    return all;
}

static_assert(are_rows_in_order(), "the row of a kind is not at its value");
static_assert(enumerators(std::make_integer_sequence<unsigned, most_kinds>()) == rules_of_kinds.size(),
              "an enumerator of NodeKind has no row");
static_assert(described_alternatives() == (1U << std::variant_size_v<NodeParams>)-1,
              "no kind has an alternative of NodeParams");
static_assert(
    alternatives_with_regions(static_cast<const NodeParams*>(nullptr)) ==
        (alternatives_by(Effects::operands) | (alternatives_by(Effects::visible) & ~bit_of<std::monostate>())),
    "a kind has Effects::operands or visible without a function for_each_block, or such a function without it");
static_assert(static_cast<unsigned>(NodeKind::batch_mem_op) == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
static_assert(static_cast<unsigned>(NodeKind::memcpy_batch) == compat::copy_batch_type);

} // namespace

const KindRules& rules_of(NodeKind kind) noexcept {
    const auto row = static_cast<std::size_t>(kind);
    return row < rules_of_kinds.size() ? rules_of_kinds[row] : unknown_kind;
}

NodeKind kind_of(cudaGraphNode_t node) {
    CUgraphNodeType type{};
    checked_driver<GraphError>(driver().graph_node_get_type(node, &type), "cuGraphNodeGetType");
    return static_cast<NodeKind>(type); // equal values
}

} // namespace detail

std::string_view to_string(NodeKind kind) noexcept {
    return detail::rules_of(kind).name;
}

} // namespace cudag
