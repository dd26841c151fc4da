// Launches and uploads of execs, enqueued in streams.
#pragma once

#include "exec_model.hpp"
#include "stream/stream.hpp"

namespace cudart_cpu::detail {

/// These do not block. Each comes after the exec's earlier launches and uploads.
void enqueue_launch(Exec& exec, Stream& stream);
void enqueue_upload(Exec& exec, Stream& stream);

} // namespace cudart_cpu::detail
