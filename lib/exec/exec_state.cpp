// Launches, shadows and owners of one Exec.
#include "exec_state.hpp"

#include "exec_races.hpp"
#include "watched_writes.hpp"

#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/relaxed_capture.hpp"
#include "graph/diff.hpp"
#include "graph/names.hpp"
#include "node/disabled_memset.hpp"
#include "owners/reclaim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cudag::detail {

namespace {

/// An allocation that its own graph does not free; null if there is none.
const GraphAllocation* find_unfreed(const GraphState& graph, const GraphState*& owner) {
    for (const GraphAllocation& memory : graph.allocations().list()) {
        if (!memory.alloc || memory.free) continue;
        owner = &graph;
        return &memory;
    }
    for (const auto& inner : graph.nested())
        if (const GraphAllocation* found = find_unfreed(*inner, owner)) return found;
    return nullptr;
}

/// CUDA's answer to a second launch without a free between is a bare "invalid argument".
[[noreturn]] void raise_launch_failure(cudaError_t status, const GraphState& source, bool must_be_freed) {
    CallFailure failure = describe_failure(status, "cuGraphLaunch", {}, Api::driver);
    const GraphState* owner = nullptr;
    const GraphAllocation* memory = find_unfreed(source, owner);
    if (status == cudaErrorInvalidValue && must_be_freed && memory != nullptr) {
        failure.text += fmt::format("; {} is not freed in this graph: free its memory before the next launch, by "
                                    "cudaFreeAsync or another graph, or instantiate with auto_free_on_launch",
                                    describe_node(*owner, *memory->alloc));
        failure.details.labels.emplace_back(owner->nodes()[*memory->alloc].label);
    }
    raise<Error>(status, failure.text, std::move(failure.details));
}

void set_native_enabled(cudaGraphExec_t exec, const NodePlace& node, bool enabled) {
    const cudaError_t status = cudaGraphNodeSetEnabled(exec, node.native(), enabled ? 1U : 0U);
    if (status != cudaSuccess)
        raise_call<UpdateError>(status, "cudaGraphNodeSetEnabled", node.subject(enabled ? "enable " : "disable "));
}

} // namespace

ExecState::ExecState(cudaGraphExec_t native, std::shared_ptr<GraphState> source, const InstantiateOptions& options,
                     std::shared_ptr<HostLaunches> launches, const std::vector<HostNodeRun>& hosts)
    : native_(native), source_(std::move(source)), exclusive_graph_(source_), basis_(source_),
      claim_(launches ? launches->claim() : nullptr), host_launches_(std::move(launches)), options_(options),
      planned_(planned_graphs(*source_)), was_read_(source_->is_read()), seen_(source_->changes().version()),
      uploaded_(options.upload_stream.has_value()) {
    for (const HostNodeRun& host : hosts)
        checked<InstantiateError>(set_host_run(native, host.node, *host.run), "cudaGraphExecHostNodeSetParams");
    source_->number_nodes();
    if (auto shadows = shadows_from(*source_)) shadows_ = std::move(shadows);
    options_.upload_stream.reset();
    if (source_->changes().version() != 0) in_flight_.begin_tracking();
    source_->exec_made();
}

void ExecState::complete_source(const GraphState& mine, GraphState& next) const {
    const bool is_planned = !planned_.empty();
    if (is_planned) next.read_all();
    Plan plan = is_planned ? options_.plan : Plan::as_written();
    plan.ends = plan.ends && mine.parent() == nullptr;
    next.complete_native(&plan);
}

ExecState::~ExecState() {
    exclusive_graph_->exec_gone();
    if (owns_native_) {
        const RelaxedCapture allow_destruction; // no capture needs this Exec
        ignore(cudaGraphExecDestroy(native_));  // launches in flight finish; CUDA keeps the graph's owners for them
    }
    shadows_->retire(in_flight_);
    in_flight_.retire(std::move(host_owners_));
    in_flight_.retire(std::move(matched_));
    if (claim_) claim_gone(claim_);
    reclaim();
}

void ExecState::set_enabled(const NodePlace& node, bool enabled) {
    if (node.record().kind == NodeKind::memset) {
        Shadow& shadow = this->shadow(node);
        if (enabled != shadow.is_disabled_memset) return;
        if (enabled)
            enable_memset(node, shadow);
        else
            disable_memset(node, shadow);
    } else {
        set_native_enabled(native_, node, enabled);
    }
    set_changed();
}

void ExecState::disable_memset(const NodePlace& node, Shadow& shadow) {
    std::list<NodePlace> noted{node}; // cannot fail after CUDA has agreed
    set_native_enabled(native_, node, false);
    try {
        if (loses_order(shadow.params))
            if (const NativeResult result = park(native_, node.native(), shadow.params); result.status != cudaSuccess)
                raise_call<UpdateError>(result.status, result.operation, node.subject("disable "), result.api);
    } catch (...) {
        ignore(cudaGraphNodeSetEnabled(native_, node.native(), 1));
        throw;
    }
    shadow.is_disabled_memset = true;
    disabled_memsets_.splice(disabled_memsets_.end(), noted);
}

void ExecState::enable_memset(const NodePlace& node, Shadow& shadow) {
    if (loses_order(shadow.params))
        if (const NativeResult result = unpark(native_, node.native(), shadow.params); result.status != cudaSuccess)
            raise_call<UpdateError>(result.status, result.operation, node.subject("enable "), result.api);
    try {
        set_native_enabled(native_, node, true);
    } catch (...) {
        park_again(node.native(), shadow.params);
        throw;
    }
    shadow.is_disabled_memset = false;
    std::erase_if(disabled_memsets_, [&](const NodePlace& other) { return other == node; });
}

void ExecState::park_again(cudaGraphNode_t node, const NodeParams& params) noexcept {
    if (!loses_order(params)) return;
    try {
        const NativeResult result = park(native_, node, params);
        ignore(result.status);
        if (result.status != cudaSuccess) must_park_ = true;
    } catch (const Error&) {
        must_park_ = true;
    }
}

void ExecState::park_inside(const GraphState& graph) noexcept {
    for (const NodePlace& node : disabled_memsets_)
        for (const GraphState* place = node.graph; place != nullptr; place = place->parent())
            if (place == &graph) park_again(node.native(), params(node));
}

void ExecState::park_all() {
    for (const NodePlace& node : disabled_memsets_) {
        if (!loses_order(params(node))) continue;
        if (const NativeResult result = park(native_, node.native(), params(node)); result.status != cudaSuccess)
            raise_call<Error>(result.status, result.operation, node.subject("launch: order of disabled "), result.api);
    }
    must_park_ = false;
}

void ExecState::upload(cudaStream_t stream) {
    if (must_park_) [[unlikely]]
        park_all();
    checked(cudaGraphUpload(native_, stream), "cudaGraphUpload");
    uploaded_ = true;
}

void ExecState::launch(cudaStream_t stream) {
    if (must_park_) [[unlikely]]
        park_all();
    if (!uploaded_ && has_device_updatable(*source_)) [[unlikely]]
        upload(stream); // what kernels change must be on the device before
    if (are_writes_watched()) [[unlikely]]
        declare_writes(*this);
    StreamKey target;
    if (host_launches_) [[unlikely]] {
        host_launches_->prepare();
        target = launch_target(stream);
    }
    if (in_flight_.tracks()) {
        auto marker = in_flight_.marker(stream);
        launch_native(stream);
        in_flight_.launched(std::move(marker), stream);
    } else {
        launch_native(stream);
    }
    if (host_launches_) [[unlikely]]
        host_launches_->launched(target);
    uploaded_ = true;
    ++replays_;
}

void ExecState::launch_native(cudaStream_t stream) const {
    bind_context();
    const CUresult result = driver().graph_launch(native_, stream);
    if (result != CUDA_SUCCESS) [[unlikely]]
        raise_launch_failure(to_runtime(result), *exclusive_graph_, replays_ != 0 && !options_.auto_free_on_launch);
}

void ExecState::refuse_foreign(const GraphState& graph, const Node& node) const {
    refuse<UpdateError>("the node does not belong to the graph of this Exec, but " + describe_foreign(*source_, node),
                        node_subject(graph, GraphState::index_unchecked(node)));
}

const GraphState& ExecState::in_basis(const GraphState& graph) const {
    if (graph.parent() == nullptr) return *basis_;
    return *in_basis(*graph.parent()).nested()[graph.position()];
}

Shadow& ExecState::make_shadow(std::uint32_t number, const NodePlace& node) {
    return shadows_->make(number, source_->node_total(), in_basis(*node.graph).nodes()[node.index].params);
}

const NodeParams& ExecState::params(const NodePlace& node) const {
    const Shadow* shadow = shadows_->find(node.graph->first_number() + node.index);
    return shadow != nullptr ? shadow->params.view() : in_basis(*node.graph).nodes()[node.index].params;
}

const std::shared_ptr<HostLaunches>& ExecState::host_launches() {
    if (!host_launches_) {
        if (!claim_) claim_ = std::make_shared<HostClaim>();
        host_launches_ = std::make_shared<HostLaunches>(claim_);
    }
    return host_launches_;
}

HostRun* ExecState::host_run(const NodePlace& node, const NodeParams& params, OwnerVersions& owners) {
    const auto* const* host = std::get_if<const cudaHostNodeParams*>(&params);
    if (host == nullptr || !is_host_task(**host)) return nullptr;
    const std::shared_ptr<HostRun> run = make_host_run(host_launches(), *node.graph, node.index, **host);
    if (owners.empty())
        owners = version_of({{0, run}});
    else
        owners.front().owners.push_back({0, run});
    return run.get();
}

NativeResult ExecState::set_params(const NodePlace& node, const NodeParams& params, HostRun* run) {
    if (run == nullptr) {
        const NativeResult result = set_native({node.native(), native_}, params);
        if (result.status == cudaSuccess && !disabled_memsets_.empty()) [[unlikely]]
            if (const Shadow* shadow = shadows_->find(node.graph->first_number() + node.index))
                if (shadow->is_disabled_memset) park_again(node.native(), params);
        return result;
    }
    in_flight_.begin_tracking();
    return {set_host_run(native_, node.native(), *run), "cudaGraphExecHostNodeSetParams"};
}

std::vector<HostNodeRun> ExecState::host_runs(const GraphState& mine, const GraphState& next) {
    if (!has_host_tasks(next)) return {};
    return make_host_runs(host_launches(), mine, next);
}

void ExecState::set_host_runs(const std::vector<HostNodeRun>& runs) noexcept {
    if (runs.empty()) return;
    in_flight_.begin_tracking();
    for (const HostNodeRun& run : runs)
        ignore(set_host_run(native_, run.node, *run.run));
}

std::unique_ptr<Shadows> ExecState::shadows_from(const GraphState& basis) const {
    if (basis.changes().version() == 0 && disabled_memsets_.empty()) return nullptr;
    auto shadows = std::make_unique<Shadows>();
    for_each_graph_pair(*source_, basis, [&](const GraphState& mine, const GraphState& theirs) {
        for (const UpdatedNode& node : theirs.updated().all()) {
            if (node.index >= mine.nodes().size()) continue; // CUDA is going to refuse such a graph
            Shadow& shadow = shadows->make(mine.first_number() + node.index, source_->node_total(), node.params);
            shadow.owners = version_of(Owners(node.owners));
            shadow.declared = node.accesses;
        }
        for (const NodePlace& node : disabled_memsets_) { // they stay disabled
            if (node.graph != &mine || node.index >= theirs.nodes().size()) continue;
            const std::uint32_t number = mine.first_number() + node.index;
            Shadow* shadow = shadows->find(number);
            if (shadow == nullptr) shadow = &shadows->make(number, source_->node_total(), theirs.params(node.index));
            shadow->is_disabled_memset = true;
        }
    });
    return shadows;
}

void ExecState::take_all(std::shared_ptr<GraphState> basis, std::unique_ptr<Shadows> shadows,
                         const std::vector<HostNodeRun>& hosts, OwnerVersions&& host_owners) noexcept {
    uploaded_ = false;
    set_host_runs(hosts);
    in_flight_.retire(std::move(host_owners_));
    host_owners_ = std::move(host_owners);
    in_flight_.retire(std::move(matched_));
    matched_.clear();
    shadows_->retire(in_flight_);
    if (shadows != nullptr)
        shadows_ = std::move(shadows);
    else if (!shadows_->empty())
        shadows_->clear();
    forget_races();
    if (basis->changes().version() != 0) in_flight_.begin_tracking();
    if (basis == source_) seen_ = basis->changes().version();
    if (has_memory_nodes(*source_)) { // so has the basis: CUDA counts this exec as one of the graph that it was
                                      // updated from
        exclusive_graph_->exec_gone();
        basis->exec_made();
        exclusive_graph_ = basis;
    }
    basis_ = std::move(basis);
    park_inside(*source_);
}

std::vector<ArgumentAccess> ExecState::declared(const NodePlace& node) const {
    std::vector<ArgumentAccess> accesses;
    for_each_declared(node, [&](const ArgumentAccess& access) { accesses.push_back(access); });
    return accesses;
}

bool ExecState::changes_accesses(const NodePlace& node, const NodeParams& next,
                                 std::span<const ArgumentAccess> declared) const {
    auto other = declared.begin();
    bool same = have_same_accesses(params(node), next);
    for_each_declared(
        node, [&](const ArgumentAccess& access) { same = same && other != declared.end() && *other++ == access; });
    return !same || other != declared.end();
}

RaceWatch& ExecState::race_watch() {
    if (!races_) races_ = std::make_unique<ExecRaces>(*this);
    return races_->watch();
}

void ExecState::forget_races() noexcept {
    races_.reset();
}

void ExecState::replace_owners(Shadow& shadow, OwnerVersions&& next) noexcept {
    in_flight_.retire(std::move(shadow.owners));
    if (!next.empty()) in_flight_.begin_tracking();
    shadow.owners = std::move(next);
}

} // namespace cudag::detail
