// Launches and uploads of execs, enqueued in streams.
#pragma once

#include "exec_model.hpp"
#include "stream/stream.hpp"

namespace cudart_cpu::detail {

/// Enqueues a launch behind the exec's earlier launches and uploads. Returns after the copies that hold up the call
/// have run. Takes the graph lock, and waits without it.
void launch_exec(cudaGraphExec_t exec, cudaStream_t stream);
/// Enqueues an upload, also behind earlier launches and uploads. Does not block. Requires the graph lock.
void enqueue_upload(Exec& exec, Stream& stream);

} // namespace cudart_cpu::detail
