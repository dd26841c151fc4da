// Operations on semaphores as CUDA takes them.
#pragma once

#include "cuda/failure.hpp"
#include "node_params.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <span>
#include <vector>

namespace cudag::detail {

/// CUDA's parameters of a node that signals or waits, as `Params` of `NodeParams`; they refer to this object.
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

using NativeSignals = NativeSemaphores<cudaExternalSemaphoreSignalNodeParams, cudaExternalSemaphoreSignalParams>;
using NativeWaits = NativeSemaphores<cudaExternalSemaphoreWaitNodeParams, cudaExternalSemaphoreWaitParams>;

/// Throws E if there are no operations, or a semaphore is null.
template <class E = GraphError, class MakeSubject>
void require_semaphores(std::span<const SemaphoreOperation> operations, const MakeSubject& subject) {
    if (operations.empty()) refuse<E>("a list of 0 semaphores; leave the node out", subject());
    for (std::size_t i = 0; i < operations.size(); ++i)
        if (operations[i].semaphore == nullptr)
            refuse<E>(fmt::format("semaphore {} of {} is null or was moved from", i, operations.size()), subject());
}

} // namespace cudag::detail
