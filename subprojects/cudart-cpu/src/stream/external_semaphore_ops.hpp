// Operations on a set of external semaphores: signals and waits.
#pragma once

#include "external_semaphore.hpp"
#include "runtime/call.hpp"
#include "runtime/text.hpp"

#include <vector>

namespace cudart_cpu::detail {

struct SemaphoreSignal {
    using Params = cudaExternalSemaphoreSignalParams;
    static void perform(ExternalSemaphore& semaphore, const Params& params) {
        semaphore.signal(params.params.fence.value);
    }
};

struct SemaphoreWait {
    using Params = cudaExternalSemaphoreWaitParams;
    static void perform(ExternalSemaphore& semaphore, const Params& params) {
        semaphore.wait(params.params.fence.value);
    }
};

/// A set of operations; keeps the semaphores alive.
template <class Operation>
class SemaphoreOperations {
  public:
    using Params = typename Operation::Params;

    /// Copies the arrays. Throws Failure for dead semaphores, and for flags: only other kinds of semaphores have flags.
    SemaphoreOperations(const cudaExternalSemaphore_t* handles, const Params* params, unsigned count) {
        if (count == 0) return;
        require_pointer(handles, "extSemArray");
        require_pointer(params, "paramsArray");
        handles_.assign(handles, handles + count);
        params_.assign(params, params + count);
        for (unsigned i = 0; i < count; ++i) {
            semaphores_.push_back(external_semaphore_of(handles[i]));
            if (params[i].flags != 0)
                fail(cudaErrorInvalidValue, text("the flags of external semaphore ", i, " are not 0"));
        }
    }

    const std::vector<cudaExternalSemaphore_t>& handles() const noexcept { return handles_; }
    const std::vector<Params>& params() const noexcept { return params_; }

    void run() const {
        for (std::size_t i = 0; i < semaphores_.size(); ++i)
            Operation::perform(*semaphores_[i], params_[i]);
    }

  private:
    std::vector<cudaExternalSemaphore_t> handles_;
    std::vector<Params> params_;
    std::vector<std::shared_ptr<ExternalSemaphore>> semaphores_;
};

} // namespace cudart_cpu::detail
