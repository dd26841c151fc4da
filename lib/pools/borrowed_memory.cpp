// Memory that the nodes of graphs borrow, asked from the driver.
#include "borrowed_memory.hpp"

#include "cuda/compat.hpp"
#include "cuda/failure.hpp"
#include "cuda/version.hpp"
#include "exec/exec_nodes.hpp"
#include "exec/exec_state.hpp"
#include "graph/construction.hpp"
#include "graph/for_each_graph.hpp"
#include "graph/graph_locks.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_state.hpp"
#include "graph/names.hpp"
#include "graph/node_place.hpp"
#include "memory/pool_state.hpp"
#include "node/kernel.hpp"
#include "node/node_params.hpp"

#include <cudag/error.hpp>

#include <fmt/format.h>

#include <cuda.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace cudag::detail {

namespace {

/// Returns CUDA's number of the allocation at `address`; 0 if CUDA knows none.
std::uint64_t buffer_id(std::uintptr_t address) noexcept {
    static const auto query = [] { // a constant
        void* found = nullptr;
        ignore(compat::driver_entry_point("cuPointerGetAttribute", oldest_version, &found));
        return reinterpret_cast<decltype(&::cuPointerGetAttribute)>(found);
    }();
    unsigned long long id = 0;
    if (query == nullptr || query(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, address) != CUDA_SUCCESS) return 0;
    return id;
}

/// Calls `visit(address)` for the addresses of memory in the parameters of a node.
template <class Visit>
void for_each_address(const NodeParams& params, const Visit& visit) {
    if (const auto* const* kernel = std::get_if<const KernelParams*>(&params))
        for_each_access(**kernel, [&](const UsedRange& range) { visit(range.begin); });
    else
        for_each_block(params, [&](const ArgumentAccess& access) { visit(access.block.begin); });
}

} // namespace

std::uint64_t BorrowedMemory::number_at(std::uintptr_t address) const noexcept {
    const PoolState::Place place = PoolState::place_of(reinterpret_cast<const void*>(address));
    if (place.pool == nullptr) return buffer_id(address);
    if (std::ranges::find(kept_, place.pool) != kept_.end()) return 0;
    constexpr std::uint64_t of_pools = std::uint64_t{1} << 63U;
    return place.block == 0 ? 0 : of_pools + place.block;
}

void BorrowedMemory::note(const GraphState& graph) {
    read_all(graph);
    const auto lock = lock_of(graph);
    for_each_graph(graph, [&](const GraphState& each) {
        const auto count = static_cast<std::uint32_t>(records_of(each).nodes().size());
        for (std::uint32_t i = 0; i < count; ++i)
            for_each_address(records_of(each).params(i), [&](std::uintptr_t address) {
                if (const std::uint64_t number = number_at(address); number != 0) numbers_.emplace(address, number);
            });
    });
}

void BorrowedMemory::check(const ExecState& exec) {
    read_all(exec.source());
    read_all(exec.effective().basis());
    const GraphLocks locks(exec.source(), exec.effective().basis());
    for_each_graph(exec.source(), [&](const GraphState& each) {
        const auto count = static_cast<std::uint32_t>(records_of(each).nodes().size());
        for (std::uint32_t i = 0; i < count; ++i)
            check(exec, {&each, i});
    });
}

void BorrowedMemory::check(const ExecState& exec, const NodePlace& node) {
    const bool is_updated = !exec.uploaded() && exec.effective().find_shadow(node) != nullptr;
    for_each_address(exec.effective().of(node), [&](std::uintptr_t address) {
        const auto known = numbers_.find(address);
        const std::uint64_t number = number_at(address);
        const bool is_new = is_updated && number != 0; // other memory, given by the update
        if (known != numbers_.end() && !is_new && number != known->second)
            refuse<Error>(
                fmt::format("{} borrows memory at {:#x}, which has been freed; keep it until the last launch: "
                            "give the node its owner, or let the graph retain it",
                            node.describe(), address),
                {"launch of an Exec of " + describe_graph(exec.source()),
                 {construction_of(exec.source()).name, std::string(node.record().label)},
                 node.record().location},
                cudaErrorIllegalAddress);
        if (number != 0) numbers_[address] = number;
    });
}

} // namespace cudag::detail
