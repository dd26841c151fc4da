// Launches, shadows and owners of one Exec.
#include "exec_state.hpp"

#include "before_launch.hpp"
#include "update_rules.hpp"

#include "compare/diff.hpp"
#include "cuda/device_guard.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/launch_looks.hpp"
#include "cuda/memory_holders.hpp"
#include "cuda/numbered_contexts.hpp"
#include "cuda/open_captures.hpp"
#include "cuda/relaxed_capture.hpp"
#include "cuda/tool_range.hpp"
#include "exec_nodes.hpp"
#include "graph/find.hpp"
#include "graph/names.hpp"
#include "owners/reclaim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

/// Finds an allocation not freed by its own graph; null if there is none.
const GraphAllocation* find_unfreed(const GraphState& graph, const GraphState*& owner) {
    for (const GraphAllocation& memory : graph.records().allocations().list()) {
        if (!memory.alloc || memory.free) continue;
        owner = &graph;
        return &memory;
    }
    for (const auto& inner : graph.nested())
        if (const GraphAllocation* found = find_unfreed(*inner, owner)) return found;
    return nullptr;
}

/// Explains a second launch without a free in between: CUDA reports a bare "invalid argument".
[[noreturn]] void raise_launch_failure(cudaError_t status, const GraphState& source, bool must_be_freed) {
    CallFailure failure = describe_failure(status, "cuGraphLaunch", {}, Api::driver);
    const GraphState* owner = nullptr;
    const GraphAllocation* memory = find_unfreed(source, owner);
    if (status == cudaErrorInvalidValue && must_be_freed && memory != nullptr) {
        failure.text += fmt::format("; {} is not freed in this graph: free its memory before the next launch, by "
                                    "cudaFreeAsync or another graph, or instantiate with auto_free_on_launch",
                                    describe_node(*owner, *memory->alloc));
        failure.details.labels.emplace_back(owner->records().nodes()[*memory->alloc].label);
    }
    raise<Error>(status, failure.text, std::move(failure.details));
}

} // namespace

ExecState::ExecState(cudaGraphExec_t native, std::shared_ptr<GraphState> source, const InstantiateOptions& options,
                     std::shared_ptr<HostLaunches> launches, const std::vector<HostNodeRun>& hosts,
                     OwnerVersions&& owners)
    : native_(native), source_(std::move(source)), exclusive_graph_(source_), effective_(source_),
      in_flight_(device_here()), hosts_(std::move(launches)), options_(options),
      plan_{planned_graphs(*source_), source_->records().is_read()}, seen_(source_->changes().version()),
      uploaded_(options.upload_stream.has_value()) {
    for (const HostNodeRun& host : hosts)
        checked<InstantiateError>(set_host_run(native, host.node, *host.run));
    source_->number_nodes();
    effective_.replace_shadows(shadows_from(*source_), in_flight_);
    options_.upload_stream.reset();
    if (!owners.empty()) in_flight_.begin_tracking_end();
    if (source_->changes().version() != 0 || (!owners.empty() && may_have_memory_nodes(*source_)))
        in_flight_.begin_tracking(); // marking the end takes an upload, which maps the memory of memory nodes anew
    owners_.keep_instantiation(std::move(owners));
    source_->execs().add();
    note_exec(1);
    if (options_.capturable) open_captures.fetch_add(1, std::memory_order_relaxed);
}

ExecState::~ExecState() {
    if (options_.capturable) open_captures.fetch_sub(1, std::memory_order_relaxed);
    exclusive_graph_->execs().remove();
    note_exec(-1);
    const RelaxedCapture allow_destruction; // no capture needs this Exec, nor what it keeps
    if (owns_native_) {
        if (in_flight_.end(native_, keeps_owners()))
            report_release(cudaGraphExecDestroy(native_), "cudaGraphExecDestroy"); // launches in flight finish
    }
    owners_.retire(in_flight_);
    effective_.retire(in_flight_);
    hosts_.retire(in_flight_);
    reclaim();
}

bool ExecState::keeps_owners() const noexcept {
    return owners_.any() || effective_.keep_owners() || hosts_.keep_owners();
}

void ExecState::set_enabled(const NodePlace& node, bool enabled) {
    if (!enabled) turns_.may_stay = false;
    if (node.record().kind == NodeKind::memset) {
        Shadow& shadow = effective_.shadow(node);
        if (enabled != shadow.is_disabled_memset) return;
        if (enabled)
            disabled_memsets_.enable(native_, node, shadow);
        else
            disabled_memsets_.disable(native_, node, shadow);
    } else {
        set_native_enabled(native_, node, enabled);
    }
    set_changed();
}

void ExecState::upload(cudaStream_t stream) {
    disabled_memsets_.require_parked(*this);
    checked(cudaGraphUpload(native_, stream), "cudaGraphUpload");
    uploaded_ = true;
}

void ExecState::launch(cudaStream_t stream) {
    [[maybe_unused]] const ToolRange range([&] { return "launch " + describe_graph(*source_); });
    if (open_captures.load(std::memory_order_relaxed) != 0) [[unlikely]] {
        require_recorded(stream, [&] { return Subject{"launch of an Exec of " + describe_graph(*source_)}; });
        if (is_recorded(stream)) return;
    }
    disabled_memsets_.require_parked(*this);
    if (!uploaded_ && has_device_updatable(*source_)) [[unlikely]]
        upload(stream); // device-updatable nodes must be on the device before kernels change them
    HostLaunches* const host_launches = hosts_.find_launches();
    StreamKey target;
    if (host_launches != nullptr) [[unlikely]] {
        host_launches->prepare();
        target = launch_target(stream);
    }
    if (in_flight_.tracks()) {
        LaunchMark mark = in_flight_.mark(stream);
        launch_native(stream);
        in_flight_.launched(std::move(mark), stream);
    } else {
        launch_native(stream);
    }
    if (host_launches != nullptr) [[unlikely]]
        host_launches->launched(target);
    uploaded_ = true;
    ++replays_;
}

void ExecState::launch_native(cudaStream_t stream) const {
    bind_context();
    if (is_any_launch_looked_at()) [[unlikely]]
        look_before_launch(*this);
    const CUresult result = driver().graph_launch(native_, stream);
    if (result != CUDA_SUCCESS) [[unlikely]] {
        look_after_failed_launch(*this);
        raise_launch_failure(to_runtime(result), *exclusive_graph_, replays_ != 0 && !options_.auto_free_on_launch);
    }
}

void ExecState::take_handles_of(std::shared_ptr<GraphState> graph) noexcept {
    made_from_ = std::move(graph);
    seen_ = made_from_->changes().version();
}

Node ExecState::handle_of(const NodePlace& node) const {
    if (made_from_ == nullptr) return node.graph->identity().handle(node.index);
    return counterpart_in(*made_from_, *node.graph).identity().handle(node.index);
}

NodePlace ExecState::copy_of(const GraphState& graph, const Node& node) const {
    const std::uint32_t index = GraphIdentity::index_unchecked(node);
    if (made_from_ != nullptr) {
        const Node found = find_counterpart(*source_, node, HandlesOf::origin);
        if (found != Node()) return {&GraphIdentity::of(found), GraphIdentity::index_unchecked(found)};
        if (turns_.has_become_another && &graph.root() == made_from_.get())
            return {&counterpart_in(*source_, graph), index};
    }
    refuse<UpdateError>("the node does not belong to the graph of this Exec, but " +
                            describe_foreign(made_from(), node),
                        node_subject(graph, index));
}

void ExecState::park_again(const NodePlace& node, const NodeParams& params) noexcept {
    const Shadow* const shadow = effective_.find_shadow(node);
    if (shadow == nullptr) return;
    if (shadow->is_disabled_memset) disabled_memsets_.park_again(native_, node, params);
    if (!shadow->disabled_copies.empty())
        disabled_memsets_.take_bytes_again(native_, node, params, shadow->disabled_copies);
}

namespace {

/// Sets a node of an exec; one of a green context in that context, which CUDA requires.
NativeResult set_in_place(cudaGraphExec_t exec, const NodePlace& node, const NodeParams& params) {
    std::optional<PlaceGuard> context;
    if (const int device = node.record().device; is_context_number(device)) [[unlikely]]
        context.emplace(device);
    return set_native({node.native(), exec}, params);
}

} // namespace

NativeResult ExecState::set_params(const NodePlace& node, const NodeParams& params, HostRun* run) {
    if (run == nullptr) {
        const NativeResult result = set_in_place(native_, node, params);
        if (disabled_memsets_.any() && result.status == cudaSuccess) [[unlikely]]
            park_again(node, params);
        return result;
    }
    in_flight_.begin_tracking();
    return set_host_run(native_, node.native(), *run);
}

void ExecState::set_host_runs(const std::vector<HostNodeRun>& runs) noexcept {
    if (runs.empty()) return;
    in_flight_.begin_tracking();
    for (const HostNodeRun& run : runs)
        ignore(set_host_run(native_, run.node, *run.run));
}

void ExecState::rebase(std::shared_ptr<GraphState> basis, std::unique_ptr<Shadows> shadows,
                       const std::vector<HostNodeRun>& hosts, OwnerVersions&& host_owners) noexcept {
    set_host_runs(hosts);
    hosts_.keep(std::move(host_owners), in_flight_);
    owners_.drop_matched(in_flight_);
    effective_.replace_shadows(std::move(shadows), in_flight_);
    if (basis->changes().version() != 0) in_flight_.begin_tracking();
    if (has_memory_nodes(*source_)) { // so has the basis: CUDA now counts this exec as one of that graph
        exclusive_graph_->execs().remove();
        basis->execs().add();
        exclusive_graph_ = basis;
    }
    rebase(std::move(basis));
    disabled_memsets_.park_inside(*this, *source_);
}

void ExecState::rebase(std::shared_ptr<GraphState> basis) noexcept {
    uploaded_ = false;
    races_.forget();
    if (is_of(*basis)) seen_ = basis->changes().version();
    effective_.set_basis(std::move(basis));
}

std::span<const NodeKind> ExecState::kinds() {
    if (kinds_.empty()) kinds_ = kinds_of(*source_);
    return kinds_;
}

void ExecState::replace_owners(Shadow& shadow, OwnerVersions&& next) noexcept {
    in_flight_.retire(std::move(shadow.owners));
    if (!next.empty()) in_flight_.begin_tracking();
    shadow.owners = std::move(next);
}

} // namespace cudag::detail
