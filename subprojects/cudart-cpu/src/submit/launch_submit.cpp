// Submission of kernels to a stream.
#include "launch_submit.hpp"

#include "capture/capture.hpp"
#include "event_submit.hpp"
#include "kernel/device_node.hpp"
#include "runtime/device_model.hpp"

#include <algorithm>

namespace cudart_cpu::detail {

namespace {

/// Makes edges from kernels programmatic, so that the kernel may start early: CUDA's reading of programmatic stream
/// serialization.
std::vector<cudaGraphEdgeData> overlapping(std::vector<cudaGraphEdgeData> data, const std::vector<Node*>& before) {
    for (std::size_t i = 0; i < data.size(); ++i)
        if (is_ordinary(data[i]) && before[i]->work->type() == KernelWork::node_type) {
            data[i].from_port = cudaGraphKernelNodePortProgrammatic;
            data[i].type = cudaGraphDependencyTypeProgrammatic;
        }
    return data;
}

void add_launch(const std::shared_ptr<Capture>& capture, Stream& stream, const KernelParams& params,
                LaunchAttributes& attributes) {
    if (!attributes.has_priority) attributes.kernel.priority = stream.priority();
    int& scheduling = attributes.kernel.cluster_scheduling; // CUDA reports the policy behind the default
    if (scheduling == cudaClusterSchedulingPolicyDefault) scheduling = cudaClusterSchedulingPolicySpread;
    const OnDevice device(stream.device());
    const NodesInContext context(stream.context());
    auto work = std::make_shared<KernelWork>(params, attributes.kernel);
    std::vector<cudaGraphEdgeData> data = capture->front_of(stream).data;
    if (attributes.overlaps_previous) data = overlapping(std::move(data), capture->before(stream));
    const Node& node = capture->add(stream, std::move(work), data);
    for (const auto& record : {attributes.trigger, attributes.completion})
        if (record)
            event_of(record->event)
                .set_captured(
                    std::make_shared<const CapturedRecord>(CapturedRecord{capture, {{node.handle}, {record->data}}}));
}

/// Captures the launch; false if the stream does not capture. A launch impossible on every device breaks the capture,
/// unlike other invalid operations; one without its arguments or with invalid attributes does not.
bool captured_launch(Stream& stream, const KernelParams& params, cudaLaunchAttribute* list, unsigned count) {
    if (!is_any_capture()) return false;
    const std::lock_guard lock(graph_mutex());
    const std::shared_ptr<Capture> capture = active_capture_of(stream);
    if (!capture) return false;
    require_arguments(params.kernel, !params.params && !params.extra);
    LaunchAttributes attributes = attributes_of(list, count, true);
    try {
        add_launch(capture, stream, params, attributes);
        for (unsigned i = 0; i < count && attributes.kernel.device_node; ++i)
            if (list[i].id == cudaLaunchAttributeDeviceUpdatableKernelNode)
                list[i].val.deviceUpdatableKernelNode.devNode = attributes.kernel.device_node->handle();
    } catch (...) {
        capture->invalidate();
        throw;
    }
    return true;
}

} // namespace

void submit_launch(const KernelParams& params, cudaStream_t handle, cudaLaunchAttribute* list, unsigned count) {
    Stream& stream = stream_of(handle);
    if (captured_launch(stream, params, list, count)) return;
    const LaunchAttributes attributes = attributes_of(list, count, false);
    const KernelEntry& kernel = params.kernel;
    validate_launch(kernel, params.grid, params.block, params.shared_bytes, attributes.kernel.shared_memory_mode);
    validate_attributes(kernel, params.grid, params.block, params.shared_bytes, attributes.kernel);
    const auto arguments = std::make_shared<NodeArguments>(kernel, params.params, params.extra);
    const LaunchExtent extent{params.shared_bytes, attributes.kernel.cooperative, attributes.kernel.cluster};
    enqueue(stream, [&kernel, grid = params.grid, block = params.block, extent, arguments] {
        run_kernel(kernel, grid, block, arguments->pointers(), extent);
    });
    // A GPU may record it earlier.
    if (attributes.trigger) record(event_of(attributes.trigger->event), stream);
    if (attributes.completion) record(event_of(attributes.completion->event), stream);
}

} // namespace cudart_cpu::detail
