// Launches, shadows and owners of one Exec.
#include "exec_state.hpp"

#include "exec_declarations.hpp"
#include "exec_race_watch.hpp"
#include "update_rules.hpp"
#include "watched_writes.hpp"

#include "compare/diff.hpp"
#include "cuda/device_guard.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/open_captures.hpp"
#include "cuda/relaxed_capture.hpp"
#include "cuda/tool_range.hpp"
#include "exec_nodes.hpp"
#include "graph/names.hpp"
#include "order/race_check.hpp"
#include "owners/reclaim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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
    : native_(native), source_(std::move(source)), exclusive_graph_(source_), basis_(source_),
      in_flight_(device_here()), hosts_(std::move(launches)), options_(options), planned_(planned_graphs(*source_)),
      was_read_(source_->records().is_read()), seen_(source_->changes().version()),
      uploaded_(options.upload_stream.has_value()) {
    for (const HostNodeRun& host : hosts)
        checked<InstantiateError>(set_host_run(native, host.node, *host.run), "cudaGraphExecHostNodeSetParams");
    source_->number_nodes();
    if (auto shadows = shadows_from(*source_)) shadows_ = std::move(shadows);
    options_.upload_stream.reset();
    if (!owners.empty()) in_flight_.begin_tracking_end();
    if (source_->changes().version() != 0 || (!owners.empty() && may_have_memory_nodes(*source_)))
        in_flight_.begin_tracking(); // marking the end takes an upload, which maps the memory of memory nodes anew
    owners_ = std::move(owners);
    source_->execs().add();
}

void ExecState::complete_source(const GraphState& mine, GraphState& next) const {
    static const Plan as_written = Plan::as_written(); // a constant
    if (planned_.empty()) return next.complete_native(&as_written);
    read_all(next);
    Plan plan = options_.plan;
    plan.ends = plan.ends && mine.tree().parent() == nullptr;
    next.complete_native(&plan);
}

ExecState::~ExecState() {
    exclusive_graph_->execs().remove();
    const RelaxedCapture allow_destruction; // no capture needs this Exec, nor what it keeps
    if (owns_native_) {
        if (in_flight_.end(native_, keeps_owners()))
            report_release(cudaGraphExecDestroy(native_), "cudaGraphExecDestroy"); // launches in flight finish
    }
    in_flight_.retire(std::move(owners_));
    in_flight_.retire(std::move(basis_owners_));
    shadows_->retire(in_flight_);
    hosts_.retire(in_flight_);
    in_flight_.retire(std::move(matched_));
    reclaim();
}

bool ExecState::keeps_owners() const noexcept {
    return !owners_.empty() || !basis_owners_.empty() || !matched_.empty() || shadows_->keep_owners() ||
           hosts_.keep_owners();
}

void ExecState::set_enabled(const NodePlace& node, bool enabled) {
    if (node.record().kind == NodeKind::memset) {
        Shadow& shadow = this->shadow(node);
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
    require_recorded(stream, [&] { return Subject{"launch of an Exec of " + describe_graph(*source_)}; });
    disabled_memsets_.require_parked(*this);
    if (!uploaded_ && has_device_updatable(*source_)) [[unlikely]]
        upload(stream); // device-updatable nodes must be on the device before kernels change them
    if (are_writes_watched()) [[unlikely]]
        declare_writes(*this);
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
    const CUresult result = driver().graph_launch(native_, stream);
    if (result != CUDA_SUCCESS) [[unlikely]]
        raise_launch_failure(to_runtime(result), *exclusive_graph_, replays_ != 0 && !options_.auto_free_on_launch);
}

void ExecState::refuse_foreign(const GraphState& graph, const Node& node) const {
    refuse<UpdateError>("the node does not belong to the graph of this Exec, but " + describe_foreign(*source_, node),
                        node_subject(graph, GraphIdentity::index_unchecked(node)));
}

const GraphState& ExecState::inside_basis(const GraphState& graph) const {
    return *in_basis(*graph.tree().parent()).nested()[graph.tree().position()];
}

Shadow& ExecState::make_shadow(std::uint32_t number, const NodePlace& node) {
    return shadows_->make(number, source_->tree().node_total(),
                          in_basis(*node.graph).records().nodes()[node.index].params);
}

const NodeParams& ExecState::params(const NodePlace& node) const {
    const Shadow* shadow = shadows_->find(node.graph->tree().first_number() + node.index);
    return shadow != nullptr ? shadow->params.view() : params_in_basis(node);
}

const NodeParams& ExecState::params_in_basis(const NodePlace& node) const {
    return in_basis(*node.graph).records().nodes()[node.index].params;
}

NativeResult ExecState::set_params(const NodePlace& node, const NodeParams& params, HostRun* run) {
    if (run == nullptr) {
        const NativeResult result = set_native({node.graph->records().natives()[node.index], native_}, params);
        if (result.status == cudaSuccess && !disabled_memsets_.all().empty()) [[unlikely]]
            if (const Shadow* shadow = shadows_->find(node.graph->tree().first_number() + node.index))
                if (shadow->is_disabled_memset) disabled_memsets_.park_again(native_, node.native(), params);
        return result;
    }
    in_flight_.begin_tracking();
    return {set_host_run(native_, node.native(), *run), "cudaGraphExecHostNodeSetParams"};
}

void ExecState::set_host_runs(const std::vector<HostNodeRun>& runs) noexcept {
    if (runs.empty()) return;
    in_flight_.begin_tracking();
    for (const HostNodeRun& run : runs)
        ignore(set_host_run(native_, run.node, *run.run));
}

std::unique_ptr<Shadows> ExecState::shadows_from(const GraphState& basis) const {
    if (basis.changes().version() == 0 && disabled_memsets_.all().empty()) return nullptr;
    auto shadows = std::make_unique<Shadows>();
    for_each_graph_pair(*source_, basis, [&](const GraphState& mine, const GraphState& theirs) {
        for (const UpdatedNode& node : theirs.records().updated().all()) {
            if (node.index >= mine.records().nodes().size()) continue; // CUDA will refuse such a graph
            Shadow& shadow =
                shadows->make(mine.tree().first_number() + node.index, source_->tree().node_total(), node.params);
            shadow.owners = version_of(Owners(node.owners));
            shadow.declared = node.accesses;
        }
        for (const NodePlace& node : disabled_memsets_.all()) { // they stay disabled
            if (node.graph != &mine || node.index >= theirs.records().nodes().size()) continue;
            const std::uint32_t number = mine.tree().first_number() + node.index;
            Shadow* shadow = shadows->find(number);
            if (shadow == nullptr)
                shadow = &shadows->make(number, source_->tree().node_total(), theirs.records().params(node.index));
            shadow->is_disabled_memset = true;
        }
    });
    return shadows;
}

void ExecState::rebase(std::shared_ptr<GraphState> basis, std::unique_ptr<Shadows> shadows,
                       const std::vector<HostNodeRun>& hosts, OwnerVersions&& host_owners) noexcept {
    set_host_runs(hosts);
    hosts_.keep(std::move(host_owners), in_flight_);
    in_flight_.retire(std::move(matched_));
    matched_.clear();
    shadows_->retire(in_flight_);
    if (shadows != nullptr)
        shadows_ = std::move(shadows);
    else if (!shadows_->empty())
        shadows_->clear();
    if (basis->changes().version() != 0) in_flight_.begin_tracking();
    if (has_memory_nodes(*source_)) { // so has the basis: CUDA now counts this exec as one of that graph
        exclusive_graph_->execs().remove();
        basis->execs().add();
        exclusive_graph_ = basis;
    }
    rebase(std::move(basis));
    park_inside(*source_);
}

void ExecState::rebase(std::shared_ptr<GraphState> basis) noexcept {
    uploaded_ = false;
    forget_races();
    if (basis == source_) seen_ = basis->changes().version();
    basis_ = std::move(basis);
}

std::optional<OwnerVersions> ExecState::owners_brought_by(GraphState& basis) const {
    if (basis_owners_.empty() && !may_have_owners(basis)) return std::nullopt;
    Owners owners;
    list_owners(basis, owners);
    const auto are_kept_by = [&](const OwnerVersions& kept) {
        if (kept.empty()) return owners.empty();
        const Owners& all = kept.front().owners;
        return std::ranges::all_of(owners, [&](const Owner& owner) {
            return std::ranges::find(all, owner.object, &Owner::object) != all.end();
        });
    };
    if (are_kept_by(owners_)) owners.clear();
    const bool is_same = owners.empty()
                             ? basis_owners_.empty()
                             : are_kept_by(basis_owners_) && basis_owners_.front().owners.size() == owners.size();
    return is_same ? std::nullopt : std::optional(version_of(std::move(owners)));
}

void ExecState::keep_basis_owners(OwnerVersions&& owners) noexcept {
    const RelaxedCapture allow_free; // no capture needs the former ones
    in_flight_.retire(std::move(basis_owners_));
    if (!owners.empty()) in_flight_.begin_tracking();
    basis_owners_ = std::move(owners);
}

std::span<const NodeKind> ExecState::kinds() {
    if (kinds_.empty()) kinds_ = kinds_of(*source_);
    return kinds_;
}

RaceWatch& ExecState::race_watch() {
    ++access_changes_;
    if (!races_) races_ = std::make_unique<ExecRaceWatch>(*this);
    if (!unwatched_.empty()) [[unlikely]]
        watch_unwatched();
    return races_->watch();
}

void ExecState::watch_unwatched() {
    const auto number = [](const NodePlace& node) { return node.graph->tree().first_number() + node.index; };
    std::ranges::sort(unwatched_, {}, number);
    unwatched_.erase(std::unique(unwatched_.begin(), unwatched_.end()), unwatched_.end());
    RaceCheck known;
    for (const NodePlace& node : unwatched_)
        known.stage(races_->watch(), node, params(node), all_declared(*this, node));
    known.commit();
    unwatched_.clear();
}

void ExecState::note_unwatched(const NodePlace& node) noexcept {
    constexpr std::size_t most = 1024; // the same nodes come again and again
    ++access_changes_;
    if (!races_) return;
    try {
        if (unwatched_.size() < most) return unwatched_.push_back(node);
    } catch (...) { // out of memory
    }
    forget_races();
}

void ExecState::forget_races() noexcept {
    ++access_changes_;
    races_.reset();
    unwatched_.clear();
}

void ExecState::replace_owners(Shadow& shadow, OwnerVersions&& next) noexcept {
    in_flight_.retire(std::move(shadow.owners));
    if (!next.empty()) in_flight_.begin_tracking();
    shadow.owners = std::move(next);
}

} // namespace cudag::detail
