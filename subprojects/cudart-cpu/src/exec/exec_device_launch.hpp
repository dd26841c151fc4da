// Graphs launched by kernels.
#pragma once

#include "exec_model.hpp"
#include "exec_pageable.hpp"
#include "kernel/launch_context.hpp"
#include "runtime/schedule.hpp"

namespace cudart_cpu::detail {

/// One launch of a snapshot.
struct Launch {
    std::shared_ptr<const ExecSnapshot> snapshot;
    cudaGraphExec_t exec;
    const void* address;      // of the exec, only to be compared
    unsigned long long flags; // of the exec
    bool is_uploaded;         // before the launch
    Draw draw;
    std::vector<WorkPointer> staged{};          // of the nodes that the graph says are staged
    std::shared_ptr<PageableCopies> pageable{}; // null if the call waits for none
};

Launch prepare_launch(Exec& exec);

/// cudaGraphLaunch, in a kernel.
cudaError_t launch_from_kernel(cudaGraphExec_t exec, cudaStream_t stream);

} // namespace cudart_cpu::detail
