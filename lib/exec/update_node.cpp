// Updates of single nodes of a graph or an exec: first CUDA, then, if it agrees, the record.
#include <cudag/exec.hpp>
#include <cudag/graph.hpp>
#include <cudag/race.hpp>

#include "cuda/device_guard.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/kernel_name.hpp"
#include "cuda/no_waiting.hpp"
#include "cuda/numbered_contexts.hpp"
#include "exec_declarations.hpp"
#include "exec_nodes.hpp"
#include "graph/graph_state.hpp"
#include "graph/names.hpp"
#include "node/function.hpp"
#include "node/kernel_attributes.hpp"
#include "node/node_params.hpp"
#include "node/problem.hpp"
#include "order/graph_race_watch.hpp"
#include "order/race_check.hpp"
#include "owners/host_call.hpp"
#include "update_rules.hpp"
#include "watched_writes.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cudag {

detail::UpdateTarget Exec::update_target() const {
    return {&state(), nullptr};
}
detail::UpdateTarget Graph::update_target() const {
    require_root(state(), "update");
    return {nullptr, &state()};
}

namespace detail {

namespace {

/// The owners of a node's next version: `fresh`, and the current ones of unchanged arguments, null in `values`. All are
/// replaced if `values` itself is null.
Owners next_owners(const Owners& current, Owners&& fresh, void* const* values) {
    if (values != nullptr)
        for (const Owner& owner : current)
            if (values[owner.argument] == nullptr) fresh.push_back(owner);
    return std::move(fresh);
}

/// The declared accesses of a kernel after an update: those of new arguments, and those of unchanged ones.
class NextDeclared {
  public:
    NextDeclared(ArgumentAccesses& fresh, void* const* values) : list_(fresh), values_(values) {}

    void add_current(const ArgumentAccess& access) {
        if (access.argument == whole_node || values_[access.argument] == nullptr) list_.push_back(access);
    }
    [[nodiscard]] std::span<const ArgumentAccess> list() {
        if (!std::ranges::is_sorted(list_, {}, &ArgumentAccess::argument))
            std::ranges::stable_sort(list_, {}, &ArgumentAccess::argument);
        return list_;
    }

  private:
    ArgumentAccesses& list_;
    void* const* values_;
};

/// Remedies for a race between nodes while only one of them has changed.
constexpr const char* for_execs = "; nodes that change together are given to an Exec together: to bind, apply, or the "
                                  "update of a whole graph";
constexpr const char* for_graphs =
    "; nodes of a Graph change one by one: where two of them exchange memory, give one of "
    "them other memory in between, or build a graph that has both changes";

/// Whether `call` passes a condition, or an object that may hold one.
bool may_give_condition(const KernelCall& call, const KernelSignature& signature) {
    for (std::uint32_t i = 0; i < signature.count; ++i) {
        const Parameter& parameter = signature.parameters[i];
        const bool may_hold = parameter.type == ParameterType::object && parameter.size >= sizeof(Condition);
        if (call.values[i] != nullptr && (may_hold || is_condition(parameter))) return true;
    }
    return false;
}

/// The parameters of a kernel after a call, described by `signature`.
class KernelAfter {
  public:
    KernelAfter(const KernelCall& call, const KernelParams& current, const KernelSignature& signature)
        : values_(current.values, current.values + current.signature->bytes), params_(current) {
        params_.values = values_.data();
        params_.signature = &signature;
        copy_values(call, params_.values);
    }
    KernelAfter(const KernelAfter&) = delete;
    KernelAfter& operator=(const KernelAfter&) = delete;

    [[nodiscard]] NodeParams view() const noexcept { return &params_; }

  private:
    std::vector<std::byte> values_;
    KernelParams params_;
};

/// One update of an exec's node.
class ExecUpdate {
  public:
    static constexpr bool of_exec = true;
    ExecUpdate(ExecState& exec, const Node& node)
        : exec_(exec), node_(exec.node_of(node)), shadow_(exec.effective().shadow(node_)) {}

    [[nodiscard]] Subject subject() const { return node_.subject("update of "); }
    [[nodiscard]] OwnedParams& params() const noexcept { return shadow_.params; }
    [[nodiscard]] const KernelParams& original() const {
        return *std::get<const KernelParams*>(node_.graph->records().nodes()[node_.index].params);
    }

    /// Prepares the owners for `commit`.
    void prepare(Owners&& fresh, void* const* values) {
        if (shadow_.owners.empty() && fresh.empty()) [[likely]]
            return; // everything is still borrowed
        replace_owners(std::move(fresh), values);
    }
    /// Checks the declared accesses of the node after the update. `commit` puts them in force.
    void prepare_declared(ArgumentAccesses&& fresh, void* const* values) {
        if (fresh.empty() && !may_declare(exec_, node_, shadow_)) [[likely]]
            return;
        prepare_declared(std::move(fresh), values, shadow_.params);
    }
    /// Checks the accesses of a kernel that takes other conditions; `params` are those after the update.
    [[gnu::noinline]] void prepare_declared(ArgumentAccesses&& fresh, void* const* values, const NodeParams& params) {
        if (!refuses_races(exec_) && !are_writes_watched()) return; // nobody will ask
        NextDeclared next(fresh, values);
        for_each_declared(exec_, node_, [&](const ArgumentAccess& access) { next.add_current(access); });
        check(params, next.list());
    }
    [[nodiscard]] bool has_conditions() const noexcept { return !node_.graph->root().conditions().all().empty(); }
    void prepare_params(const NodeParams& next) {
        if (!refuses_races(exec_) || have_same_accesses(*node_.graph, shadow_.params, next)) return;
        check(next, all_declared(exec_, node_));
    }
    template <class Params>
    [[nodiscard]] NativeResult set(const Params& params) {
        if constexpr (std::is_same_v<Params, CUDA_KERNEL_NODE_PARAMS>)
            return set_native({node_.graph->records().natives()[node_.index], exec_.native()}, params);
        else
            return exec_.set_params(node_, params, next_ ? *next_ : next_.emplace());
    }
    void commit() noexcept {
        if (next_declared_) {
            shadow_.declared = std::move(next_declared_);
            races_.commit();
        }
        if (next_)
            exec_.commit(shadow_, std::move(*next_));
        else
            exec_.set_changed();
    }

  private:
    [[gnu::noinline]] void replace_owners(Owners&& fresh, void* const* values) {
        const OwnerVersions& current = shadow_.owners;
        next_ = version_of(current.empty() ? std::move(fresh)
                                           : next_owners(current.front().owners, std::move(fresh), values));
    }
    void check(const NodeParams& next, std::span<const ArgumentAccess> declared) {
        if (!changes_accesses(exec_, node_, next, declared)) return;
        if (refuses_races(exec_)) {
            races_.stage(exec_.races().watch(), node_, next, declared);
            races_.require_none(for_execs, [this] { return subject(); });
        }
        next_declared_.emplace(declared.begin(), declared.end());
    }

    ExecState& exec_;
    NodePlace node_;
    Shadow& shadow_;
    std::optional<OwnerVersions> next_;                        ///< none: unchanged
    std::optional<std::vector<ArgumentAccess>> next_declared_; ///< none: unchanged
    RaceCheck races_;
};

/// Sets a node of a graph. Its device is made current, if known: CUDA moves nodes other than kernels to the current
/// one.
template <class Params>
NativeResult set_in_graph(const GraphState& graph, std::uint32_t index, const Params& params) {
    const NodeTarget target{graph.records().natives()[index]};
    if constexpr (std::is_same_v<Params, CUDA_KERNEL_NODE_PARAMS>) {
        return set_native(target, params);
    } else {
        const std::int32_t device = graph.records().nodes()[index].device;
        if (device == any_device || (!is_context_number(device) && is_only_device())) return set_native(target, params);
        const PlaceGuard guard(device);
        return set_native(target, params);
    }
}

/// One update of a graph's node.
class GraphUpdate {
  public:
    static constexpr bool of_exec = false;
    GraphUpdate(const GraphState& root, const Node& node)
        : graph_(graph_of(root, node)), lock_(graph_.lock()),
          node_(graph_.records().updated(GraphIdentity::index_unchecked(node))) {}
    ~GraphUpdate() {
        races_.roll_back();
        lock_.unlock(); // before the former owners go: they run user code
        if (next_.empty()) return;
        const NoWaiting no_waiting;
        next_.clear();
    }
    GraphUpdate(const GraphUpdate&) = delete;
    GraphUpdate& operator=(const GraphUpdate&) = delete;

    [[nodiscard]] Subject subject() const { return node_subject(graph_, node_.index, "update of "); }
    [[nodiscard]] OwnedParams& params() const noexcept { return node_.params; }
    [[nodiscard]] const KernelParams& original() const {
        return *std::get<const KernelParams*>(graph_.records().nodes()[node_.index].params);
    }

    void prepare(Owners&& fresh, void* const* values) {
        if (!node_.owners.empty() || !fresh.empty()) next_ = next_owners(node_.owners, std::move(fresh), values);
        graph_.changes().reserve(1);
    }
    void prepare_declared(ArgumentAccesses&& fresh, void* const* values) {
        if (fresh.empty() && node_.accesses.empty()) [[likely]]
            return;
        prepare_declared(std::move(fresh), values, node_.params);
    }
    void prepare_declared(ArgumentAccesses&& fresh, void* const* values, const NodeParams& params) {
        NextDeclared next(fresh, values);
        for (const ArgumentAccess& access : node_.accesses)
            next.add_current(access);
        check(params, next.list());
    }
    [[nodiscard]] bool has_conditions() const noexcept { return !graph_.root().conditions().all().empty(); }
    void prepare_params(const NodeParams& next) {
        if (!have_same_accesses(graph_, node_.params, next)) check(next, node_.accesses);
    }
    template <class Params>
    [[nodiscard]] NativeResult set(const Params& params) const {
        return set_in_graph(graph_, node_.index, params);
    }
    void commit() noexcept {
        graph_.changes().count(node_, std::move(next_));
        if (next_declared_) node_.accesses = *std::move(next_declared_);
        races_.commit();
        const auto* const* host = std::get_if<const HostParams*>(&node_.params.view());
        if (host != nullptr && is_host_task(**host)) graph_.records().special().host_tasks = true;
    }

  private:
    void check(const NodeParams& next, std::span<const ArgumentAccess> declared) {
        if (std::ranges::equal(declared, node_.accesses) && have_same_accesses(graph_, node_.params, next)) return;
        if (refuses_races(graph_)) {
            races_.stage(race_watch_of(graph_.root()), {&graph_, node_.index}, next, declared);
            races_.require_none(for_graphs, [this] { return subject(); });
        }
        next_declared_.emplace(declared.begin(), declared.end());
    }

    static GraphState& graph_of(const GraphState& root, const Node& node) {
        GraphState& graph = GraphIdentity::of(node);
        if (&graph.root() != &root)
            refuse<UpdateError>("the node does not belong to this Graph, but " + describe_foreign(root, node),
                                node_subject(graph, GraphIdentity::index_unchecked(node)));
        return graph;
    }

    GraphState& graph_;
    std::unique_lock<LightMutex> lock_;
    UpdatedNode& node_;
    Owners next_;
    std::optional<std::vector<ArgumentAccess>> next_declared_; ///< none: unchanged
    RaceCheck races_;
};

/// One change of a node of a graph under construction. The node keeps its owners.
class RecordUpdate {
  public:
    static constexpr bool of_exec = false;
    explicit RecordUpdate(const Node& node)
        : graph_(GraphIdentity::of(node)), index_(GraphIdentity::index_unchecked(node)),
          params_(graph_.records().memory().resource(), graph_.records().nodes()[index_].params) {}

    [[nodiscard]] Subject subject() const { return node_subject(graph_, index_, "drive: "); }
    [[nodiscard]] OwnedParams& params() const noexcept { return params_; }
    [[nodiscard]] const KernelParams& original() const {
        return *std::get<const KernelParams*>(graph_.records().nodes()[index_].params);
    }

    void prepare(Owners&&, void* const*) const noexcept {}
    static void prepare_declared(ArgumentAccesses&&, void* const*) noexcept {}
    static void prepare_declared(ArgumentAccesses&&, void* const*, const NodeParams&) noexcept {}
    [[nodiscard]] static bool has_conditions() noexcept { return false; }
    static void prepare_params(const NodeParams&) noexcept {}
    template <class Params>
    [[nodiscard]] NativeResult set(const Params& params) const {
        return set_in_graph(graph_, index_, params);
    }
    void commit() noexcept { graph_.records().record(index_).params = params_.view(); }

  private:
    GraphState& graph_;
    std::uint32_t index_;
    mutable OwnedParams params_;
};

/// Calls `update(node)` with the node as an ExecUpdate or a GraphUpdate.
template <class Update>
[[gnu::always_inline]] inline void update_in(const UpdateTarget& target, const Node& node, const Update& update) {
    if (target.exec != nullptr)
        update(ExecUpdate(*target.exec, node));
    else
        update(GraphUpdate(*target.graph, node));
}

/// Calls `update(node)` as `update_in` does, or with a RecordUpdate if the graph is under construction.
template <class Update>
void update_anywhere(const UpdateTarget& target, const Node& node, const Update& update) {
    if (target.exec == nullptr && !target.graph->construction().is_built)
        update(RecordUpdate(node));
    else
        update_in(target, node, update);
}

/// The node's parameters, if they are `Params`; null for a node of another kind.
template <class Params, class NodeUpdate>
Params* params_as(const NodeUpdate& update) {
    return update.params().template find<Params>();
}

/// Gives a node of any kind but kernel the parameters `next`. Owners of operands with null `values` stay.
template <class NodeUpdate, class Params>
void set_params(NodeUpdate& update, const Params& next, Owners&& owners, void* const* values = nullptr) {
    const auto subject = [&] { return update.subject(); };
    const NodeParams params = &next;
    if constexpr (requires { problem_of(next); }) require_sound<UpdateError>(next, subject);
    if constexpr (NodeUpdate::of_exec) require_exec_takes(update.params(), params, subject);
    if (const std::string problem = problem_in_update(update.params(), params); !problem.empty())
        refuse<UpdateError>(problem, subject());
    update.prepare(std::move(owners), values);
    update.prepare_params(params);
    if (const NativeResult result = update.set(params); result.status != cudaSuccess)
        raise_update(result, params, subject());
    update.params().assign(params);
    update.commit();
}

/// Throws UpdateError unless the kernel's parameters have the types of `given`: a whole update may have given the node
/// another kernel.
template <class NodeUpdate>
void require_same_kernel(const KernelSignature& given, const KernelParams& current, const NodeUpdate& update) {
    // A handle belongs to the kernel in its graph.
    if (!same_types(given, *current.signature) &&
        !(same_layout(given, *current.signature) && same_kernel_types(current, update.original())))
        refuse_other_kernel("", kernel_name(current.function), update.subject());
}

template <class NodeUpdate>
void require_signature(const KernelSignature& given, KernelParams& current, const NodeUpdate& update) {
    if (&given == current.signature) [[likely]]
        return;
    require_same_kernel(given, current, update);
    current.signature = &given; // known the next time
}

/// Whether `given` has a condition in place of a number in `current`.
bool has_new_condition(const KernelSignature& given, const KernelSignature& current) noexcept {
    return !std::equal(
        given.parameters, given.parameters + given.count, current.parameters,
        [](const Parameter& next, const Parameter& former) { return !is_condition(next) || is_condition(former); });
}

/// Returns the signature of the node once `call` is in force. Requires the kernel of the node.
template <class NodeUpdate>
const KernelSignature& next_signature(const KernelCall& call, const KernelParams& current, const NodeUpdate& update) {
    const KernelSignature& given = *call.signature;
    const KernelSignature& former = *current.signature;
    if (&given == &former) [[likely]]
        return given;
    require_same_kernel(given, current, update);
    const bool some_stay = call.block == nullptr; // `former` knows their conditions
    if (!some_stay || !same_types(given, former)) return given;
    if (!has_new_condition(given, former)) return former;
    return has_new_condition(former, given) ? merged_signature(given, former, call.values) : given;
}

/// Records a call that CUDA has accepted.
void store_call(const KernelCall& call, KernelParams& kernel) noexcept {
    if (call.config != nullptr) kernel.shape = call.config->shape; // attributes stay, in CUDA, too
    copy_values(call, kernel.values);
}

/// Throws UpdateError if the call changes attributes, which are fixed, or if its grid does not suit them.
template <class MakeSubject>
void require_suitable(const PassedConfig& passed, const KernelParams& current, const MakeSubject& subject) {
    if (given_attributes(passed) == nullptr && current.attributes == nullptr) [[likely]]
        return;
    if (const std::string difference = differing_attribute(config_of(current), config_of(passed)); !difference.empty())
        refuse<UpdateError>(difference + "; attributes are fixed when the node is made: repeat them or leave them out",
                            subject());
    require_attributes<UpdateError>(config_of(passed.shape, current.attributes), current.symbol, LaunchUse::node,
                                    subject);
}

/// Gives a kernel node the shape and arguments of `call`; `current` are its parameters, described by `signature`
/// afterwards. An update passes the value of a DynamicParam: arguments are bound only when nodes are made.
template <class NodeUpdate>
void set_call(NodeUpdate& update, const KernelCall& call, KernelParams& current, const KernelSignature& signature,
              CallEffects&& effects) {
    const LaunchShape& shape = call.config != nullptr ? call.config->shape : current.shape;
    if (call.config != nullptr) {
        complete_config(current);
        require_suitable(*call.config, current, [&] { return update.subject(); });
    }
    const ArgumentPointers arguments(call, current);
    update.prepare(std::move(effects.owners), call.values);
    const auto may_change_conditions = [&] { // it may pass one, or a number in place of one
        return may_give_condition(call, signature) || may_give_condition(call, *current.signature);
    };
    if (update.has_conditions() && may_change_conditions()) [[unlikely]]
        update.prepare_declared(std::move(effects.accesses), call.values, KernelAfter(call, current, signature).view());
    else
        update.prepare_declared(std::move(effects.accesses), call.values);
    bind_context();
    const NativeResult result = update.set(driver_params(current, shape, arguments.get()));
    if (result.status != cudaSuccess) [[unlikely]] {
        KernelParams refused = current;
        refused.shape = shape;
        raise_update(result, &refused, update.subject());
    }
    store_call(call, current);
    current.signature = &signature;
    update.commit();
}

/// Keeps cudaMemcpyDefault, as in captured copies: CUDA fixes whether it determines the direction itself.
CopyParams keep_default_direction(const CopyParams& copy, const CopyParams* current) noexcept {
    CopyParams next = copy;
    if (current != nullptr && current->kind == cudaMemcpyDefault) next.kind = cudaMemcpyDefault;
    return next;
}

} // namespace

void update_kernel(const UpdateTarget& target, const Node& node, const KernelCall& call, CallEffects&& effects) {
    update_in(target, node, [&](auto update) {
        KernelParams& current = *params_as<KernelParams>(update);
        const KernelSignature& signature = next_signature(call, current, update);
        set_call(update, call, current, signature, std::move(effects));
    });
}

void update_function(const UpdateTarget& target, const Node& node, const GivenArguments& arguments,
                     const LaunchConfig* config, CallEffects&& effects) {
    update_in(target, node, [&](auto update) {
        KernelParams& current = *params_as<KernelParams>(update);
        require_signature(*update.original().signature, current, update);
        ValuePointers values(current.signature->count);
        if (const std::string problem = point_at(arguments, *current.signature, values.get()); !problem.empty())
            refuse<UpdateError>(problem, update.subject());
        const PassedConfig passed = config != nullptr ? PassedConfig(*config) : PassedConfig(LaunchShape());
        const KernelCall call{nullptr, current.signature, config != nullptr ? &passed : nullptr, values.get(), nullptr};
        set_call(update, call, current, *current.signature, std::move(effects));
    });
}

void update_launch(const UpdateTarget& target, const Node& node, const LaunchConfig& config) {
    update_anywhere(target, node, [&](auto update) {
        KernelParams* const current = params_as<KernelParams>(update);
        if (current == nullptr)
            refuse<UpdateError>("it is no kernel node, and has no launch configuration", update.subject());
        const std::vector<void*> unchanged(current->signature->count + 1);
        const PassedConfig passed(config);
        set_call(update, {nullptr, current->signature, &passed, unchanged.data(), nullptr}, *current,
                 *current->signature, {});
    });
}

void update_size(const UpdateTarget& target, const Node& node, std::size_t count) {
    [[maybe_unused]] static constexpr void* unchanged[2] = {};
    update_anywhere(target, node, [&](auto update) {
        use_with_elements(update.params(), count, [&](const auto& next) { set_params(update, next, {}, unchanged); });
    });
}

void update_memcpy(const UpdateTarget& target, const Node& node, const CopyParams& copy, Owners&& owners) {
    update_in(target, node, [&](auto update) {
        set_params(update, keep_default_direction(copy, params_as<CopyParams>(update)), std::move(owners));
    });
}

void update_copy_in_batch(const UpdateTarget& target, const CopyInBatch& which, const CopyParams& copy,
                          Owners&& owners) {
    if (which.is_node()) return update_memcpy(target, which.node(), copy, std::move(owners));
    update_in(target, which.node(), [&](auto update) {
        require_sound<UpdateError>(copy, [&] { return update.subject(); });
        const CopyBatchParams& current = *params_as<CopyBatchParams>(update);
        std::vector<CopyOfBatch> list(current.operations, current.operations + current.count);
        std::vector<void*> values(2 * list.size()); // null: the owners stay
        CopyOfBatch& changed = list[which.number()];
        const bool begins = changed.begins_attributes;
        const compat::CopyAttributes attributes = changed.attributes;
        changed = copy_of_batch(copy);
        changed.begins_attributes = begins;
        changed.attributes = attributes;
        const std::uint32_t first = 2 * which.number();
        values[first] = values[first + 1] = &changed;
        for (Owner& owner : owners)
            owner.argument += first;
        set_params(update, CopyBatchParams{current.context, current.count, list.data()}, std::move(owners),
                   values.data());
    });
}

void update_copy_3d(const UpdateTarget& target, const Node& node, const Copy3D& copy) {
    update_in(target, node, [&](auto update) {
        require_sound<UpdateError>(copy, [&] { return update.subject(); });
        set_params(update, runtime_params(copy), {});
    });
}

void update_memset(const UpdateTarget& target, const Node& node, const SetParams& set, CallEffects&& effects) {
    update_in(target, node, [&](auto update) { set_params(update, set, std::move(effects.owners)); });
}

void update_host(const UpdateTarget& target, const Node& node, HostTask&& task) {
    update_in(target, node, [&](auto update) {
        const auto owned = std::make_shared<HostTask>(std::move(task));
        set_params(update, HostParams{run_host_task, owned.get(), params_as<HostParams>(update)->sync_mode},
                   Owners{{0, 0, owned}});
    });
}

void update_semaphores(const UpdateTarget& target, const Node& node, std::span<const SemaphoreOperation> operations,
                       Owners&& owners) {
    std::vector<SemaphoreOperation> list(operations.begin(), operations.end());
    update_in(target, node, [&](auto update) {
        const bool signals = params_as<SemaphoreParams>(update)->signals;
        set_params(update, SemaphoreParams{signals, static_cast<std::uint32_t>(list.size()), list.data()},
                   std::move(owners));
    });
}

void update_memory_operations(const UpdateTarget& target, const Node& node,
                              std::span<const MemoryOperation> operations) {
    std::vector<MemoryOperation> list(operations.begin(), operations.end());
    update_in(target, node, [&](auto update) {
        CUcontext const context = params_as<MemoryOperationParams>(update)->context;
        set_params(update, MemoryOperationParams{context, static_cast<std::uint32_t>(list.size()), list.data()}, {});
    });
}

void update_memory_operation(const UpdateTarget& target, const Node& node, const MemoryOperation& operation,
                             const Compare* compare, Owners&& owners) {
    update_in(target, node, [&](auto update) {
        const MemoryOperationParams& current = *params_as<MemoryOperationParams>(update);
        if (current.count != 1)
            refuse<UpdateError>(
                fmt::format("the node has {} memory operations; give all of them: update(node, {{...}})",
                            current.count),
                update.subject());
        MemoryOperation next = current.operations[0];
        next.address = operation.address;
        next.value = operation.value;
        next.bytes = operation.bytes;
        if (compare != nullptr) next.compare = *compare;
        set_params(update, MemoryOperationParams{current.context, 1, &next}, std::move(owners));
    });
}

void update_event(const UpdateTarget& target, const Node& node, cudaEvent_t event, Owners&& owners) {
    update_in(target, node, [&](auto update) {
        const bool records = params_as<EventParams>(update)->records;
        set_params(update, EventParams{event, records}, std::move(owners));
    });
}

} // namespace detail

} // namespace cudag
