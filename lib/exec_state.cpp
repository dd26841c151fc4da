// Launches, shadows and owners of one Exec.
#include "exec_state.hpp"

#include "driver.hpp"
#include "failure.hpp"
#include "reclaim.hpp"

#include <cstring>
#include <utility>

namespace cudag::detail {

namespace {

void launch_native(cudaGraphExec_t exec, cudaStream_t stream) {
    bind_context();
    const CUresult result = driver().graph_launch(exec, stream);
    if (result != CUDA_SUCCESS) [[unlikely]]
        raise_call<Error>(to_runtime(result), "cuGraphLaunch", {}, Api::driver);
}

} // namespace

ExecState::ExecState(cudaGraphExec_t native, std::shared_ptr<GraphState> source, const InstantiateOptions& options)
    : native_(native), source_(std::move(source)), options_(options), seen_(source_->version()),
      uploaded_(options.upload_stream.has_value()), device_updatable_(source_->has_device_updatable()) {
    options_.upload_stream.reset();
    source_->for_each_change_since(0, [this](const UpdatedNode& node) {
        Shadow& current = shadow({*node.graph, node.index});
        OwnerVersions owners = version_of(Owners(node.owners));
        assign_params(current.params, node.params());
        commit(current, std::move(owners));
    });
    source_->exec_made();
}

ExecState::~ExecState() {
    source_->exec_gone();
    ignore(cudaGraphExecDestroy(native_)); // launches in flight finish; CUDA keeps the graph's owners for them
    for (Shadow& shadow : shadows_)
        in_flight_.retire(std::move(shadow.owners));
    reclaim();
}

void ExecState::upload(cudaStream_t stream) {
    checked(cudaGraphUpload(native_, stream), "cudaGraphUpload");
    uploaded_ = true;
}

void ExecState::launch(cudaStream_t stream) {
    if (device_updatable_ && !uploaded_) [[unlikely]]
        upload(stream);
    if (in_flight_.tracks()) {
        auto marker = in_flight_.marker(stream);
        launch_native(native_, stream);
        in_flight_.launched(std::move(marker), stream);
    } else {
        launch_native(native_, stream);
    }
    uploaded_ = true;
    ++replays_;
}

ExecNode ExecState::node_of(const Node& node) const {
    const GraphState& graph = GraphState::of(node);
    const std::uint32_t index = GraphState::index_unchecked(node);
    if (&graph != source_.get() && &graph.root() != source_.get()) [[unlikely]]
        refuse<UpdateError>("the node does not belong to the graph of this Exec", node_subject(graph, index));
    return {graph, index};
}

Shadow& ExecState::shadow(const ExecNode& node) {
    if (shadow_of_.empty()) shadow_of_.resize(source_->number_nodes());
    Shadow*& slot = shadow_of_[node.graph.first_number() + node.index];
    if (slot != nullptr) [[likely]]
        return *slot;
    slot = &shadows_.emplace_back(Shadow{copy_params(arena_, node.graph.original_params(node.index))});
    return *slot;
}

const NodeParams& ExecState::params(const ExecNode& node) const noexcept {
    const Shadow* shadow = find_shadow(node);
    return shadow == nullptr ? node.graph.original_params(node.index) : shadow->params;
}

bool ExecState::has_owners(const ExecNode& node) const noexcept {
    const Shadow* shadow = find_shadow(node);
    return shadow != nullptr && !shadow->owners.empty();
}

void ExecState::make_room(Shadow& shadow, const NodeParams& params) {
    const auto* has = std::get_if<const KernelParams*>(&shadow.params);
    const auto* needs = std::get_if<const KernelParams*>(&params);
    if (has == nullptr || needs == nullptr || (*has)->signature->bytes >= (*needs)->signature->bytes) return;
    const KernelParams& current = **has;
    const NodeParams larger = copy_params(arena_, params);
    KernelParams& block = const_cast<KernelParams&>(*std::get<const KernelParams*>(larger)); // made a line above
    std::byte* values = block.values;
    block = current;
    block.values = values;
    std::memcpy(values, current.values, current.signature->bytes);
    shadow.params = larger;
}

void ExecState::commit(Shadow& shadow, OwnerVersions&& next) noexcept {
    uploaded_ = false;
    in_flight_.retire(std::move(shadow.owners));
    if (!next.empty()) in_flight_.begin_tracking();
    shadow.owners = std::move(next);
}

} // namespace cudag::detail
