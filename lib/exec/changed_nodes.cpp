// Changes of several nodes of an exec, one after the other, all or none.
#include "changed_nodes.hpp"

#include "cuda/failure.hpp"
#include "exec_declarations.hpp"
#include "update_rules.hpp"

#include <utility>

namespace cudag::detail {

void ChangedNodes::add(const NodePlace& place, const NodeParams& next, OwnerVersions&& owners,
                       std::vector<ArgumentAccess>&& declared) {
    Shadow& shadow = exec_.shadow(place);
    exec_.reserve(shadow, next); // a whole update may have given the node another kernel
    Change& change = nodes_.emplace_back(Change{place, next, shadow, std::move(owners), std::move(declared)});
    change.run = exec_.hosts().run(place, next, change.owners);
    if (change.run != nullptr && may_undo_) {
        change.undo = exec_.hosts().run(place, shadow.params, change.undo_owners);
        if (!shadow.owners.empty()) shadow.owners.front().owners.reserve(shadow.owners.front().owners.size() + 1);
    }
    require_exec_takes(shadow.params, next, [&] { return place.subject(call_); });
}

void ChangedNodes::require_no_race() {
    if (!exec_.refuses_races()) return;
    const NodePlace* last = nullptr;
    for (const Declared& node : declared_) {
        races_.stage(exec_.race_watch(), node.place, node.shadow.params, node.list);
        last = &node.place;
    }
    for (const Change& change : nodes_) {
        if (!changes_accesses(exec_, change.place, change.next, change.declared)) continue;
        races_.stage(exec_.race_watch(), change.place, change.next, change.declared);
        last = &change.place;
    }
    races_.require_none("", [&] { return last->subject(call_); });
}

std::optional<ChangedNodes::Refusal> ChangedNodes::push() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const NativeResult result = exec_.set_params(nodes_[i].place, nodes_[i].next, nodes_[i].run);
        if (result.status == cudaSuccess) [[likely]]
            continue;
        const Change& refused = nodes_[i];
        if (result.api == Api::runtime) ignore(result.status);
        while (i-- > 0) // before the subject's text, which may run out of memory
            undo(nodes_[i]);
        return Refusal{result, refused.next, refused.place.subject(call_), refused.place};
    }
    return std::nullopt;
}

/// Restores the effective parameters: CUDA has accepted them before.
void ChangedNodes::undo(Change& change) noexcept {
    const NativeResult result = exec_.set_params(change.place, change.shadow.params, change.undo);
    if (result.api == Api::runtime) ignore(result.status);
    if (change.shadow.owners.empty())
        change.shadow.owners = std::move(change.undo_owners);
    else if (!change.undo_owners.empty())
        change.shadow.owners.front().owners.push_back(std::move(change.undo_owners.front().owners.front()));
}

void ChangedNodes::commit() noexcept {
    for (Change& change : nodes_) {
        Shadows::assign(change.shadow, change.next);
        change.shadow.declared = std::move(change.declared);
        exec_.commit(change.shadow, std::move(change.owners));
    }
    for (Declared& node : declared_)
        node.shadow.declared = std::move(node.list);
    races_.commit();
}

} // namespace cudag::detail
