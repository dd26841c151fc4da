// Launches and uploads of execs, enqueued in streams.
#pragma once

#include "exec_model.hpp"
#include "stream/stream.hpp"

namespace cudart_cpu::detail {

/// Comes after the exec's earlier launches and uploads. Returns once copies to pageable memory have run. Takes the
/// graph lock, and waits without it.
void launch_exec(cudaGraphExec_t exec, cudaStream_t stream);
/// Comes after them, too. Does not block. Under the graph lock.
void enqueue_upload(Exec& exec, Stream& stream);

} // namespace cudart_cpu::detail
