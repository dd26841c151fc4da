// Graph: a finished DAG. It is inspected, updated, cloned and instantiated.
#pragma once

#include <cudag/arg.hpp>
#include <cudag/buffer_param.hpp>
#include <cudag/capture_pool.hpp>
#include <cudag/captured_node.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/kernel_call.hpp>
#include <cudag/detail/owner_argument.hpp>
#include <cudag/detail/private_access.hpp>
#include <cudag/diff.hpp>
#include <cudag/dot_options.hpp>
#include <cudag/edge.hpp>
#include <cudag/exec.hpp>
#include <cudag/footprint.hpp>
#include <cudag/function.hpp>
#include <cudag/host_memory.hpp>
#include <cudag/node.hpp>
#include <cudag/race.hpp>
#include <cudag/updates.hpp>

#include <cuda_runtime_api.h>

#include <concepts>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudag {

namespace detail {

template <class Options>
concept NoInstantiateOptions = !std::convertible_to<Options, InstantiateOptions>;

} // namespace detail

/// An edge: `to` starts when `from` has finished, or as early as `kind` permits.
struct Edge {
    Node from;
    Node to;
    EdgeKind kind = EdgeKind::full;
    friend bool operator==(const Edge&, const Edge&) = default;
};

/// A CUDA graph, with the label, location, parameters and owners of every node.
///
///     auto fill_x = b.kernel(config, fill, x, 1.0f, n).label("fill x");
///     b.kernel(config, scale, x, 2.0f, n).after(fill_x);
///     cudag::Graph graph = std::move(b).build();
///     auto scaling = graph.find_one(scale); // a KernelNode<float*, float, int>
///     graph.update(scaling, cudag::arg<1>(3.0f));
///     cudag::Exec exec = graph.instantiate();
///
/// Nodes and edges are in the order of their creation. `nodes()` and `edges()` omit inner graphs, the graphs inside
/// child and conditional nodes: the handles of these nodes return them.
/// A captured graph is read once, by the first call with a need for its nodes: cudag then asks CUDA about each node.
///
/// Move-only; `clone()` makes a copy. Every call on a moved-from Graph except assignment throws GraphError. Threads:
/// calls on one Graph, on handles of its nodes and on its Execs may run concurrently, and see an update of a node
/// entirely or not at all. Only moves and assignment exclude other calls on the Graph; `Node::label` excludes all calls
/// on the Graph, its handles and its Execs.
class CUDAG_EXPORT Graph : public detail::Updates<Graph> {
  public:
    /// Takes ownership of a graph made with CUDA's own functions: cudag destroys it. Its nodes get handles; kernel
    /// nodes can be found and updated by kernel. Throws GraphError, and leaves the ownership with the caller, if
    /// `graph` is null or CUDA cannot describe it.
    [[nodiscard]] static Graph adopt(cudaGraph_t graph);

    /// Wraps a graph owned by other code, which must outlive this Graph, its handles and its Execs. Its nodes can be
    /// inspected and updated. Its edges stay as they are, whatever the plan, and it cannot be moved into another graph.
    /// This view does not see later changes by other code: make a new view, such as for a child graph refilled by a
    /// library: `b.child(view)`, and then `exec.update(child, Graph::view(graph))`. Throws GraphError if `graph` is
    /// null or CUDA cannot describe it.
    [[nodiscard]] static Graph view(cudaGraph_t graph);

    Graph() = delete; // cudag: a Graph comes from std::move(builder).build(), capture(stream, function) or adopt()
    Graph(const Graph&) = delete;            // cudag: a Graph is copied by clone(), and handed on by std::move(graph)
    Graph& operator=(const Graph&) = delete; // cudag: a Graph is copied by clone(), and handed on by std::move(graph)
    Graph(const Exec&) = delete;             // cudag: this takes the Graph, not an Exec of it
    Graph(const GraphBuilder&) = delete;     // cudag: a builder is no Graph yet: std::move(builder).build()
    explicit Graph(cudaGraph_t) = delete;    // cudag: a graph made with CUDA's functions is taken over by Graph::adopt
    Graph(Graph&&) noexcept;
    Graph& operator=(Graph&&) noexcept;
    ~Graph();

    /// Sets the name of this graph, for errors, events, pictures and tools; "" removes it. Clones, Execs and moved
    /// Graphs keep it. Excludes all other calls on the Graph and its Execs.
    ///
    ///     cudag::Graph graph = std::move(b).build().name("decode");
    Graph& name(std::string_view text) &;
    Graph&& name(std::string_view text) &&;
    /// Returns the name; empty if there is none.
    [[nodiscard]] std::string_view name() const;

    [[nodiscard]] std::size_t node_count() const;
    [[nodiscard]] std::size_t edge_count() const;
    [[nodiscard]] std::vector<Node> nodes() const;
    [[nodiscard]] std::vector<Edge> edges() const;

    /// Returns all nodes with this label, in order, nodes of inner graphs last; empty if there is none.
    [[nodiscard]] std::vector<Node> find(std::string_view label) const; // cudag: find takes a label or a kernel

    /// Returns all nodes that launch `kernel`, in order, nodes of inner graphs last; empty if there is none.
    template <class... Parameter>
    [[nodiscard]] std::vector<KernelNode<Parameter...>>
    find( // cudag: find takes a label or a kernel; of overloads, say which
        void (*kernel)(Parameter...)) const {
        std::vector<KernelNode<Parameter...>> found;
        for (const Node& node : find_kernel(detail::kernel_symbol(kernel)))
            found.emplace_back(detail::Passkey(), node);
        return found;
    }

    /// Returns all nodes that launch this Function, in the same order.
    [[nodiscard]] std::vector<FunctionNode> find(const Function& function) const {
        std::vector<FunctionNode> found;
        for (const Node& node : find_function(function))
            found.emplace_back(detail::Passkey(), node);
        return found;
    }
    template <class... Parameter>
    [[nodiscard]] std::vector<KernelNode<Parameter...>> find(const TypedFunction<Parameter...>& function) const {
        std::vector<KernelNode<Parameter...>> found;
        for (const Node& node : find_function(function.function()))
            found.emplace_back(detail::Passkey(), node);
        return found;
    }

    /// Returns the only node with this label, or with this kernel, in this graph and its inner graphs. Throws
    /// GraphError if there is none (the text lists the existing ones) or more than one (the text lists their
    /// locations).
    [[nodiscard]] Node find_one(std::string_view label) const; // cudag: find_one takes a label or a kernel
    template <class... Parameter>
    [[nodiscard]] KernelNode<Parameter...>
    find_one( // cudag: find_one takes a label or a kernel; of overloads, say which
        void (*kernel)(Parameter...)) const {
        return {detail::Passkey(), find_one_kernel(detail::kernel_symbol(kernel))};
    }
    [[nodiscard]] FunctionNode find_one(const Function& function) const {
        return {detail::Passkey(), find_one_function(function)};
    }
    template <class... Parameter>
    [[nodiscard]] KernelNode<Parameter...> find_one(const TypedFunction<Parameter...>& function) const {
        return {detail::Passkey(), find_one_function(function.function())};
    }

    /// Makes a parameter from memory in use by this graph, such as a captured one: `Exec::bind` replaces it. `memory`
    /// is a DeviceBuffer, kept by the parameter, or a DeviceSpan. Throws GraphError if no node uses it in a replaceable
    /// way.
    template <class Memory>
    [[nodiscard]] auto parameter( // cudag: parameter(memory) takes a DeviceBuffer or a DeviceSpan
        const Memory& memory, BufferParamOptions options = {}) const {
        BufferParam param(memory, options);
        require_use_of(detail::Access::memory(param));
        return param;
    }
    /// Returns the uses of the memory of `param` in this graph and its inner graphs, node by node.
    template <class Element>
    [[nodiscard]] std::vector<BufferUse> uses(const BufferParam<Element>& param) const {
        return uses_of(detail::Access::memory(param));
    }

    /// Updates a node, in the forms of Exec::update, for later Execs and for Execs that `apply` this Graph. Copies in
    /// two and three dimensions can be updated here, too. Former owners stay with the Execs that use them. Throws
    /// UpdateError, and changes nothing, if the update is refused; RaceError if it would make a race; GraphError for an
    /// inner graph.
    using Updates::update;

    /// Keeps `owners` (DeviceBuffer, PinnedBuffer, CapturePool, shared_ptr) alive with this graph, with its later
    /// clones and Execs, and with their launches in flight.
    template <detail::OwnerArgument... Owner>
    void retain(const Owner&... owners) { // cudag: retain(owner) keeps buffers, pools and shared_ptrs
        static_assert(sizeof...(Owner) > 0, "cudag: retain() needs at least one owner");
        keep({detail::owner_of(owners)...});
    }

    /// Returns the number of the first CapturePool given to this graph, by CaptureOptions::pool or `retain`; PoolId{}
    /// if there is none. Clones have the same.
    ///
    ///     cudag::CapturePool pool = cudag::CapturePool::find(graph.pool()); // throws Error without a pool
    [[nodiscard]] PoolId pool() const;

    /// Returns an independent graph with the same nodes, edges, labels and owners. Handles of this graph do not belong
    /// to the clone: `counterpart` translates them. A graph with conditionals or graph memory, which CUDA cannot clone,
    /// is written again: the clone has conditions and memory of its own. Throws GraphError for an inner graph, a graph
    /// with device-updatable kernels (kernels of the clone would change the original nodes), and for what cannot be
    /// written again: see `GraphBuilder::inline_graph`.
    [[nodiscard]] Graph clone() const;

    /// Returns the handle, in this clone, of a node of the original graph or one of its inner graphs. Throws GraphError
    /// for other handles.
    template <detail::AnyNode Handle>
    [[nodiscard]] Handle counterpart(const Handle& original) const { // cudag: counterpart(node) takes a handle
        if constexpr (std::same_as<Handle, Node>)
            return counterpart_of(original);
        else
            return Handle(detail::Passkey(), counterpart_of(original));
    }
    /// Returns the handle, in this clone, of a captured region of the original graph. Throws GraphError for other
    /// handles.
    [[nodiscard]] CapturedNode counterpart(const CapturedNode& original) const;

    /// Returns Graphviz text with kinds, labels and kernel names, for `dot -Tsvg`. Reads a captured graph.
    [[nodiscard]] std::string dot(const DotOptions& options = {}) const;
    /// Returns one line for each node, with its number, label, operation, location and predecessors, and the nodes of
    /// its inner graphs below it. Reads a captured graph.
    [[nodiscard]] std::string listing() const;
    /// Writes the listing to `file`.
    void print(std::FILE* file = stdout) const;

    /// Returns CUDA's handle, borrowed from this Graph. It has the edges and empty kernels of the plan of the last
    /// instantiation, or of the default plan. cudag does not see nodes added through it. CUDA keeps the owners alive
    /// with each graph or executable made from it by other code. That makes launches of those executables slower, up to
    /// twice as long, but never launches of cudag's Execs.
    [[nodiscard]] cudaGraph_t native() const;

    /// Makes an Exec, the executable form of this graph. The Exec keeps all it needs of this Graph, so the Graph may be
    /// destroyed first. Does not wait for the device. Throws InstantiateError, with the reason and the node's label, if
    /// CUDA or cudag refuses; GraphError for an inner graph.
    ///
    /// CUDA allows only one Exec at a time of a graph with conditional nodes, graph memory nodes or device-updatable
    /// kernels:
    ///   - With conditional nodes, cudag writes the nodes again for each further Exec, as `clone()` does. Handles,
    ///     conditions and parameters of this Graph are good for all of its Execs. Refused for conditionals with an
    ///     initial value unknown to cudag: those of captured and adopted graphs.
    ///   - With graph memory nodes, a further one is refused, since its memory would have other addresses: instantiate
    ///     a `clone()`, or destroy the first Exec.
    ///   - With device-updatable kernels, a further one is refused: destroy the first.
    [[nodiscard]] Exec instantiate(InstantiateOptions options = {}) const;
    template <detail::NoInstantiateOptions Options>
    Exec
    instantiate(const Options&) const = delete; // cudag: options stand in braces: instantiate({.device_launch = true})
    /// Finds races: pairs of unordered nodes, one of which writes memory that the other uses. Looks into inner graphs,
    /// too. Returns the races in order of the nodes. Reports no false positives. If there are races, it reports at
    /// least one; races that follow from it may be missing until it is fixed. Unknown accesses are not checked, see
    /// `untracked()`; a node listed there as a whole is compared with no other. A captured graph is read first.
    [[nodiscard]] std::vector<Race> races() const;
    /// Lists the accesses unknown to cudag, which `races()` cannot check:
    ///   - of kernels without `.reads` or `.writes`, the arguments that may be addresses of memory of unknown size: raw
    ///     pointers, and arguments of kernels that cudag did not launch, or launched into a capture begun by other code
    ///   - as a whole, each node of unknown effect without `.reads` or `.writes`: a host node, an adopted or captured
    ///     conditional node with a driver before CUDA 13.2, or a kind added by CUDA
    [[nodiscard]] std::vector<UntrackedArgument> untracked() const;
    /// Lists the host memory that copies of this graph and its inner graphs read or write at each launch. It is
    /// borrowed unless given with an owner (PinnedBuffer, shared_ptr, `copied`): a local array copied from by a
    /// captured function is already gone. A captured graph is read first.
    [[nodiscard]] std::vector<HostMemory> host_memory() const;
    /// Returns the memory that launches of this graph need, known before the first one. Reads a captured graph.
    [[nodiscard]] Footprint memory() const;

    void launch(StreamRef) const = delete; // cudag: a Graph is launched by an Exec of it: graph.instantiate()

  private:
    friend struct detail::Access;
    explicit Graph(std::shared_ptr<detail::GraphState> state) noexcept;

    [[nodiscard]] detail::GraphState& state() const;
    [[nodiscard]] detail::UpdateTarget update_target() const;
    [[nodiscard]] std::vector<Node> find_kernel(const void* symbol) const;
    [[nodiscard]] Node find_one_kernel(const void* symbol) const;
    [[nodiscard]] std::vector<Node> find_function(const Function& function) const;
    [[nodiscard]] Node find_one_function(const Function& function) const;
    [[nodiscard]] Node the_one(const std::vector<Node>& found, const std::string& wanted) const;
    [[nodiscard]] Node counterpart_of(const Node& original) const;
    void keep(std::vector<std::shared_ptr<const void>>&& owners);
    [[nodiscard]] std::vector<BufferUse> uses_of(const detail::ParamMemory& param) const;
    void require_use_of(const detail::ParamMemory& param) const;

    std::shared_ptr<detail::GraphState> state_;
};

/// Returns "graph \"decode\" of 3 nodes (2 kernel, 1 memcpy) and 2 edges, made at a.cpp:12", or "moved-from Graph".
[[nodiscard]] CUDAG_EXPORT std::string to_string(const Graph& graph);

inline detail::GraphState& detail::Access::state(const Graph& graph) {
    return graph.state();
}
inline const std::shared_ptr<detail::GraphState>& detail::Access::shared_state(const Graph& graph) noexcept {
    return graph.state_;
}
inline Graph detail::Access::graph_of(std::shared_ptr<GraphState>&& state) noexcept {
    return Graph(std::move(state));
}
inline detail::UpdateTarget detail::Access::target(const Graph& graph) {
    return graph.update_target();
}

} // namespace cudag
