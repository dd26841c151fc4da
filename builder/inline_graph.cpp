// GraphBuilder::inline_graph: the nodes of a graph, written again into another one.
#include <cudag/inlined_graph.hpp>

#include "add_node.hpp"
#include "cuda/device_guard.hpp"
#include "cuda/driver.hpp"
#include "cuda/kernel_name.hpp"
#include "cuda/version.hpp"
#include "graph/device_rules.hpp"
#include "graph/find.hpp"
#include "graph/in_force.hpp"
#include "new_root.hpp"
#include "node/function.hpp"
#include "node/kernel_attributes.hpp"
#include "order/declarations.hpp"
#include "owners/host_call.hpp"

#include <cudag/detail/record.hpp>
#include <cudag/format.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace cudag {

namespace detail {

/// The nodes written for the nodes of `source`.
struct InlinedNodes {
    std::optional<Node> source = std::nullopt; ///< its first node; none for a graph without nodes
    std::vector<Node> nodes = {};
    std::vector<Node> roots = {};
    std::vector<Node> tails = {};
};

namespace {

class InlineWriter {
  public:
    InlineWriter(GraphState& graph, GraphState& source, const SourceLocation& where)
        : graph_(graph), source_(source), where_(where),
          first_(static_cast<std::uint32_t>(graph.records().nodes().size())) {}

    /// Throws GraphError if there is a node that cannot be written again.
    void require_all() const {
        const auto refuse_node = [&](const NodePlace& node, std::string_view reason) {
            refuse(fmt::format("it has {}; {}", node.describe(), reason), subject(node), cudaErrorNotSupported);
        };
        if (const NodePlace node = find_unlike(source_, &KindRules::can_be_cloned))
            refuse_node(node, "nodes of this kind cannot be written again; build them here");
        if (const NodePlace node = find_device_updatable(source_))
            refuse_node(node, "kernels would change this node instead of the new one; build it here");
        const auto has_context = [](const GraphState& graph, std::uint32_t i) {
            const auto* const* kernel = std::get_if<const KernelParams*>(&records_of(graph).params(i));
            return kernel != nullptr && (*kernel)->context != nullptr;
        };
        if (const NodePlace node = find_node(source_, has_context))
            refuse_node(node, "it was captured in a context of its own, such as a green context; capture it here");
        const auto is_unknown = [](const GraphState& graph, std::uint32_t i) {
            return records_of(graph).nodes()[i].kind == NodeKind::batch_mem_op &&
                   std::holds_alternative<std::monostate>(records_of(graph).params(i));
        };
        if (const NodePlace node = find_node(source_, is_unknown))
            refuse_node(node, "cudag does not know the parameters of this node; capture it here");
    }

    void write() {
        try {
            for (std::uint32_t i = 0; i < source_.records().nodes().size(); ++i)
                write(i);
            for (const EdgeRecord& edge : source_.edges()) {
                const Dependency from{made(edge.from), edge.kind};
                add_edges(made(edge.to), &from, 1);
            }
            write_bindings();
            keep_source_owners();
        } catch (...) {
            take_back();
            throw;
        }
    }

    [[nodiscard]] std::shared_ptr<const InlinedNodes> result() const {
        InlinedNodes list;
        const std::size_t count = source_.records().nodes().size();
        std::vector<bool> has_before(count);
        std::vector<bool> has_after(count);
        for (const EdgeRecord& edge : source_.edges())
            has_before[edge.to] = has_after[edge.from] = true;
        for (std::uint32_t i = 0; i < count; ++i) {
            list.nodes.push_back(made(i));
            if (!has_before[i]) list.roots.push_back(made(i));
            if (!has_after[i]) list.tails.push_back(made(i));
        }
        if (count != 0)
            list.source = source_.identity().handle(0);
        else
            list.nodes = list.roots = list.tails = {add_join(graph_, nullptr, 0, where_)};
        return std::make_shared<const InlinedNodes>(std::move(list));
    }

  private:
    [[nodiscard]] Node made(std::uint32_t index) const { return graph_.identity().handle(first_ + index); }
    [[nodiscard]] Subject subject(const NodePlace& node) const {
        return {fmt::format("inline_graph at {}", where_), {std::string(node.record().label)}, where_};
    }

    void write(std::uint32_t index) {
        const NodeRecord& record = source_.records().nodes()[index];
        std::optional<DeviceGuard> device;
        if (record.device != any_device) device.emplace(record.device);
        const auto visit = [&](const auto& block) {
            using Block = std::decay_t<decltype(block)>;
            if constexpr (is_none<Block>)
                write_undescribed(record.kind, index);
            else if constexpr (std::is_same_v<Block, const KernelParams*>)
                write_kernel(*block, index);
            else if constexpr (requires { add_native(std::declval<cudaGraphNode_t&>(), cudaGraph_t(), *block); })
                static_cast<void>(add_node(graph_, record.kind, *block, {}, where_));
        };
        std::visit(visit, source_.records().params(index));
        const auto at = first_ + index;
        CUDAG_ASSERT(graph_.records().nodes().size() == at + 1);
        NodeRecord& copy = graph_.records().record(at);
        copy.label = record.label;
        copy.location = record.location;
        copy.device = record.device;
        declare_accesses(graph_, at, all_declared(source_, index));
        if (const auto* const* host = std::get_if<const cudaHostNodeParams*>(&copy.params))
            if (is_host_task(**host)) graph_.records().special().host_tasks = true;
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
        InlineWriter(*inner, source, where_).write();
        finish_written(*inner, "inline_graph", where_);
        if (cuda_version() >= since::moved_children)
            static_cast<void>(move_child(graph_, inner, where_));
        else
            static_cast<void>(add_child(graph_, *inner, where_));
    }

    void write_kernel(const KernelParams& kernel, std::uint32_t index) {
        const LaunchConfig given = full_config(kernel);
        const PassedConfig config(given);
        const KernelSignature& known = known_signature(source_, index, kernel);
        const KernelSignature& signature = same_layout(known, *kernel.signature) ? known : *kernel.signature;
        ValuePointers values(signature.count);
        for (std::uint32_t i = 0; i < signature.count; ++i)
            values.get()[i] = kernel.values + signature.parameters[i].offset;
        std::optional<FunctionState> function; // of a kernel without a symbol
        if (kernel.symbol == nullptr)
            function.emplace(FunctionState{reinterpret_cast<cudaKernel_t>(kernel.kernel),
                                           kernel.function,
                                           current_context(),
                                           kernel_name(kernel.function),
                                           {signature.parameters, signature.parameters + signature.count},
                                           nullptr});
        const KernelCall call{
            kernel.symbol, own_copy(signature), &config, values.get(), nullptr, function ? &*function : nullptr};
        static_cast<void>(add_kernel(graph_, call, {}, where_));
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
        if (!objects.empty()) keep_owners(graph_, std::move(objects));
        const std::uint64_t pool = source_.construction().pool;
        if (graph_.construction().pool == 0) graph_.construction().pool = pool;
    }

    void take_back() {
        std::vector<std::uint32_t> gone(graph_.records().nodes().size() - first_);
        std::iota(gone.begin(), gone.end(), first_);
        graph_.remove(gone, where_);
    }

    GraphState& graph_;
    GraphState& source_;
    SourceLocation where_;
    std::uint32_t first_;
    std::vector<const KernelSignature*> signatures_;
};

} // namespace

std::shared_ptr<const InlinedNodes> inline_nodes(GraphState& graph, GraphState& source, const SourceLocation& where) {
    require_allowed(graph, NodeKind::empty, where);
    require_root(source, "inline_graph");
    read_all(source);
    const auto lock = source.lock();
    InlineWriter writer(graph, source, where);
    writer.require_all();
    writer.write();
    return writer.result();
}

} // namespace detail

const detail::InlinedNodes& InlinedGraph::list() const {
    if (nodes_ == nullptr) detail::refuse("an empty InlinedGraph was used; GraphBuilder::inline_graph returns one");
    return *nodes_;
}

std::vector<Node> InlinedGraph::nodes() const {
    return list().nodes;
}
std::vector<Node> InlinedGraph::roots() const {
    return list().roots;
}
std::vector<Node> InlinedGraph::tails() const {
    return list().tails;
}

Node InlinedGraph::counterpart_of(const Node& original) const {
    const detail::InlinedNodes& list = this->list();
    const detail::GraphState& other = detail::GraphIdentity::of(original);
    const std::uint32_t index = detail::GraphIdentity::index_unchecked(original);
    if (list.source) {
        const detail::GraphState& source = detail::GraphIdentity::of(*list.source);
        std::vector<std::uint32_t> way; // the nodes around the original, from the innermost on
        const detail::GraphState* place = &other;
        for (; place != &source && place->tree().parent() != nullptr; place = place->tree().parent())
            way.push_back(place->tree().parent_node());
        if (place == &source) {
            if (way.empty()) return list.nodes[index];
            const Node& child = list.nodes[way.back()];
            const detail::GraphState* graph = &detail::GraphIdentity::of(child);
            std::uint32_t node = detail::GraphIdentity::index_unchecked(child);
            for (way.pop_back();; way.pop_back()) {
                graph = find_nested(*graph, node, 0)->get();
                if (way.empty()) return graph->identity().handle(index);
                node = way.back();
            }
        }
    }
    detail::refuse(fmt::format("the node is not of the graph that was given to inline_graph(), but of {}",
                               detail::describe_graph(other)),
                   detail::node_subject(other, index, "counterpart: "));
}

} // namespace cudag
