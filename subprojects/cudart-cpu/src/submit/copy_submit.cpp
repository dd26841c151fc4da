// Submission of copies to a stream.
#include "copy_submit.hpp"

#include "capture/capture.hpp"
#include "capture/capture_rules.hpp"
#include "graph/graph_memory_work.hpp"

namespace cudart_cpu::detail {

namespace {

bool is_host(cudaMemoryType type) {
    return type == cudaMemoryTypeUnregistered || type == cudaMemoryTypeHost;
}

std::shared_ptr<MemcpyWork> captured_copy(cudaMemcpy3DParms copy, CopyForm form) {
    if (form != CopyForm::box) {
        copy.srcPtr.ysize = copy.dstPtr.ysize = 0;
    }
    // CUDA keeps the pitch of copies within the host.
    const bool linear = form == CopyForm::line && copy.kind != cudaMemcpyHostToHost;
    return linear ? MemcpyWork::linear(copy) : std::make_shared<MemcpyWork>(copy);
}

} // namespace

void submit_copy(const cudaMemcpy3DParms& copy, Stream& stream, CopyCall call, CopyForm form) {
    validate_copy(copy);
    if (call == CopyCall::synchronous) {
        refuse_implicit_dependency_now(stream);
    }
    if (is_empty(copy)) {
        return;
    }
    if (captured(stream, [&](auto&&...) { return captured_copy(copy, form); })) {
        return;
    }
    const cudaMemoryType source = source_type(copy);
    const cudaMemoryType destination = destination_type(copy);
    const bool within_host = is_host(source) && is_host(destination);
    const bool within_device = !is_host(source) && !is_host(destination);
    const bool is_large = source == cudaMemoryTypeUnregistered &&
                          row_bytes(copy) * copy.extent.height * copy.extent.depth >= least_unstaged_bytes;
    const bool wait = call == CopyCall::synchronous
                          ? !within_device
                          : within_host || destination == cudaMemoryTypeUnregistered || is_large;
    if (!wait && source == cudaMemoryTypeUnregistered) {
        enqueue(stream, [packed = PackedSource(copy)] { perform_copy(packed.copy); });
        return;
    }
    const CompletionPtr done = enqueue(stream, [copy] { perform_copy(copy); });
    if (wait) {
        done->wait();
    }
}

} // namespace cudart_cpu::detail
