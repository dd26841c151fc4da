// Fills given to a stream.
#include "set_submit.hpp"

#include "capture.hpp"
#include "graph_memory_work.hpp"

namespace cudart_cpu::detail {

CompletionPtr submit_set(const cudaMemsetParams& set, Stream& stream) {
    validate_set(set);
    const bool empty = set.width == 0 || set.height == 0;
    if (!empty && captured(stream, [&](auto&&...) { return std::make_shared<MemsetWork>(set); })) return nullptr;
    return enqueue(stream, [set] { perform_set(set); });
}

} // namespace cudart_cpu::detail
