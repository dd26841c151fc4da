// Graphs written again, node by node.
#include "graph_writer.hpp"

#include "add_node.hpp"
#include "cuda/device_guard.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/kernel_name.hpp"
#include "cuda/version.hpp"
#include "graph/check_edges.hpp"
#include "graph/condition_arguments.hpp"
#include "graph/conditions.hpp"
#include "graph/device_rules.hpp"
#include "graph/find.hpp"
#include "graph/in_force.hpp"
#include "graph/node_devices.hpp"
#include "new_conditional.hpp"
#include "new_root.hpp"
#include "node/allocation.hpp"
#include "node/function.hpp"
#include "node/kernel_attributes.hpp"
#include "order/declarations.hpp"
#include "own_kernel_nodes.hpp"
#include "owners/host_call.hpp"
#include "placed_in.hpp"
#include "require_allowed.hpp"
#include "written_memory.hpp"

#include <cudag/builder/kernels.hpp>
#include <cudag/detail/condition_kernels.hpp>
#include <cudag/detail/graph_body.hpp>
#include <cudag/detail/record.hpp>
#include <cudag/device_scalar.hpp>
#include <cudag/format.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory_resource>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace cudag::detail {

namespace {

/// What all writers of one copy share.
struct Copy {
    std::string action; ///< for errors: "inline_graph at f.cpp:12: "
    SourceLocation where;
    const StateToWrite& state;
    WrittenMemory memory;
    std::unordered_map<cudaGraphConditionalHandle, cudaGraphConditionalHandle> conditions = {};
};

[[noreturn]] void refuse_copy(const Copy& copy, const NodePlace& node, const std::string& reason) {
    refuse(reason, node.subject(copy.action), cudaErrorNotSupported);
}

/// Whether the node is disabled in the exec whose state is written.
bool is_disabled(const StateToWrite& state, const NodePlace& node) {
    if (state.exec == nullptr || !rules_of(node.record().kind).can_be_disabled) return false;
    unsigned enabled = 1;
    checked<GraphError>(cudaGraphNodeGetEnabled(state.exec, node.native(), &enabled), "cudaGraphNodeGetEnabled");
    return enabled == 0;
}

class GraphWriter {
  public:
    GraphWriter(GraphState& graph, GraphState& source, Copy& copy)
        : graph_(graph), source_(source), copy_(copy), where_(copy.where),
          first_(static_cast<std::uint32_t>(graph.records().nodes().size())) {}

    void write() {
        const std::vector<EdgeRecord>& edges = source_.edges();
        is_written_.resize(edges.size());
        for (std::uint32_t i = 0; i < source_.records().nodes().size(); ++i)
            write(i);
        write_edges(static_cast<std::uint32_t>(source_.records().nodes().size()));
        if (first_ == 0) graph_.edge_lists().take_fronts(source_.edge_lists());
        write_bindings();
        keep_source_owners();
    }

    /// Removes the written nodes.
    void take_back() noexcept {
        try {
            std::vector<std::uint32_t> gone(graph_.records().nodes().size() - first_);
            std::iota(gone.begin(), gone.end(), first_);
            graph_.remove(gone, where_);
        } catch (...) { // CUDA removes no nodes of a graph with memory nodes
            graph_.construction().has_unwanted_nodes = true;
        }
    }

  private:
    [[nodiscard]] Node made(std::uint32_t index) const { return graph_.identity().handle(first_ + index); }
    [[nodiscard]] NodePlace place(std::uint32_t index) const { return {&source_, index}; }

    /// Returns the device of a node that is written again: as given to the builder, or as the node must have it.
    [[nodiscard]] int device_to_write(std::uint32_t index) {
        const NodeRecord& record = source_.records().nodes()[index];
        if (record.device != any_device || is_only_device()) return record.device;
        bind_context();
        return devices_.to_make(source_, index);
    }

    void write(std::uint32_t index) {
        const NodeRecord& record = source_.records().nodes()[index];
        std::optional<PlacedIn> device;
        if (const int known = device_to_write(index); known != any_device) device.emplace(graph_, known);
        bool declares = true;
        is_disabled_.push_back(is_disabled(copy_.state, place(index)));
        const auto visit = [&](const auto& block) {
            using Block = std::decay_t<decltype(block)>;
            if constexpr (is_none<Block>)
                write_undescribed(record.kind, index);
            else if constexpr (std::is_same_v<Block, const KernelParams*>)
                declares = write_kernel(*block, index);
            else if constexpr (std::is_same_v<Block, const ConditionalParams*>)
                write_conditional(*block, index);
            else if constexpr (std::is_same_v<Block, const AllocParams*>)
                write_alloc(*block, index);
            else if constexpr (std::is_same_v<Block, const FreeParams*>)
                static_cast<void>(add_free(graph_, copy_.memory.of_free(place(index)).copy, where_));
            else
                write_params(*block, record.kind, index);
        };
        if (is_disabled_.back()) {
            static_cast<void>(add_join(graph_, nullptr, 0, where_));
            declares = false;
        } else {
            std::visit(visit, copy_.state.in_force.params(place(index)));
        }
        const auto at = first_ + index;
        CUDAG_ASSERT(graph_.records().nodes().size() == at + 1);
        NodeRecord& copy = graph_.records().record(at);
        copy.label = record.label;
        copy.location = record.location;
        if (record.device != any_device || !is_context_number(copy.device)) copy.device = record.device;
        if (declares) {
            std::vector<ArgumentAccess> accesses = all_declared(copy_.state.in_force, place(index));
            copy_.memory.translate(place(index), accesses);
            declare_accesses(graph_, at, std::move(accesses));
        }
        if (const auto* const* host = std::get_if<const HostParams*>(&copy.params))
            if (is_host_task(**host)) graph_.records().special().host_tasks = true;
    }

    /// Adds the edges of the source among its nodes before `end`, except those added already.
    void write_edges(std::uint32_t end) {
        const std::vector<EdgeRecord>& edges = source_.edges();
        for (std::size_t i = 0; i < edges.size(); ++i) {
            if (is_written_[i] || edges[i].from >= end || edges[i].to >= end) continue;
            const bool has_disabled = is_disabled_[edges[i].from] || is_disabled_[edges[i].to];
            const Dependency from{made(edges[i].from), has_disabled ? EdgeKind::full : edges[i].kind};
            add_edges(made(edges[i].to), &from, 1);
            is_written_[i] = true;
        }
    }

    template <class Params>
    void write_params(const Params& given, NodeKind kind, std::uint32_t index) {
        if (copy_.memory.empty()) {
            static_cast<void>(add_node(graph_, kind, given, {}, where_));
            return;
        }
        std::pmr::monotonic_buffer_resource memory;
        OwnedParams params(memory, &given);
        copy_.memory.translate(place(index), params);
        static_cast<void>(add_node(graph_, kind, *params.find<Params>(), {}, where_));
    }

    void write_undescribed(NodeKind kind, std::uint32_t index) {
        if (kind == NodeKind::child)
            write_child(**find_nested(source_, index, 0));
        else
            static_cast<void>(add_join(graph_, nullptr, 0, where_));
    }

    /// CUDA clones no graph inside a node, so its nodes are written again, too.
    void write_child(GraphState& source) {
        const std::shared_ptr<GraphState> inner = empty_graph();
        GraphWriter(*inner, source, copy_).write();
        if (copy_.memory.empty()) inner->construction().recapture = source.construction().recapture;
        finish_written(*inner, "inline_graph", where_);
        if (cuda_version() >= since::moved_children)
            static_cast<void>(move_child(graph_, inner, where_));
        else
            static_cast<void>(add_child(graph_, *inner, where_));
    }

    void write_conditional(const ConditionalParams& params, std::uint32_t index) {
        GraphState& root = graph_.root();
        const cudaGraphConditionalHandle handle = copy_.conditions.at(params.condition);
        const PlacedIn device(graph_, root.conditions().find(handle)->device);
        NewConditional node(graph_, params.kind, root.identity().condition_value(handle), params.bodies, where_);
        for (std::uint32_t i = 0; i < params.bodies; ++i) {
            GraphState& source = **find_nested(source_, index, i);
            const std::shared_ptr<GraphState> body = node.open_body(i);
            GraphWriter(*body, source, copy_).write();
            if (is_repeated(source))
                node.close_loaded_body(); // has resets of its conditions already
            else
                node.close_body();
        }
        static_cast<void>(node.keep());
    }

    /// CUDA looks for memory to reuse along the edges that it has when the node is added.
    void write_alloc(const AllocParams& alloc, std::uint32_t index) {
        write_edges(index);
        AllocOptions options;
        options.device = alloc.device;
        const std::vector<EdgeRecord>& edges = source_.edges();
        for (std::size_t i = 0; i < edges.size(); ++i) {
            if (edges[i].to != index || edges[i].from >= index) continue;
            options.after.push_back(made(edges[i].from));
            is_written_[i] = true;
        }
        const AllocRequest request = read_request(source_.records().natives()[index]);
        options.max_pool_bytes = request.max_pool_bytes;
        for (const int peer : request.peers)
            if (peer != alloc.device) options.peers.push_back(peer);
        WrittenAllocation& memory = copy_.memory.of_alloc(place(index));
        memory.copy = add_alloc(graph_, alloc.bytes, 1, options, where_);
        memory.copy_begin = reinterpret_cast<std::uintptr_t>(allocation_of(memory.copy).address);
    }

    /// Returns whether the accesses declared by the original are the kernel's, too.
    bool write_kernel(const KernelParams& original, std::uint32_t index) {
        std::pmr::monotonic_buffer_resource memory;
        OwnedParams params(memory, &original);
        KernelParams& kernel = *params.find<KernelParams>();
        copy_.memory.translate(place(index), params);
        const KernelSignature& signature = signature_to_write(place(index), original);
        translate_conditions(signature, kernel.values);
        if (is_own_kernel(original) && signature.count == 0) {
            static_cast<void>(add_nothing(graph_, {}, where_));
            return true;
        }
        LaunchConfig given = full_config(original);
        copy_.memory.translate(place(index), given);
        const PassedConfig config(given);
        ValuePointers values(signature.count);
        for (std::uint32_t i = 0; i < signature.count; ++i)
            values.get()[i] = kernel.values + signature.parameters[i].offset;
        std::optional<FunctionState> function; // of a kernel that is known by CUDA's handles only
        if (original.symbol == nullptr || original.kernel != nullptr) {
            std::string name = kernel_name(original.function);
            if (name == "cudag_count_turns") {
                write_count_of_turns(signature, kernel.values);
                return false;
            }
            function.emplace(FunctionState{reinterpret_cast<cudaKernel_t>(original.kernel),
                                           original.function,
                                           current_context(),
                                           std::move(name),
                                           {signature.parameters, signature.parameters + signature.count},
                                           nullptr});
        }
        const KernelCall call{
            original.symbol, own_copy(signature), &config, values.get(), nullptr, function ? &*function : nullptr};
        static_cast<void>(add_kernel(graph_, call, {}, where_));
        return true;
    }

    /// The kernel of GraphBuilder::repeat. Both loops may run at once, so each counts in memory of its own.
    void write_count_of_turns(const KernelSignature& signature, const std::byte* values) {
        cudaGraphConditionalHandle more = 0;
        unsigned times = 0;
        std::memcpy(&more, values + signature.parameters[0].offset, sizeof more);
        std::memcpy(&times, values + signature.parameters[2].offset, sizeof times);
        const DeviceScalar<unsigned> turns(0U, where_);
        static_cast<void>(add_typed_kernel<Condition, unsigned*, unsigned>(
            graph_, {}, where_, count_turns_function(where_), graph_.root().identity().condition_value(more), turns,
            times));
    }

    /// Replaces the conditions among a kernel's arguments by those of the copy.
    void translate_conditions(const KernelSignature& signature, std::byte* values) const {
        if (copy_.conditions.empty()) return;
        const GraphState& source = source_.root();
        const auto replace = [&](std::byte* place, bool is_whole) {
            cudaGraphConditionalHandle handle = 0;
            std::memcpy(&handle, place, sizeof handle);
            const auto found = copy_.conditions.find(handle);
            if (found == copy_.conditions.end()) return;
            const Condition condition = graph_.root().identity().condition_value(found->second);
            std::memcpy(place, &condition, is_whole ? sizeof condition : sizeof handle);
        };
        for (std::uint32_t i = 0; i < signature.count; ++i) {
            const Parameter& parameter = signature.parameters[i];
            std::byte* const value = values + parameter.offset;
            if (is_condition(parameter)) {
                replace(value, parameter.size >= sizeof(Condition));
            } else if (parameter.type != ParameterType::pointer && parameter.type != ParameterType::span) {
                for (std::size_t at = 0; at + sizeof(Condition) <= parameter.size; at += alignof(Condition)) {
                    cudaGraphConditionalHandle handle = 0;
                    std::memcpy(&handle, value + at, sizeof handle);
                    if (copy_.conditions.contains(handle) && is_whole_condition(source, handle, value + at))
                        replace(value + at, true);
                }
            }
        }
    }

    /// Returns a signature that lives as long as the graph written to.
    const KernelSignature* own_copy(const KernelSignature& signature) {
        if (is_typed(signature)) return &signature;
        const auto known =
            std::ranges::find_if(signatures_, [&](const KernelSignature* own) { return same_layout(*own, signature); });
        if (known != signatures_.end()) return *known;
        auto* parameters = graph_.records().memory().allocate<Parameter>(std::max(signature.count, 1U));
        std::copy_n(signature.parameters, signature.count, parameters);
        signatures_.push_back(
            graph_.records().memory().store(KernelSignature{parameters, signature.count, signature.bytes}));
        return signatures_.back();
    }

    void write_bindings() {
        source_.records().bindings().for_each([&](std::uint64_t dynamic, const Binding& binding) {
            if (is_disabled_[binding.node]) return;
            Binding copy = binding;
            copy.node += first_;
            graph_.records().bindings().reserve(dynamic);
            graph_.records().bindings().add(dynamic, std::move(copy));
        });
    }

    void keep_source_owners() {
        Owners owners;
        list_owners(source_, owners);
        std::vector<std::shared_ptr<const void>> objects;
        for (Owner& owner : owners)
            objects.push_back(std::move(owner.object));
        for (const UpdatedNode& node : source_.records().updated().all())
            for (const Owner& owner : node.owners)
                objects.push_back(owner.object);
        if (!objects.empty()) keep_owners(graph_, std::move(objects));
        const std::uint64_t pool = source_.construction().pool;
        if (graph_.construction().pool == 0) graph_.construction().pool = pool;
    }

    GraphState& graph_;
    GraphState& source_;
    Copy& copy_;
    SourceLocation where_;
    std::uint32_t first_;
    NodeDevices devices_;
    std::vector<bool> is_written_;  ///< by edge of the source
    std::vector<bool> is_disabled_; ///< by node of the source
    std::vector<const KernelSignature*> signatures_;
};

/// Throws GraphError if there is a node that cannot be written again.
void require_writable(const GraphState& source, const Copy& copy) {
    if (const NodePlace node = find_device_updatable(source))
        refuse_copy(copy, node, "kernels would change this node instead of the new one; build it here");
    const auto has_context = [&](const GraphState& graph, std::uint32_t i) {
        const auto* const* kernel = std::get_if<const KernelParams*>(&copy.state.in_force.params({&graph, i}));
        return !is_context_number(records_of(graph).nodes()[i].device) && kernel != nullptr &&
               (*kernel)->context != nullptr;
    };
    if (const NodePlace node = find_node(source, has_context))
        refuse_copy(copy, node, "it was captured in a context of its own, such as a green context; capture it here");
    const auto is_unknown = [](const GraphState& graph, std::uint32_t i) {
        const NodeRecord& node = records_of(graph).nodes()[i];
        return (node.kind == NodeKind::batch_mem_op || node.kind == NodeKind::conditional) &&
               std::holds_alternative<std::monostate>(records_of(graph).params(i));
    };
    if (const NodePlace node = find_node(source, is_unknown))
        refuse_copy(copy, node, "cudag does not know the parameters of this node; capture it here");
    for (const ConditionRecord& condition : source.conditions().all())
        if (condition.is_read && condition.user != nullptr)
            refuse_copy(copy, {condition.user, condition.node},
                        "CUDA does not report the initial value of its condition; build it with cudag");
}

/// A word among a kernel's arguments that is no known condition, but equals CUDA's number of one.
struct ConditionNumber {
    NodePlace node;
    std::uint32_t argument;
    cudaGraphConditionalHandle handle;
};

/// Finds such words among integers of 64 bits, objects, and arguments of unknown type.
std::vector<ConditionNumber> condition_numbers(const GraphState& source, const InForce& in_force) {
    std::vector<ConditionNumber> found;
    const Conditions& conditions = source.conditions();
    if (conditions.all().empty()) return found;
    static_cast<void>(find_node(source, [&](const GraphState& graph, std::uint32_t index) {
        const auto* const* params = std::get_if<const KernelParams*>(&in_force.params({&graph, index}));
        if (params == nullptr) return false;
        const KernelSignature& signature = signature_to_write({&graph, index}, **params);
        for (std::uint32_t i = 0; i < signature.count; ++i) {
            const Parameter& parameter = signature.parameters[i];
            if (is_condition(parameter) || parameter.type == ParameterType::pointer ||
                parameter.type == ParameterType::span || parameter.type == ParameterType::floating_point)
                continue;
            const std::byte* const value = (*params)->values + parameter.offset;
            for (std::size_t at = 0; at + sizeof(cudaGraphConditionalHandle) <= parameter.size;
                 at += alignof(cudaGraphConditionalHandle)) {
                cudaGraphConditionalHandle handle = 0;
                std::memcpy(&handle, value + at, sizeof handle);
                if (conditions.find(handle) == nullptr) continue;
                if (at + sizeof(Condition) <= parameter.size && is_whole_condition(source, handle, value + at))
                    at += sizeof(Condition) - alignof(Condition);
                else
                    found.push_back({{&graph, index}, i, handle});
            }
        }
        return false;
    }));
    return found;
}

/// Makes a condition for each of the source, in the order of their numbers: in a new graph CUDA gives them the same.
void write_conditions(GraphState& graph, GraphState& source, Copy& copy) {
    const std::vector<ConditionNumber> numbers = condition_numbers(source, copy.state.in_force);
    for (const ConditionRecord& condition : source.conditions().all()) {
        if (condition.user == nullptr) continue;
        const PlacedIn device(graph, condition.device);
        copy.conditions[condition.handle] = make_condition(graph, condition.initial, condition.location).native();
    }
    for (const ConditionNumber& number : numbers) {
        const auto made = copy.conditions.find(number.handle);
        if (made != copy.conditions.end() && made->second != number.handle)
            refuse_copy(copy, number.node,
                        fmt::format("argument {} is {}, as is CUDA's number of the condition of {}, which has another "
                                    "number here; let the kernel take the Condition, or a number of 32 bits",
                                    number.argument, number.handle,
                                    describe_node(*source.conditions().find(number.handle)->user,
                                                  source.conditions().find(number.handle)->node)));
    }
}

void write_again(GraphState& graph, GraphState& original, Copy& copy) {
    for (const NodeRecord& node : original.records().nodes())
        require_allowed(graph, node.kind, copy.where);
    require_writable(original, copy);
    copy.memory.require_translatable(original, copy.action);
    if (copy.state.exec != nullptr) copy.memory.require_freed(copy.action);
    Conditions& conditions = graph.root().conditions();
    const std::size_t conditions_before = conditions.count();
    GraphWriter writer(graph, original, copy);
    try {
        write_conditions(graph, original, copy);
        writer.write();
    } catch (...) {
        if (graph.construction().is_captured_into) throw; // CUDA removes no nodes before the end of the capture
        writer.take_back();
        if (!graph.construction().has_unwanted_nodes) conditions.abandon_from(conditions_before);
        throw;
    }
}

} // namespace

void write_again(GraphState& graph, GraphState& original, std::string_view action, const SourceLocation& where,
                 const StateToWrite& state) {
    Copy copy{fmt::format("{}: ", action), where, state, WrittenMemory(original, state.in_force)};
    write_again(graph, original, copy);
}

std::shared_ptr<GraphState> written_clone(GraphState& original, std::string_view action, const SourceLocation& where) {
    const std::shared_ptr<GraphState> clone = empty_graph();
    const StateToWrite state;
    Copy copy{fmt::format("{}: ", action), where, state, WrittenMemory(original, state.in_force)};
    write_again(*clone, original, copy);
    finish_written(*clone, "clone", original.construction().made_at);
    clone->construction().options = original.construction().options;
    clone->construction().name = original.construction().name;
    become_clone(*clone, original);
    return clone;
}

} // namespace cudag::detail
