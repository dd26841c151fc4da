// The threads behind the streams, and their end at the end of the process.
#pragma once

#include <memory>

namespace cudart_cpu::detail {

class WorkQueue;

/// Runs the queue's tasks on a new thread. Throws cudaErrorCudartUnloading once the process is ending.
void start_worker(std::shared_ptr<WorkQueue> queue);

} // namespace cudart_cpu::detail
