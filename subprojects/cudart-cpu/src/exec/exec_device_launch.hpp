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
    const void* address;      // the exec's, for comparisons only
    unsigned long long flags; // the exec's
    bool is_uploaded;         // the exec's state before the launch
    Draw draw;
    std::vector<WorkPointer> staged{};          // the staged works of the nodes in LaunchGraph::staged
    std::shared_ptr<PageableCopies> pageable{}; // null if the call waits for no copies
    LaunchTimes times{};                        // not recorded by default
};

Launch prepare_launch(Exec& exec);

/// cudaGraphLaunch, called by a kernel.
cudaError_t launch_from_kernel(cudaGraphExec_t exec, cudaStream_t stream);

} // namespace cudart_cpu::detail
