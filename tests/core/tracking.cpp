// Of which nodes it is known what they do to memory, and which stay where they are.
#include "order/tracking.hpp"

#include "catch.hpp"
#include "empty_graph.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

using cudag::NodeKind;
using cudag::StayReason;
using cudag::detail::AccessMode;
using cudag::detail::ArgumentAccess;
using cudag::detail::GraphState;
using cudag::detail::KernelParams;
using cudag::detail::KernelSignature;
using cudag::detail::Parameter;
using cudag::detail::ParameterType;
using cudag::detail::Place;
using cudag::detail::TypeTag;

namespace {

const TypeTag& some_type = *cudag::detail::SignatureOf<int>::value.parameters[0].cpp_type;

/// Why a kernel stays whose only parameter is this one, all of whose bytes have `value`; nothing else is known of it.
StayReason why_it_stays(const Parameter& parameter, std::byte value = std::byte{1}) {
    const KernelSignature signature{&parameter, 1, 64};
    alignas(std::max_align_t) std::array<std::byte, 64> values{};
    values.fill(value);
    KernelParams kernel{};
    kernel.signature = &signature;
    kernel.values = values.data();
    const auto graph = empty_graph();
    add_node(*graph, {NodeKind::kernel, &kernel, {}, {}});
    const std::optional<cudag::detail::Untracked> why = cudag::detail::why_untracked(*graph, 0);
    REQUIRE(why);
    return why->reason;
}

bool keeps_place(NodeKind kind) {
    const auto graph = empty_graph();
    add_node(*graph, {kind, {}, {}, {}});
    return cudag::detail::keeps_place(*graph, 0);
}

} // namespace

TEST_CASE("a kernel stays for an argument that may be an address, or be an object that holds one", "[core][relax]") {
    for (const ParameterType type : {ParameterType::object, ParameterType::pointer, ParameterType::span})
        CHECK(why_it_stays({0, 8, type, &some_type}) == StayReason::untracked);
    CHECK(why_it_stays({0, 8, ParameterType::object, nullptr}) == StayReason::untracked);
    CHECK(why_it_stays({0, 8, ParameterType::unsigned_integer, nullptr}) ==
          StayReason::untracked); // CUDA tells no type
    CHECK(why_it_stays({0, 8, ParameterType::condition, &some_type}) == StayReason::condition);
    for (const ParameterType type :
         {ParameterType::signed_integer, ParameterType::unsigned_integer, ParameterType::floating_point})
        CHECK(why_it_stays({0, 8, type, &some_type}) == StayReason::undeclared);
    CHECK(why_it_stays({0, 8, ParameterType::object, &some_type}, std::byte{}) == StayReason::undeclared);
}

TEST_CASE("an object may hold an address if its size and its place are those of pointers", "[core][relax]") {
    for (const std::uint32_t size : {4U, 8U, 12U, 16U})
        for (const std::uint32_t offset : {0U, 4U, 8U, 20U}) {
            CAPTURE(size, offset);
            const bool may_hold = size % 8 == 0 && offset % 8 == 0;
            CHECK(why_it_stays({offset, size, ParameterType::object, &some_type}) ==
                  (may_hold ? StayReason::untracked : StayReason::undeclared));
        }
}

TEST_CASE("nodes that order work outside the graph keep their place, and those around them", "[core][relax]") {
    for (const NodeKind kind : {NodeKind::record_event, NodeKind::wait_event, NodeKind::signal_semaphore,
                                NodeKind::wait_semaphore, NodeKind::batch_mem_op})
        CHECK(keeps_place(kind));
    for (const NodeKind kind : {NodeKind::kernel, NodeKind::memcpy, NodeKind::memset, NodeKind::host, NodeKind::child,
                                NodeKind::empty, NodeKind::alloc, NodeKind::free, NodeKind::conditional})
        CHECK_FALSE(keeps_place(kind));
    const auto inside = empty_graph();
    add_node(*inside);
    add_node(*inside, {NodeKind::signal_semaphore, {}, {}, {}});
    const auto graph = empty_graph();
    add_node(*graph, {NodeKind::child, {}, {}, {}});
    graph->reserve_nested(*inside);
    graph->attach(inside, 0, Place::child);
    CHECK(cudag::detail::keeps_place(*graph, 0));
}

TEST_CASE("kernels that other kernels may change keep their place", "[core][relax]") {
    const cudag::LaunchConfig fixed{.priority = -1}, updatable{.device_updatable = true};
    for (const cudag::LaunchConfig* attributes : {&fixed, &updatable}) {
        KernelParams kernel{};
        kernel.signature = &cudag::detail::SignatureOf<>::value;
        kernel.attributes = attributes;
        const auto graph = empty_graph();
        add_node(*graph, {NodeKind::kernel, &kernel, {}, {}});
        CHECK(cudag::detail::keeps_place(*graph, 0) == (attributes == &updatable));
    }
}
