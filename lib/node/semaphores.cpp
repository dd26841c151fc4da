// Nodes that signal external semaphores, or wait for them.
#include "semaphores.hpp"

#include "comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace cudag::detail {

namespace {

/// CUDA's parameters of a node that signals or waits; they refer to this object.
template <class NativeNodeParams, class NativeParams>
class NativeSemaphores {
  public:
    explicit NativeSemaphores(std::span<const SemaphoreOperation> operations) : params_(operations.size()) {
        for (std::size_t i = 0; i < operations.size(); ++i) {
            semaphores_.push_back(operations[i].semaphore);
            params_[i].params.fence.value = operations[i].value;
        }
        node_.extSemArray = semaphores_.data();
        node_.paramsArray = params_.data();
        node_.numExtSems = static_cast<unsigned>(operations.size());
    }
    NativeSemaphores(const NativeSemaphores&) = delete;
    NativeSemaphores& operator=(const NativeSemaphores&) = delete;

    [[nodiscard]] const NativeNodeParams* get() const noexcept { return &node_; }

  private:
    std::vector<cudaExternalSemaphore_t> semaphores_;
    std::vector<NativeParams> params_;
    NativeNodeParams node_{};
};

using Signals = NativeSemaphores<cudaExternalSemaphoreSignalNodeParams, cudaExternalSemaphoreSignalParams>;
using Waits = NativeSemaphores<cudaExternalSemaphoreWaitNodeParams, cudaExternalSemaphoreWaitParams>;

template <class Native>
SemaphoreParams read_list(const Native& native, bool signals, std::pmr::memory_resource& memory) {
    const std::size_t bytes = native.numExtSems * sizeof(SemaphoreOperation);
    auto* list = static_cast<SemaphoreOperation*>(memory.allocate(bytes, alignof(SemaphoreOperation)));
    for (unsigned i = 0; i < native.numExtSems; ++i)
        list[i] = {native.extSemArray[i], native.paramsArray[i].params.fence.value};
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
    if (semaphores.signals)
        return {cudaGraphAddExternalSemaphoresSignalNode(&node, graph, nullptr, 0, Signals(semaphores.list()).get()),
                "cudaGraphAddExternalSemaphoresSignalNode"};
    return {cudaGraphAddExternalSemaphoresWaitNode(&node, graph, nullptr, 0, Waits(semaphores.list()).get()),
            "cudaGraphAddExternalSemaphoresWaitNode"};
}

NativeResult set_native(const NodeTarget& target, const SemaphoreParams& semaphores) {
    if (semaphores.signals) {
        const Signals native(semaphores.list());
        if (target.exec != nullptr)
            return {cudaGraphExecExternalSemaphoresSignalNodeSetParams(target.exec, target.node, native.get()),
                    "cudaGraphExecExternalSemaphoresSignalNodeSetParams"};
        return {cudaGraphExternalSemaphoresSignalNodeSetParams(target.node, native.get()),
                "cudaGraphExternalSemaphoresSignalNodeSetParams"};
    }
    const Waits native(semaphores.list());
    if (target.exec != nullptr)
        return {cudaGraphExecExternalSemaphoresWaitNodeSetParams(target.exec, target.node, native.get()),
                "cudaGraphExecExternalSemaphoresWaitNodeSetParams"};
    return {cudaGraphExternalSemaphoresWaitNodeSetParams(target.node, native.get()),
            "cudaGraphExternalSemaphoresWaitNodeSetParams"};
}

SemaphoreParams read_semaphores(cudaGraphNode_t node, bool signals, std::pmr::memory_resource& memory) {
    if (signals) {
        cudaExternalSemaphoreSignalNodeParams native{};
        checked<GraphError>(cudaGraphExternalSemaphoresSignalNodeGetParams(node, &native),
                            "cudaGraphExternalSemaphoresSignalNodeGetParams");
        return read_list(native, signals, memory);
    }
    cudaExternalSemaphoreWaitNodeParams native{};
    checked<GraphError>(cudaGraphExternalSemaphoresWaitNodeGetParams(node, &native),
                        "cudaGraphExternalSemaphoresWaitNodeGetParams");
    return read_list(native, signals, memory);
}

std::size_t trailing_bytes(const SemaphoreParams& semaphores) noexcept {
    return semaphores.count * sizeof(SemaphoreOperation);
}

void copy_trailing(const SemaphoreParams& from, SemaphoreParams& copy, std::byte* place) noexcept {
    copy.operations = reinterpret_cast<SemaphoreOperation*>(place);
    std::uninitialized_copy_n(from.operations, from.count, copy.operations);
}

void assign(SemaphoreParams& copy, const SemaphoreParams& from) noexcept {
    std::copy_n(from.operations, copy.count, copy.operations);
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
