// Submission of fills to a stream.
#include "set_submit.hpp"

#include "capture/capture.hpp"
#include "capture/capture_rules.hpp"
#include "graph/graph_memory_work.hpp"

namespace cudart_cpu::detail {

CompletionPtr submit_set(const cudaMemsetParams& set, Stream& stream) {
    const bool empty = set.width == 0 || set.height == 0;
    if (!empty && captured(stream, [&](auto&&...) { return MemsetWork::captured(set); })) return nullptr;
    validate_set(set);
    return enqueue(stream, [set] { perform_set(set); });
}

void submit_set_on_default_stream(const cudaMemsetParams& set) {
    refuse_implicit_dependency_now(stream_of(nullptr));
    const CompletionPtr done = submit_set(set, stream_of(nullptr));
    const std::optional<Range> range = find_allocation(set.dst);
    if (done != nullptr && range && range->type != cudaMemoryTypeDevice) done->wait();
}

} // namespace cudart_cpu::detail
