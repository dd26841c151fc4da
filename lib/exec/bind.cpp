// Exec::bind: other memory for BufferParams, node by node, all or nothing.
#include <cudag/exec.hpp>

#include "changed_nodes.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/kernel_name.hpp"
#include "exec_declarations.hpp"
#include "exec_state.hpp"
#include "graph/names.hpp"
#include "update_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory_resource>
#include <optional>
#include <utility>

namespace cudag {

namespace detail {

namespace {

/// One use, and what is to stand there.
struct Rebound {
    const AddressUse* use;
    const BufferBinding* binding;
    const BoundParam* param;

    [[nodiscard]] std::uintptr_t address() const noexcept { return binding->address() + use->offset; }
    [[nodiscard]] std::uint32_t node_number() const noexcept {
        return use->place.graph->first_number() + use->place.index;
    }
};

std::string describe(const ParamMemory& param) {
    return fmt::format("the parameter of {} bytes at {:#x}", param.bytes, param.address);
}

void require_sound(const BufferBinding& binding, std::span<const BufferBinding> all) {
    if (binding.address() == 0) refuse<UpdateError>("bind: the memory is null");
    if (binding.bytes() < binding.param().bytes)
        refuse<UpdateError>(fmt::format("bind: {} cannot be bound to {} bytes: it needs as many or more",
                                        describe(binding.param()), binding.bytes()));
    const auto is_same = [&](const BufferBinding& other) { return other.param().id == binding.param().id; };
    if (std::count_if(all.begin(), all.end(), is_same) > 1)
        refuse<UpdateError>(fmt::format("bind: {} is given twice", describe(binding.param())));
}

void require_bindable(const AddressUse& use, const ParamMemory& param) {
    const auto subject = [&] { return use.place.subject("bind: "); };
    if (std::holds_alternative<const cudaMemcpy3DParms*>(use.place.record().params))
        refuse<UpdateError>("CUDA updates 1D copies only; give the graph the memory and instantiate it", subject());
    if (use.bytes > param.bytes - use.offset)
        refuse<UpdateError>(fmt::format("it uses {} bytes from offset {} on, and the parameter has {}: make that as "
                                        "long as what is used",
                                        use.bytes, use.offset, param.bytes),
                            subject());
}

/// What is to change in an exec, and in what.
class Binder {
  public:
    Binder(ExecState& exec, std::span<const BufferBinding> bindings) : exec_(exec) {
        for (const BufferBinding& binding : bindings) {
            require_sound(binding, bindings);
            BoundParam& param = exec.bound_params().find(exec.source(), binding.param());
            if (param.uses.empty())
                refuse<UpdateError>(fmt::format("bind: no node of {} uses {}", describe_graph(exec.source()),
                                                describe(binding.param())));
            params_.push_back(&param);
            for (const AddressUse& use : param.uses) {
                require_bindable(use, binding.param());
                rebound_.push_back({&use, &binding, &param});
            }
        }
        if (bindings.size() > 1) // the uses of one stand node by node
            std::stable_sort(rebound_.begin(), rebound_.end(),
                             [](const Rebound& a, const Rebound& b) { return a.node_number() < b.node_number(); });
        next_.reserve(rebound_.size());
    }

    std::size_t push(std::span<const BufferBinding> bindings) {
        ChangedNodes changed(exec_, rebound_.size(), "bind: ");
        for (auto first = rebound_.cbegin(); first != rebound_.cend();) {
            const auto last = std::find_if(first, rebound_.cend(),
                                           [&](const Rebound& next) { return next.use->place != first->use->place; });
            add({first, last}, changed);
            first = last;
        }
        changed.require_no_race();
        bind_context();
        if (std::optional<ChangedNodes::Refusal> refusal = changed.push())
            raise_update(refusal->result, refusal->params, std::move(refusal->subject));
        changed.commit();
        for (std::size_t i = 0; i < bindings.size(); ++i)
            params_[i]->owner = bindings[i].owner().get();
        return next_.size();
    }

  private:
    using Uses = std::span<const Rebound>;

    /// Adds the node of `uses` to `changed`, if something changes in it.
    void add(const Uses& uses, ChangedNodes& changed) {
        const NodePlace& place = uses.front().use->place;
        const NodeParams& current = exec_.params(place);
        require_same_kernel(current, place);
        Shadow* const shadow = exec_.find_shadow(place);
        const Owners* const owners =
            shadow == nullptr || shadow->owners.empty() ? nullptr : &shadow->owners.front().owners;
        const auto has = [&](const Rebound& rebound) { return is_in_force(rebound, current, owners); };
        if (std::all_of(uses.begin(), uses.end(), has)) return;
        OwnedParams& next = next_.emplace_back(memory_, current);
        for (const Rebound& rebound : uses)
            set_address(next, *rebound.use, rebound.address());
        changed.add(place, next.view(), owners_after(uses, owners), declared_after(uses, place, current));
    }

    static bool is_in_force(const Rebound& rebound, const NodeParams& current, const Owners* owners) {
        if (address_in(current, *rebound.use) != rebound.address()) return false;
        const auto owner = rebound.binding->owner();
        const auto keeps = [&](const Owner& kept) {
            return kept.argument == rebound.use->argument && kept.object == owner;
        };
        return owner == nullptr || (owners != nullptr && std::any_of(owners->begin(), owners->end(), keeps));
    }

    /// What the arguments that are bound do is done elsewhere.
    [[nodiscard]] std::vector<ArgumentAccess> declared_after(const Uses& uses, const NodePlace& place,
                                                             const NodeParams& current) const {
        std::vector<ArgumentAccess> declared;
        for_each_declared(exec_, place, [&](ArgumentAccess access) {
            const auto is_of = [&](const Rebound& rebound) {
                return rebound.use->argument == access.argument &&
                       address_in(current, *rebound.use) == access.region.begin;
            };
            if (const auto use = std::find_if(uses.begin(), uses.end(), is_of); use != uses.end())
                access.region.begin = use->address();
            declared.push_back(access);
        });
        return declared;
    }

    /// Those of other arguments stay. In an object, what else it points at is not known: only what was bound goes.
    static OwnerVersions owners_after(const Uses& uses, const Owners* current) {
        Owners owners = current != nullptr ? *current : Owners();
        for (const Rebound& rebound : uses)
            std::erase_if(owners, [&](const Owner& owner) {
                return owner.argument == rebound.use->argument &&
                       (!rebound.use->is_in_object || owner.object.get() == rebound.param->owner);
            });
        for (const Rebound& rebound : uses)
            keep(owners, rebound.use->argument, rebound.binding->owner());
        return owners.empty() ? OwnerVersions() : version_of(std::move(owners));
    }

    /// The update of a whole graph may have given the node another one.
    static void require_same_kernel(const NodeParams& current, const NodePlace& place) {
        const auto* const* made = std::get_if<const KernelParams*>(&place.record().params);
        if (made == nullptr) return;
        const KernelParams& now = *std::get<const KernelParams*>(current);
        if (!same_types(*now.signature, *(*made)->signature) && !same_kernel_types(now, **made))
            refuse_other_kernel("", kernel_name(now.function), place.subject("bind: "));
    }

    ExecState& exec_;
    std::vector<BoundParam*> params_; ///< of the bindings
    std::vector<Rebound> rebound_;    ///< the uses of each node together
    std::array<std::byte, 4096> few_;
    std::pmr::monotonic_buffer_resource memory_{few_.data(), few_.size()};
    std::vector<OwnedParams> next_;
};

} // namespace

} // namespace detail

std::size_t Exec::bind(std::span<const BufferBinding> bindings) {
    return detail::Binder(state(), bindings).push(bindings);
}

} // namespace cudag
