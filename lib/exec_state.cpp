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

ExecState::ExecState(cudaGraphExec_t native, std::shared_ptr<GraphState> source)
    : native_(native), source_(std::move(source)) {}

ExecState::~ExecState() {
    ignore(cudaGraphExecDestroy(native_)); // launches in flight finish; CUDA keeps the graph's owners for them
    for (Shadow& shadow : shadows_)
        in_flight_.retire(std::move(shadow.owners));
    reclaim();
}

void ExecState::launch(cudaStream_t stream) {
    if (in_flight_.tracks()) {
        auto marker = in_flight_.marker(stream);
        launch_native(native_, stream);
        in_flight_.launched(std::move(marker), stream);
    } else {
        launch_native(native_, stream);
    }
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
    Shadow shadow;
    if (const auto* kernel = std::get_if<const KernelParams*>(&node.record().params)) {
        const std::size_t bytes = (*kernel)->signature->bytes;
        shadow.config = (*kernel)->config;
        shadow.values = static_cast<std::byte*>(arena_.allocate(bytes, alignof(std::max_align_t)));
        std::memcpy(shadow.values, (*kernel)->values, bytes);
    }
    slot = &shadows_.emplace_back(std::move(shadow));
    return *slot;
}

OwnerVersions next_owners(const Shadow& current, Owners&& fresh, void* const* values) {
    if (values != nullptr && !current.owners.empty())
        for (const Owner& owner : current.owners.front().owners)
            if (values[owner.argument] == nullptr) fresh.push_back(owner);
    OwnerVersions next;
    if (!fresh.empty()) next.push_back({std::move(fresh), nullptr});
    return next;
}

void ExecState::commit(Shadow& shadow, OwnerVersions&& next) noexcept {
    in_flight_.retire(std::move(shadow.owners));
    if (!next.empty()) in_flight_.begin_tracking();
    shadow.owners = std::move(next);
}

} // namespace cudag::detail
