// Changes of several nodes of an exec, one after the other, all or none.
#include "changed_nodes.hpp"

#include "all_or_none.hpp"
#include "cuda/failure.hpp"
#include "exec_declarations.hpp"
#include "update_rules.hpp"

#include <memory>
#include <utility>
#include <variant>

namespace cudag::detail {

void ChangedNodes::add(const NodePlace& place, const NodeParams& next, OwnerVersions&& owners,
                       std::vector<ArgumentAccess>&& declared) {
    Shadow& shadow = exec_.effective().shadow(place);
    exec_.effective().reserve(shadow, next); // a whole update may have given the node another kernel
    Change& change = nodes_.emplace_back(Change{place, next, shadow, std::move(declared)});
    if (!owners.empty() || std::holds_alternative<const HostParams*>(next)) [[unlikely]] {
        change.kept = std::make_unique<Kept>(Kept{std::move(owners)});
        prepare_run(change);
    }
    require_exec_takes(shadow.params, next, [&] { return place.subject(call_); });
}

void ChangedNodes::prepare_run(Change& change) {
    Kept& kept = *change.kept;
    kept.run = exec_.hosts().run(change.place, change.next, kept.owners);
    if (kept.run == nullptr || !may_undo_) return;
    OwnerVersions& current = change.shadow.owners;
    kept.undo = exec_.hosts().run(change.place, change.shadow.params, kept.undo_owners);
    if (!current.empty()) current.front().owners.reserve(current.front().owners.size() + 1);
}

void ChangedNodes::require_no_race() {
    if (!refuses_races(exec_)) return;
    const NodePlace* last = nullptr;
    for (const Declared& node : declared_) {
        races_.stage(exec_.races().watch(), node.place, node.shadow.params, node.list);
        last = &node.place;
    }
    for (const Change& change : nodes_) {
        if (!changes_accesses(exec_, change.place, change.next, change.declared)) continue;
        races_.stage(exec_.races().watch(), change.place, change.next, change.declared);
        last = &change.place;
    }
    races_.require_none("", [&] { return last->subject(call_); });
}

std::optional<ChangedNodes::Refusal> ChangedNodes::push() {
    const auto give = [this](std::size_t i) {
        const Change& change = nodes_[i];
        return exec_.set_params(change.place, change.next, change.kept == nullptr ? nullptr : change.kept->run);
    };
    const auto refusal = AllOrNone(give, [this](std::size_t i) { undo(nodes_[i]); }).push(nodes_.size());
    if (!refusal) [[likely]]
        return std::nullopt;
    const Change& change = nodes_[refusal->change];
    return Refusal{refusal->result, change.next, change.place.subject(call_), change.place};
}

/// Restores the effective parameters: CUDA has accepted them before.
void ChangedNodes::undo(Change& change) noexcept {
    Kept* const kept = change.kept.get();
    const NativeResult result =
        exec_.set_params(change.place, change.shadow.params, kept == nullptr ? nullptr : kept->undo);
    ignore(result);
    if (kept == nullptr) return;
    if (change.shadow.owners.empty())
        change.shadow.owners = std::move(kept->undo_owners);
    else if (!kept->undo_owners.empty())
        change.shadow.owners.front().owners.push_back(std::move(kept->undo_owners.front().owners.front()));
}

void ChangedNodes::commit() noexcept {
    for (Change& change : nodes_) {
        Shadows::assign(change.shadow, change.next);
        change.shadow.declared = std::move(change.declared);
        if (change.kept != nullptr) [[unlikely]]
            exec_.commit(change.shadow, std::move(change.kept->owners));
        else
            exec_.commit(change.shadow);
    }
    for (Declared& node : declared_)
        node.shadow.declared = std::move(node.list);
    races_.commit();
}

} // namespace cudag::detail
