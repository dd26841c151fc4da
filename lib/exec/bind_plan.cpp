// What one call of bind has found, for the next call with the same parameters.
#include "bind_plan.hpp"

#include "all_or_none.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "exec_declarations.hpp"
#include "exec_state.hpp"

#include <cudag/access.hpp>
#include <cudag/detail/few_of.hpp>

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

namespace cudag::detail {

namespace {

using SharedOwner = std::shared_ptr<const void>;

/// Whether both keep the same alive.
bool is_same_owner(const SharedOwner& a, const SharedOwner& b) noexcept {
    return a == b && !a.owner_before(b) && !b.owner_before(a);
}

class PlannedBind {
  public:
    PlannedBind(ExecState& exec, BindPlan& plan, std::span<const BufferBinding> bindings)
        : exec_(exec), plan_(plan), bindings_(bindings) {
        for (const BufferBinding& binding : bindings)
            owners_.push_back(binding.owner());
    }

    [[nodiscard]] std::optional<std::size_t> run() {
        const auto is_sound = [](const BufferBinding& binding) {
            return binding.address() != 0 && binding.bytes() >= Access::memory(binding).bytes;
        };
        if (!std::ranges::all_of(bindings_, is_sound)) return std::nullopt;
        for (const BindPlan::Node& node : plan_.nodes)
            if (!look_at(node)) return std::nullopt;
        const bool moves = std::ranges::any_of(plan_.nodes, [this](const auto& node) { return moves_accesses(node); });
        if (moves && refuses_races(exec_) && !plan_.is_raceless(bindings_, exec_.races().changes()))
            return std::nullopt;
        if (leaving_ != 0) gone_.emplace_back().owners.reserve(leaving_); // nothing fails once CUDA has the changes
        bind_context();
        std::size_t changed = 0;
        const auto give = [&](std::size_t i) {
            if (!is_needed(plan_.nodes[i])) return NativeResult{cudaSuccess, ""};
            ++changed;
            return push(plan_.nodes[i]);
        };
        if (const auto refusal =
                AllOrNone(give, [this](std::size_t i) { undo(plan_.nodes[i]); }).push(plan_.nodes.size()))
            [[unlikely]] {
            const NodePlace& place = plan_.nodes[refusal->change].place;
            raise_update(refusal->result, exec_.effective().of(place), place.subject("bind: "));
        }
        if (changed == 0) return changed;
        for (const BindPlan::Node& node : plan_.nodes)
            if (is_needed(node)) commit(node);
        if (moves && refuses_races(exec_)) plan_.note_own_changes(exec_.races().changes());
        exec_.in_flight().retire(std::move(gone_));
        return changed;
    }

  private:
    [[nodiscard]] std::span<BindPlan::Change> changes_of(const BindPlan::Node& node) noexcept {
        return std::span(plan_.changes).subspan(node.first, node.end - node.first);
    }
    [[nodiscard]] bool is_needed(const BindPlan::Node& node) noexcept {
        return std::ranges::any_of(changes_of(node), &BindPlan::Change::is_needed);
    }
    /// Whether the node has declared accesses, and addresses that change.
    [[nodiscard]] bool moves_accesses(const BindPlan::Node& node) noexcept {
        const Shadow& shadow = *exec_.effective().find_shadow(node.place);
        return shadow.declared && !shadow.declared->empty() && is_needed(node);
    }
    [[nodiscard]] std::uintptr_t next_address(const BindPlan::Change& change) const noexcept {
        return bindings_[change.binding].address() + change.use->offset;
    }

    /// The node's owner for an address; null if it has none. Nothing if other owners would have to go, too.
    [[nodiscard]] static std::optional<Owner*> owner_of(Shadow& shadow, const AddressUse& use) noexcept {
        Owner* found = nullptr;
        if (shadow.owners.empty()) return found;
        const std::uint32_t word = use.is_in_object ? use.at + 1 : 0;
        for (Owner& owner : shadow.owners.front().owners) {
            if (owner.argument != use.argument || (use.is_in_object && owner.word != word)) continue;
            if (found != nullptr || owner.word != word) return std::nullopt;
            found = &owner;
        }
        return found;
    }

    /// Whether the node declares accesses of single arguments at most.
    [[nodiscard]] bool declares_arguments(const BindPlan::Node& node, const Shadow& shadow) const {
        if (!shadow.declared) return !may_declare(exec_, node.place, shadow);
        return std::ranges::none_of(*shadow.declared, [](const ArgumentAccess& access) {
            return access.argument == whole_node || access.moved_from != 0;
        });
    }
    /// Whether no binding of this call keeps the owner.
    [[nodiscard]] bool leaves(const SharedOwner& owner) const noexcept {
        return std::none_of(owners_.begin(), owners_.end(),
                            [&](const SharedOwner& kept) { return is_same_owner(owner, kept); });
    }
    /// Finds the needed changes of a node. False if it needs more than other addresses.
    [[nodiscard]] bool look_at(const BindPlan::Node& node) {
        Shadow* const shadow = exec_.effective().find_shadow(node.place);
        if (shadow == nullptr || !declares_arguments(node, *shadow)) return false;
        const auto* const* kernel = std::get_if<const KernelParams*>(&shadow->params.view());
        if (kernel == nullptr || (*kernel)->signature != node.signature) return false;
        for (BindPlan::Change& change : changes_of(node)) {
            const SharedOwner& next = owners_[change.binding];
            const std::optional<Owner*> owner = owner_of(*shadow, *change.use);
            if (!owner || (*owner == nullptr) != (next == nullptr)) return false;
            const bool stays = next == nullptr || is_same_owner((*owner)->object, next);
            if (!stays && (*owner)->object == next) return false;
            if (!stays && leaves((*owner)->object)) ++leaving_;
            change.is_needed = !stays || address_in(*kernel, *change.use) != next_address(change);
        }
        return true;
    }

    /// Gives CUDA the next addresses, in place; restores the former ones if CUDA refuses.
    [[nodiscard]] NativeResult push(const BindPlan::Node& node) {
        OwnedParams& params = exec_.effective().find_shadow(node.place)->params;
        for (std::uint32_t i = node.first; i < node.end; ++i) {
            const BindPlan::Change& change = plan_.changes[i];
            plan_.former[i] = address_in(params, *change.use);
            set_address(params, *change.use, next_address(change));
        }
        const NativeResult result = exec_.set_params(node.place, params, nullptr);
        if (result.status != cudaSuccess) [[unlikely]]
            restore_addresses(node, params);
        return result;
    }
    void undo(const BindPlan::Node& node) noexcept {
        if (!is_needed(node)) return;
        OwnedParams& params = exec_.effective().find_shadow(node.place)->params;
        restore_addresses(node, params);
        static_cast<void>(exec_.set_params(node.place, params, nullptr));
    }
    void restore_addresses(const BindPlan::Node& node, OwnedParams& params) noexcept {
        for (std::uint32_t i = node.first; i < node.end; ++i)
            set_address(params, *plan_.changes[i].use, plan_.former[i]);
    }

    void commit(const BindPlan::Node& node) noexcept {
        Shadow& shadow = *exec_.effective().find_shadow(node.place);
        for (const BindPlan::Change& change : changes_of(node)) {
            const SharedOwner& next = owners_[change.binding];
            if (next == nullptr) continue;
            Owner& owner = **owner_of(shadow, *change.use);
            if (leaves(owner.object)) gone_.front().owners.push_back(owner);
            owner.object = next;
        }
        exec_.set_changed();
        if (!moves_accesses(node)) return;
        for (ArgumentAccess& access : *shadow.declared)
            move(access, node);
        if (refuses_races(exec_)) exec_.races().note_unwatched(node.place);
    }
    void move(ArgumentAccess& access, const BindPlan::Node& node) noexcept {
        for (std::uint32_t i = node.first; i < node.end; ++i) {
            const BindPlan::Change& change = plan_.changes[i];
            if (change.use->argument != access.argument || plan_.former[i] != access.block.begin) continue;
            access.block.begin = next_address(change);
            return;
        }
    }

    ExecState& exec_;
    BindPlan& plan_;
    std::span<const BufferBinding> bindings_;
    FewOf<SharedOwner, 4> owners_; ///< of the bindings
    std::size_t leaving_ = 0;      ///< how many owners leave their nodes, and stay with no other
    OwnerVersions gone_;           ///< these
};

} // namespace

bool BindPlan::is_raceless(std::span<const BufferBinding> bindings, std::uint64_t accesses) const noexcept {
    if (accesses != accesses_) return false;
    for (auto list = raceless_.begin(); list != raceless_.end(); list += static_cast<std::ptrdiff_t>(bindings.size()))
        if (std::ranges::equal(bindings, std::span(list, bindings.size()), {}, &BufferBinding::address)) return true;
    return false;
}

void BindPlan::note_raceless(std::span<const BufferBinding> bindings, std::uint64_t before, std::uint64_t accesses) {
    constexpr std::size_t most = 8;
    if (before != accesses_ || raceless_.size() >= most * bindings.size()) raceless_.clear();
    accesses_ = accesses;
    if (is_raceless(bindings, accesses)) return;
    std::ranges::transform(bindings, std::back_inserter(raceless_), &BufferBinding::address);
}

std::optional<std::size_t> bind_by_plan(ExecState& exec, BindPlan& plan, std::span<const BufferBinding> bindings) {
    return PlannedBind(exec, plan, bindings).run();
}

} // namespace cudag::detail
