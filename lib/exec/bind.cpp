// Exec::bind: replacement of the memory of BufferParams, node by node, all or none.
#include <cudag/access.hpp>
#include <cudag/detail/recapture.hpp>
#include <cudag/exec.hpp>
#include <cudag/graph.hpp>

#include "bind_plan.hpp"
#include "changed_nodes.hpp"
#include "compare/diff.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/kernel_name.hpp"
#include "exec_declarations.hpp"
#include "exec_nodes.hpp"
#include "exec_plan.hpp"
#include "graph/names.hpp"
#include "update_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory_resource>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace cudag {

namespace detail {

namespace {

/// A use of a parameter, and the binding that replaces its address.
struct Rebound {
    const AddressUse* use;
    const BufferBinding* binding;

    [[nodiscard]] std::uintptr_t address() const noexcept { return binding->address() + use->offset; }
    [[nodiscard]] std::uint32_t node_number() const noexcept {
        return use->place.graph->tree().first_number() + use->place.index;
    }
};

/// Memory with declared accesses of a node, and its place after the bind.
struct MovedMemory {
    NodePlace place;
    std::uintptr_t begin; ///< its address in the graph: parameters bound to the same memory still differ there
    std::size_t bytes;
    std::uintptr_t next;

    [[nodiscard]] std::uint32_t node_number() const noexcept {
        return place.graph->tree().first_number() + place.index;
    }
};

/// The distance by which a binding moves the memory of its parameter. Parameters that share memory need equal ones.
std::uintptr_t distance_of(const BufferBinding& binding) noexcept {
    return binding.address() - Access::memory(binding).address; // may wrap around
}

void require_sound(const BufferBinding& binding) {
    if (binding.address() == 0) refuse<UpdateError>("bind: the memory is null");
    if (binding.bytes() < Access::memory(binding).bytes)
        refuse<UpdateError>(fmt::format("bind: {} cannot be bound to {} bytes: it needs as many or more",
                                        describe_param(Access::memory(binding)), binding.bytes()));
}

/// Throws UpdateError if a parameter is given twice, or if memory shared by two parameters would be in two places.
void require_apart(std::span<const BufferBinding> bindings) {
    if (bindings.size() < 2) return;
    std::vector<const BufferBinding*> sorted;
    for (const BufferBinding& binding : bindings)
        sorted.push_back(&binding);
    const auto id = [](const BufferBinding* binding) { return Access::memory(*binding).id; };
    const auto address = [](const BufferBinding* binding) { return Access::memory(*binding).address; };
    std::ranges::sort(sorted, {}, id);
    if (const auto twice = std::ranges::adjacent_find(sorted, {}, id); twice != sorted.end())
        refuse<UpdateError>(fmt::format("bind: {} is given twice", describe_param(Access::memory(**twice))));
    std::ranges::stable_sort(sorted, {}, address);
    const BufferBinding* longest = sorted.front(); // the one that ends last, so far
    const auto end_of = [](const BufferBinding& binding) {
        return Access::memory(binding).address + Access::memory(binding).bytes;
    };
    for (const BufferBinding* binding : std::span(sorted).subspan(1)) {
        const bool overlap = Access::memory(*binding).address < end_of(*longest);
        if (overlap && distance_of(*binding) != distance_of(*longest))
            refuse<UpdateError>(fmt::format("bind: {} overlaps {}, and both are bound to different memory: what they "
                                            "share can be in one place only; bind the larger one, or in two calls",
                                            describe_param(Access::memory(*binding)),
                                            describe_param(Access::memory(*longest))));
        if (end_of(*binding) > end_of(*longest)) longest = binding;
    }
}

void require_bindable(const AddressUse& use, const ParamMemory& param) {
    const auto subject = [&] { return use.place.subject("bind: "); };
    if (std::holds_alternative<const cudaMemcpy3DParms*>(use.place.record().params))
        refuse<UpdateError>("CUDA updates 1D copies only; give the graph the memory and instantiate it", subject());
    if (use.bytes > param.bytes - use.offset)
        refuse<UpdateError>(
            fmt::format("it uses {} bytes at offset {}, and the parameter has {}: make the parameter large enough",
                        use.bytes, use.offset, param.bytes),
            subject());
}

/// Plans and makes the changes of one call of `bind`.
class Binder {
  public:
    Binder(ExecState& exec, std::span<const BufferBinding> bindings) : exec_(exec), bindings_(bindings) {
        for (const BufferBinding& binding : bindings)
            require_sound(binding);
        require_apart(bindings);
        for (const BufferBinding& binding : bindings)
            add(binding);
        if (bindings.size() > 1 || !recaptured_.empty()) { // each binding lists its uses by node: merge them
            const auto is_before = [](const auto& a, const auto& b) { return a.node_number() < b.node_number(); };
            std::stable_sort(rebound_.begin(), rebound_.end(), is_before);
            std::stable_sort(moved_.begin(), moved_.end(), is_before);
            if (has_claims_) settle_claims();
        }
        next_.reserve(rebound_.size());
    }

    std::size_t push() {
        ChangedNodes changed(exec_, rebound_.size() + recaptured_.size(), "bind: ");
        for (auto first = rebound_.cbegin(); first != rebound_.cend();) {
            const auto last = std::find_if(first, rebound_.cend(),
                                           [&](const Rebound& next) { return next.use->place != first->use->place; });
            add({first, last}, changed);
            first = last;
        }
        add_declared_alone(changed);
        for (Recaptured& each : recaptured_)
            add(each, changed);
        changed.require_no_race();
        bind_context();
        if (std::optional<ChangedNodes::Refusal> refusal = changed.push())
            raise_update(refusal->result, refusal->params, std::move(refusal->subject));
        changed.commit();
        for (const Recaptured& each : recaptured_)
            exec_.bound_params().set_recapture(*each.inner, exec_.effective().in_basis(*each.inner), each.next);
        for (std::size_t i = 0; i < bindings_.size(); ++i)
            exec_.bound_params().keep(params_graph(), Access::memory(bindings_[i]), found_[i]);
        keep_plan();
        return next_.size() + recaptured_.size();
    }

  private:
    using Uses = std::span<const Rebound>;

    void add(const BufferBinding& binding) {
        const ParamMemory& param = Access::memory(binding);
        found_.push_back(exec_.bound_params().find(params_graph(), exec_.source(), param));
        const MemoryUses& found = *found_.back();
        bool has_recaptured = false;
        for (const ObstacleAt& obstacle : found.obstacles) {
            if (obstacle.kind == Obstacle::end) continue; // such an end is other memory
            if (!recapture_at(obstacle.place, binding)) refuse_obstacle(obstacle, param);
            has_recaptured = true;
        }
        if (found.uses.empty() && !has_recaptured)
            refuse<UpdateError>(
                fmt::format("bind: no node of {} uses {}", describe_graph(exec_.source()), describe_param(param)));
        for (const AddressUse& use : found.uses) {
            if (recapture_around(use.place, binding)) continue;
            require_bindable(use, param);
            const bool is_end = use.offset == param.bytes;
            if (is_end && is_beginning(param.address + param.bytes)) {
                if (param.end_pointers != EndPointers::bound) continue;
                has_claims_ = true;
            }
            rebound_.push_back({&use, &binding});
        }
        for (const DeclaredUse& declared : found.declared) {
            if (recapture_around(declared.place, binding)) continue;
            const AddressUse& use = found.uses[declared.use];
            const NodeParams& in_graph = exec_.effective().as_made(use.place);
            require_same_kernel(in_graph, use.place);
            const std::uintptr_t begin = address_in(in_graph, use) - use.offset;
            moved_.push_back({declared.place, begin, param.bytes, binding.address()});
        }
    }
    /// A graph inside a node that keeps addresses for itself: it is captured again with the memory of the bindings.
    struct Recaptured {
        const GraphState* inner;
        std::vector<MovedRange> moved = {};
        std::shared_ptr<const Recapture> next = nullptr; ///< what can capture the result again
    };

    /// Lets the graph around `place` be captured again, if it can be. Returns whether it can.
    bool recapture_around(const NodePlace& place, const BufferBinding& binding) {
        const GraphState* const graph = recaptured_around(place);
        if (graph != nullptr) note_recaptured(*graph, binding);
        return graph != nullptr;
    }
    /// Also if the node at `place` is around such a graph: what it declares itself moves.
    bool recapture_at(const NodePlace& place, const BufferBinding& binding) {
        const GraphState* const graph = recaptured_at(place);
        if (graph == nullptr) return false;
        note_recaptured(*graph, binding);
        const ParamMemory& param = Access::memory(binding);
        if (graph->tree().parent() == place.graph) // else the graph itself declares
            moved_.push_back({place, param.address, param.bytes, binding.address()});
        return true;
    }
    void note_recaptured(const GraphState& inner, const BufferBinding& binding) {
        const ParamMemory& param = Access::memory(binding);
        const auto known = std::ranges::find(recaptured_, &inner, &Recaptured::inner);
        Recaptured& graph = known != recaptured_.end() ? *known : recaptured_.emplace_back(Recaptured{&inner});
        if (graph.moved.empty() || graph.moved.back().begin != param.address)
            graph.moved.push_back({param.address, param.bytes, binding.address(), binding.owner()});
    }

    /// Captures a graph again, and adds its nodes to `changed`.
    void add(Recaptured& recaptured, ChangedNodes& changed) {
        const GraphState& mine = *recaptured.inner;
        const auto subject = [&] {
            const GraphState* const parent = mine.tree().parent();
            return node_subject(*parent, mine.tree().parent_node(), "bind: ");
        };
        const GraphState& basis = exec_.effective().in_basis(mine);
        const auto current = exec_.bound_params().recapture(mine, basis, basis.construction().recapture);
        if (current == nullptr)
            refuse<UpdateError>("an update has given it a graph that cannot be captured again; update it by a graph "
                                "with the other memory",
                                subject());
        const Graph& graph =
            graphs_.emplace_back(current->with_moved(*mine.construction().recapture, recaptured.moved));
        GraphState& next = Access::state(graph);
        const auto lock = next.lock();
        if (!diff_structure(mine, next).empty())
            refuse<UpdateError>("captured with the other memory, it has other nodes or edges; instantiate a graph with "
                                "that memory",
                                subject());
        complete_source(exec_, mine, next);
        exec_.bound_params().reserve_recapture(mine);
        recaptured.next = next.construction().recapture;
        Owners kept{{0, 0, Access::shared_state(graph)}};
        list_owners(next, kept);
        for_each_graph_pair(mine, next, [&](const GraphState& before, const GraphState& after) {
            for (std::uint32_t i = 0; i < before.records().nodes().size(); ++i) {
                const NodePlace place{&before, i};
                const NodeParams& params = after.records().params(i);
                std::vector<ArgumentAccess> declared = all_declared(after, i);
                const std::vector<FieldDifference> differences = diff_params(exec_.effective().of(place), params);
                if (is_unknown(place.record().kind, params) ||
                    std::ranges::any_of(differences, &FieldDifference::is_fixed_in_node))
                    refuse<UpdateError>(
                        "captured with the other memory, it has a node that an Exec cannot give its own; "
                        "instantiate a graph with that memory",
                        subject());
                if (!differences.empty())
                    changed.add(place, params, version_of(Owners(kept)), std::move(declared));
                else if (!declares(exec_, place, declared))
                    changed.add_declared(place, std::move(declared));
            }
        });
    }

    /// Keeps what was found for the next call with the same parameters, if that may only change addresses in kernels.
    void keep_plan() noexcept {
        if (bindings_.empty() || !recaptured_.empty() || has_claims_ || share_memory()) return;
        try {
            if (BindPlan* const known = exec_.bound_params().find_plan(params_graph(), bindings_))
                return known->note_raceless(bindings_, accesses_before_, exec_.races().changes());
            BindPlan plan;
            std::vector<bool> has_use(bindings_.size());
            for (const Rebound& rebound : rebound_) {
                const NodePlace& place = rebound.use->place;
                const auto* const* kernel = std::get_if<const KernelParams*>(&place.record().params);
                if (kernel == nullptr) return;
                const auto number = static_cast<std::uint32_t>(plan.changes.size());
                if (plan.nodes.empty() || plan.nodes.back().place != place)
                    plan.nodes.push_back({place, (*kernel)->signature, number, number});
                plan.nodes.back().end = number + 1;
                const auto binding = static_cast<std::uint32_t>(rebound.binding - bindings_.data());
                plan.changes.push_back({rebound.use, binding});
                has_use[binding] = true;
            }
            if (std::ranges::find(has_use, false) != has_use.end()) return; // its owner would stay nowhere
            const auto has_changes = [&](const MovedMemory& moved) { // else a use inside it moves what it declares
                return std::ranges::binary_search(rebound_, moved.node_number(), {}, &Rebound::node_number);
            };
            if (!std::ranges::all_of(moved_, has_changes)) return;
            plan.former.resize(plan.changes.size());
            plan.note_raceless(bindings_, accesses_before_, exec_.races().changes());
            exec_.bound_params().keep_plan(bindings_, std::move(found_), std::move(plan));
        } catch (...) { // out of memory: the next call searches again
            exec_.bound_params().forget_plans();
        }
    }
    /// Whether parameters of the call have memory in common.
    [[nodiscard]] bool share_memory() const noexcept {
        for (std::size_t i = 0; i < bindings_.size(); ++i)
            for (std::size_t j = 0; j < i; ++j) {
                const ParamMemory &a = Access::memory(bindings_[i]), &b = Access::memory(bindings_[j]);
                if (a.address < b.address + b.bytes && b.address < a.address + a.bytes) return true;
            }
        return false;
    }
    /// Whether another parameter of the call begins there.
    [[nodiscard]] bool is_beginning(std::uintptr_t address) const {
        return std::ranges::any_of(
            bindings_, [&](const BufferBinding& other) { return Access::memory(other).address == address; });
    }

    /// Removes other parameters' uses of the addresses claimed as ends by `EndPointers::bound`.
    void settle_claims() {
        const auto is_claim = [](const Rebound& rebound) {
            return rebound.use->offset == Access::memory(*rebound.binding).bytes;
        };
        std::vector<Rebound> claims;
        std::ranges::copy_if(rebound_, std::back_inserter(claims), is_claim);
        std::erase_if(rebound_, [&](const Rebound& other) {
            const auto is_same = [&](const Rebound& claim) {
                return claim.use->place == other.use->place && claim.use->at == other.use->at;
            };
            return !is_claim(other) && std::ranges::any_of(claims, is_same);
        });
    }

    /// Adds the node of `uses` to `changed` if its parameters or owners change.
    void add(const Uses& uses, ChangedNodes& changed) {
        const NodePlace& place = uses.front().use->place;
        const NodeParams& current = exec_.effective().of(place);
        require_same_kernel(current, place);
        Shadow* const shadow = exec_.effective().find_shadow(place);
        const Owners* const owners =
            shadow == nullptr || shadow->owners.empty() ? nullptr : &shadow->owners.front().owners;
        const auto has = [&](const Rebound& rebound) { return is_in_force(rebound, current, owners); };
        if (std::all_of(uses.begin(), uses.end(), has)) return;
        OwnedParams& next = next_.emplace_back(memory_, current);
        for (const Rebound& rebound : uses)
            set_address(next, *rebound.use, rebound.address());
        changed.add(place, next.view(), owners_after(uses, owners), declared_after(uses, place, current));
    }

    /// Adds the nodes with moved declarations but no use of their own: the uses are in nodes inside them or in their
    /// region.
    void add_declared_alone(ChangedNodes& changed) const {
        for (auto first = moved_.begin(); first != moved_.end();) {
            const NodePlace& place = first->place;
            const auto has_use = std::ranges::lower_bound(rebound_, first->node_number(), {}, &Rebound::node_number);
            const bool is_done = has_use != rebound_.end() && has_use->use->place == place;
            if (!is_done) {
                std::vector<ArgumentAccess> declared = declared_after({}, place, exec_.effective().of(place));
                if (!declares(exec_, place, declared)) changed.add_declared(place, std::move(declared));
            }
            first = std::find_if(first, moved_.end(), [&](const MovedMemory& next) { return next.place != place; });
        }
    }

    static bool is_in_force(const Rebound& rebound, const NodeParams& current, const Owners* owners) {
        if (address_in(current, *rebound.use) != rebound.address()) return false;
        const auto owner = rebound.binding->owner();
        const auto keeps = [&](const Owner& kept) {
            return kept.argument == rebound.use->argument && kept.object == owner;
        };
        return owner == nullptr || (owners != nullptr && std::any_of(owners->begin(), owners->end(), keeps));
    }

    /// Returns the node's declarations after the bind: those of bound arguments and of the whole node move.
    [[nodiscard]] std::vector<ArgumentAccess> declared_after(const Uses& uses, const NodePlace& place,
                                                             const NodeParams& current) const {
        std::vector<ArgumentAccess> declared;
        const std::vector<MovedMemory> moved = moved_of(place);
        for_each_declared(exec_, place, [&](ArgumentAccess access) {
            if (access.argument == whole_node) return move(access, moved, declared);
            const auto is_of = [&](const Rebound& rebound) {
                return rebound.use->argument == access.argument &&
                       address_in(current, *rebound.use) == access.block.begin;
            };
            if (const auto use = std::find_if(uses.begin(), uses.end(), is_of); use != uses.end())
                access.block.begin = use->address();
            declared.push_back(access);
        });
        return declared;
    }
    /// Returns the moved memory of a node, ordered by address in the graph.
    [[nodiscard]] std::vector<MovedMemory> moved_of(const NodePlace& place) const {
        const std::uint32_t number = place.graph->tree().first_number() + place.index;
        const auto first = std::ranges::lower_bound(moved_, number, {}, &MovedMemory::node_number);
        const auto last = std::ranges::upper_bound(moved_, number, {}, &MovedMemory::node_number);
        std::vector<MovedMemory> moved(first, last);
        std::ranges::sort(moved, {}, &MovedMemory::begin);
        return moved;
    }
    /// Appends the accesses that `access` becomes. A range becomes pieces, moved ones and unmoved ones. Rows that
    /// exceed the moved memory stay, and their moved part is added as one range.
    static void move(const ArgumentAccess& access, const std::vector<MovedMemory>& moved,
                     std::vector<ArgumentAccess>& list) {
        const std::uintptr_t origin = access.moved_from != 0 ? access.moved_from : access.block.begin;
        const std::uintptr_t end = origin + (access.block.end() - access.block.begin);
        const auto append = [&](std::uintptr_t first, std::uintptr_t last, std::uintptr_t now) {
            ArgumentAccess piece = access;
            piece.block = {now, last - first};
            piece.moved_from = now == first ? 0 : first;
            if (first < last && std::ranges::find(list, piece) == list.end()) list.push_back(piece);
        };
        std::uintptr_t next = origin; // everything before it has been appended
        for (const MovedMemory& memory : moved) {
            const std::uintptr_t first = std::max(next, memory.begin);
            const std::uintptr_t last = std::min(end, memory.begin + memory.bytes);
            if (first >= last) continue;
            const std::uintptr_t now = memory.next + (first - memory.begin);
            if (first == origin && last == end) {
                list.push_back(access);
                list.back().block.begin = now;
                list.back().moved_from = now == origin ? 0 : origin;
                return;
            }
            if (access.block.is_range()) append(next, first, access.block.begin + (next - origin));
            append(first, last, now);
            next = last;
        }
        if (access.block.is_range())
            append(next, end, access.block.begin + (next - origin));
        else
            list.push_back(access);
    }

    /// Keeps the owners of other arguments. In an object only the owners of bound addresses go: its other pointers are
    /// unknown.
    static OwnerVersions owners_after(const Uses& uses, const Owners* current) {
        Owners owners = current != nullptr ? *current : Owners();
        const auto word_of = [](const AddressUse& use) { return use.is_in_object ? use.at + 1 : 0; };
        for (const Rebound& rebound : uses)
            owners.erase_if([&](const Owner& owner) {
                return owner.argument == rebound.use->argument &&
                       (!rebound.use->is_in_object || owner.word == word_of(*rebound.use));
            });
        for (const Rebound& rebound : uses)
            if (auto owner = rebound.binding->owner())
                owners.push_back({rebound.use->argument, word_of(*rebound.use), std::move(owner)});
        return owners.empty() ? OwnerVersions() : version_of(std::move(owners));
    }

    /// Throws UpdateError if a whole update has given the node a kernel with other parameter types.
    static void require_same_kernel(const NodeParams& current, const NodePlace& place) {
        const auto* const* made = std::get_if<const KernelParams*>(&place.record().params);
        if (made == nullptr) return;
        const KernelParams& now = *std::get<const KernelParams*>(current);
        if (!same_types(*now.signature, *(*made)->signature) && !same_kernel_types(now, **made))
            refuse_other_kernel("", kernel_name(now.function), place.subject("bind: "));
    }

    /// The graph whose BufferParams the exec has.
    [[nodiscard]] const GraphState& params_graph() const noexcept {
        return exec_.turns().has_become_another ? exec_.made_from() : exec_.source();
    }

    ExecState& exec_;
    std::span<const BufferBinding> bindings_;
    const std::uint64_t accesses_before_ = exec_.races().changes();
    std::vector<BoundParams::Uses> found_; ///< one for each binding
    std::vector<Rebound> rebound_;         ///< ordered by node
    bool has_claims_ = false;              ///< some are ends at the beginning of other parameters
    std::vector<MovedMemory> moved_;       ///< ordered by node
    std::vector<Recaptured> recaptured_;
    std::deque<Graph> graphs_; ///< captured again
    std::array<std::byte, 4096> few_;
    std::pmr::monotonic_buffer_resource memory_{few_.data(), few_.size()};
    std::vector<OwnedParams> next_;
};

} // namespace

} // namespace detail

detail::Recapture::~Recapture() = default;

void detail::set_recapture(const Graph& graph, std::shared_ptr<const Recapture> recapture) {
    Access::state(graph).construction().recapture = std::move(recapture);
}

std::size_t Exec::bind(std::span<const BufferBinding> bindings) {
    detail::ExecState& exec = state();
    if (detail::BindPlan* const plan = exec.bound_params().find_plan(exec.source(), bindings))
        if (const std::optional<std::size_t> changed = detail::bind_by_plan(exec, *plan, bindings)) return *changed;
    return detail::Binder(exec, bindings).push();
}

} // namespace cudag
