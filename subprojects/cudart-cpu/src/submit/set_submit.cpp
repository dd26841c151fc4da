// Submission of fills to a stream.
#include "set_submit.hpp"

#include "capture/capture.hpp"
#include "graph/graph_memory_work.hpp"

namespace cudart_cpu::detail {

CompletionPtr submit_set(const cudaMemsetParams& set, Stream& stream) {
    const bool empty = set.width == 0 || set.height == 0;
    if (!empty && captured(stream, [&](auto&&...) { return MemsetWork::captured(set); })) return nullptr;
    validate_set(set);
    return enqueue(stream, [set] { perform_set(set); });
}

} // namespace cudart_cpu::detail
