// Nodes that signal external semaphores, or wait for them.
#include "semaphores.hpp"

#include "comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace cudag::detail {

namespace {

constexpr CUgraphNodeType type_of_semaphores(bool signals) noexcept {
    return signals ? CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL : CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT;
}

/// The arrays to which CUDA's parameters of a node refer.
template <class Operation>
struct SemaphoreArrays {
    explicit SemaphoreArrays(std::span<const SemaphoreOperation> list) : operations(list.size()) {
        for (std::size_t i = 0; i < list.size(); ++i) {
            semaphores.push_back(reinterpret_cast<CUexternalSemaphore>(list[i].semaphore)); // the same object
            operations[i].params.fence.value = list[i].value;
        }
    }
    template <class Native>
    void put(Native& native) noexcept {
        native.extSemArray = semaphores.data();
        native.paramsArray = operations.data();
        native.numExtSems = static_cast<unsigned>(operations.size());
    }

    std::vector<CUexternalSemaphore> semaphores;
    std::vector<Operation> operations;
};

/// Calls `use` with CUDA's parameters of a node.
template <class Use>
NativeResult use_native(const SemaphoreParams& semaphores, const Use& use) {
    CUgraphNodeParams params = native_params(type_of_semaphores(semaphores.signals));
    if (semaphores.signals) {
        SemaphoreArrays<CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS> arrays(semaphores.list());
        arrays.put(params.extSemSignal);
        return use(params);
    }
    SemaphoreArrays<CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS> arrays(semaphores.list());
    arrays.put(params.extSemWait);
    return use(params);
}

template <class Native>
SemaphoreParams read_list(const Native& native, bool signals, std::pmr::memory_resource& memory) {
    const std::size_t bytes = native.numExtSems * sizeof(SemaphoreOperation);
    auto* list = static_cast<SemaphoreOperation*>(memory.allocate(bytes, alignof(SemaphoreOperation)));
    for (unsigned i = 0; i < native.numExtSems; ++i)
        list[i] = {reinterpret_cast<cudaExternalSemaphore_t>(native.extSemArray[i]),
                   native.paramsArray[i].params.fence.value};
    return {signals, native.numExtSems, list};
}

} // namespace

std::string problem_of(const SemaphoreParams& semaphores) {
    if (semaphores.count == 0) return "a list of 0 semaphores; leave the node out";
    for (std::uint32_t i = 0; i < semaphores.count; ++i)
        if (semaphores.operations[i].semaphore == nullptr)
            return fmt::format("semaphore {} of {} is null or was moved from", i, semaphores.count);
    return {};
}

NativeResult add_native(cudaGraphNode_t& node, cudaGraph_t graph, const SemaphoreParams& semaphores) {
    return use_native(semaphores, [&](CUgraphNodeParams& params) { return add_native(node, graph, params); });
}

NativeResult set_native(const NodeTarget& target, const SemaphoreParams& semaphores) {
    return use_native(semaphores, [&](CUgraphNodeParams& params) { return set_native(target, params); });
}

SemaphoreParams read_semaphores(cudaGraphNode_t node, bool signals, std::pmr::memory_resource& memory) {
    const CUgraphNodeParams params = read_native_node(node, type_of_semaphores(signals));
    return signals ? read_list(params.extSemSignal, signals, memory) : read_list(params.extSemWait, signals, memory);
}

void OperationFields::compare(const SemaphoreParams& before, const SemaphoreParams& after, Differences& found) {
    for (std::uint32_t i = 0; i < std::min(before.count, after.count); ++i) {
        Comparison visit(before.operations[i], after.operations[i], found);
        fields(before.operations[i], visit);
    }
}

void OperationFields::add_to(Hash& hash, const SemaphoreParams& semaphores, HashedFields which) noexcept {
    if (which != HashedFields::changing) return;
    for (const SemaphoreOperation& operation : semaphores.list()) {
        hash.add(static_cast<const void*>(operation.semaphore));
        hash.add(operation.value);
    }
}

} // namespace cudag::detail
