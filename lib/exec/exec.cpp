// Launches and getters of Exec, and the enabling of its nodes.
#include <cudag/exec.hpp>
#include <cudag/graph.hpp>

#include "cuda/failure.hpp"
#include "exec_nodes.hpp"
#include "graph/names.hpp"
#include "handles/text.hpp"
#include "node/rules.hpp"

#include <cudag/format.hpp>

#include <memory>
#include <string>
#include <utility>

namespace cudag {

using detail::ExecState;

namespace {

void set_enabled(ExecState& exec, const Node& node, bool enabled) {
    const detail::NodePlace target = exec.node_of(node);
    const auto subject = [&] { return target.subject(enabled ? "enable " : "disable "); };
    if (!detail::rules_of(target.record().kind).can_be_disabled)
        detail::refuse<UpdateError>("CUDA enables and disables kernel, memcpy and memset nodes only", subject());
    exec.set_enabled(target, enabled);
}

} // namespace

Exec::Exec(std::unique_ptr<ExecState>&& state) noexcept : state_(std::move(state)) {}
Exec::Exec(Exec&&) noexcept = default;
Exec& Exec::operator=(Exec&&) noexcept = default;
Exec::~Exec() = default;

Exec Exec::view(cudaGraphExec_t exec, const Graph& graph) {
    if (exec == nullptr) detail::refuse("view: the executable graph is null");
    detail::GraphState& source = detail::Access::state(graph);
    require_root(source, "view");
    const auto lock = source.lock();
    detail::Owners owners;
    list_owners(source, owners);
    auto state = std::make_unique<ExecState>(exec, detail::Access::shared_state(graph),
                                             InstantiateOptions{.plan = Plan::as_written()}, nullptr,
                                             std::vector<detail::HostNodeRun>(), detail::version_of(std::move(owners)));
    state->give_up_native();
    return Exec(std::move(state));
}

ExecState& Exec::state() const {
    if (!state_) [[unlikely]]
        detail::refuse("a moved-from Exec was used");
    return *state_;
}

void Exec::launch(StreamRef stream) {
    state().launch(stream.get());
}

void Exec::rethrow() const {
    state().hosts().rethrow();
}

void Exec::upload(StreamRef stream) {
    state().upload(stream.get());
}

bool Exec::is_uploaded() const {
    return state().uploaded();
}

DeviceExec Exec::on_device() const {
    if (!state().options().device_launch)
        detail::refuse("on_device: this Exec is for launches by the host; instantiate it with {.device_launch = true}");
    if (!state().uploaded())
        detail::refuse("on_device: the device does not have this Exec as it is; upload() it first, and again after "
                       "each update");
    return {detail::Passkey(), state().native()};
}

void Exec::enable(const Node& node) {
    set_enabled(state(), node, true);
}
void Exec::disable(const Node& node) {
    set_enabled(state(), node, false);
}

bool Exec::is_enabled(const Node& node) const {
    const detail::NodePlace target = state().node_of(node);
    if (!detail::rules_of(target.record().kind).can_be_disabled) return true;
    unsigned enabled = 0;
    detail::checked<UpdateError>(cudaGraphNodeGetEnabled(state().native(), target.native(), &enabled),
                                 "cudaGraphNodeGetEnabled");
    return enabled != 0;
}

namespace {

void set_copy_enabled(ExecState& exec, const CopyInBatch& copy, bool enabled) {
    if (copy.is_node()) return set_enabled(exec, copy.node(), enabled);
    const detail::NodePlace target = exec.node_of(copy.node());
    exec.disabled_memsets().set_enabled(exec.native(), target, exec.effective().shadow(target), copy.number(), enabled);
    exec.set_changed();
}

} // namespace

void Exec::enable(const CopyInBatch& copy) {
    set_copy_enabled(state(), copy, true);
}
void Exec::disable(const CopyInBatch& copy) {
    set_copy_enabled(state(), copy, false);
}
bool Exec::is_enabled(const CopyInBatch& copy) const {
    if (!is_enabled(copy.node())) return false;
    const detail::Shadow* const shadow = state().effective().find_shadow(state().node_of(copy.node()));
    return copy.is_node() || shadow == nullptr || shadow->disabled_copies.empty() ||
           !shadow->disabled_copies[copy.number()];
}

std::uint64_t Exec::replays() const {
    return state().replays();
}
UpdateCounts Exec::update_counts() const {
    return state().turns().counts;
}
InstantiateOptions Exec::options() const {
    return state().options();
}
cudaGraphExec_t Exec::native() const {
    return state().hand_out();
}

std::string to_string(const Exec& exec) {
    const detail::ExecState* const state = detail::Access::find_state(exec);
    if (state == nullptr) return "moved-from Exec";
    const detail::GraphState& graph = state->source();
    const SourceLocation& where = graph.construction().made_at;
    const std::uint64_t launches = state->replays();
    return fmt::format("exec{} of {}, launched {} time{}{}", detail::quoted_name(graph), count_nodes(graph), launches,
                       launches == 1 ? "" : "s",
                       where.line == 0 ? "" : fmt::format(", of the graph made at {}", where));
}

} // namespace cudag
