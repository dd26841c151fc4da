// Graph: a finished DAG, to look at, clone and instantiate.
#pragma once

#include <cudag/buffer_param.hpp>
#include <cudag/captured_node.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/kernel_call.hpp>
#include <cudag/detail/owner_argument.hpp>
#include <cudag/detail/updates.hpp>
#include <cudag/diff.hpp>
#include <cudag/edge.hpp>
#include <cudag/exec.hpp>
#include <cudag/function.hpp>
#include <cudag/host_memory.hpp>
#include <cudag/node.hpp>
#include <cudag/race.hpp>

#include <cuda_runtime_api.h>

#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cudag {

class Graph;
struct RelaxReport;

namespace detail {

template <class Options>
concept NoInstantiateOptions = !std::convertible_to<Options, InstantiateOptions>;

CUDAG_EXPORT Graph graph_inside(const Node& node, std::size_t number);

class ExecStore;
class Tuner;

} // namespace detail

/// `to` starts when `from` has finished, or as its kind says.
struct Edge {
    Node from;
    Node to;
    EdgeKind kind = EdgeKind::full;
    friend bool operator==(const Edge&, const Edge&) = default;
};

/// A CUDA graph together with what cudag knows about it: labels, locations, parameters and owners of every node.
/// Nodes and edges stand in the order in which they were made. Move-only; a copy is spelled `clone()`; every call on a
/// moved-from Graph but assignment throws GraphError.
/// Threads: calls on one Graph, on handles of its nodes and on its Execs may run at once; who uses an updated node sees
/// the update wholly or not at all. Only moves and assignment exclude other calls on the Graph, and `label()` all calls
/// on it, its handles and its Execs.
/// `nodes()` and `edges()` do not show the graphs inside child and conditional nodes; the handles of those nodes do.
class CUDAG_EXPORT Graph : public detail::Updates<Graph> {
  public:
    /// Takes over a graph made with CUDA's own functions: cudag destroys it from now on. Its nodes get handles, kernel
    /// nodes can be found and updated by kernel. Throws GraphError, and takes nothing over, if CUDA cannot describe it.
    [[nodiscard]] static Graph adopt(cudaGraph_t graph);

    /// The same for a graph that stays somebody else's: it must outlive this Graph, its handles and its Execs. Its
    /// nodes can be looked at and updated, but its edges stay as they are, whatever a plan says, and it cannot be moved
    /// into another graph. What others do to it later is seen by another view only, as of a graph that a library fills
    /// and refreshes: `b.child(view)`, and then `exec.update(child, Graph::view(graph))`.
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

    [[nodiscard]] std::size_t node_count() const;
    [[nodiscard]] std::size_t edge_count() const;
    [[nodiscard]] std::vector<Node> nodes() const;
    [[nodiscard]] std::vector<Edge> edges() const;

    /// All nodes with this label, in order, those of graphs inside nodes last; empty if there is none.
    [[nodiscard]] std::vector<Node> find(std::string_view label) const; // cudag: find takes a label or a kernel

    /// All nodes that launch `kernel`, in order, those of graphs inside nodes last; empty if there is none.
    template <class... Parameter>
    [[nodiscard]] std::vector<KernelNode<Parameter...>>
    find( // cudag: find takes a label or a kernel; of overloads, say which
        void (*kernel)(Parameter...)) const {
        std::vector<KernelNode<Parameter...>> found;
        for (const Node& node : find_kernel(detail::kernel_symbol(kernel)))
            found.emplace_back(detail::Passkey(), node);
        return found;
    }

    /// The same for a Function.
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

    /// The one node with this label, or that launches `kernel`, in this graph or in a graph inside a node. Throws
    /// GraphError if there is none, which says what there is, or more than one, which says where they were made.
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

    /// Memory that this graph uses, as what `Exec::bind` replaces in its Execs: of a captured graph, say. `memory` is a
    /// DeviceBuffer, which the parameter keeps, or a DeviceSpan. Throws GraphError if no node uses it in a way that
    /// `Exec::bind` could replace.
    template <class Memory>
    [[nodiscard]] auto parameter( // cudag: parameter(memory) takes a DeviceBuffer or a DeviceSpan
        const Memory& memory, BufferParamOptions options = {}) const {
        BufferParam param(memory, options);
        require_use_of(param.memory());
        return param;
    }
    /// Where this graph, and those inside it, use the memory of `param`, node by node.
    template <class Element>
    [[nodiscard]] std::vector<BufferUse> uses(const BufferParam<Element>& param) const {
        return uses_of(param.memory());
    }

    /// Changes a node, as Exec's updates do, for Execs made from now on and for those that `apply` this Graph. Owners
    /// given before stay with the Execs that use them. Throws UpdateError, and changes nothing, if CUDA refuses.
    using Updates::update;

    /// Keeps `owners` (DeviceBuffer, PinnedBuffer, CapturePool, shared_ptr) with this graph, and with the clones and
    /// Execs that are made from now on, and their launches in flight.
    template <detail::OwnerArgument... Owner>
    void retain(const Owner&... owners) { // cudag: retain(owner) keeps buffers, pools and shared_ptrs
        static_assert(sizeof...(Owner) > 0, "cudag: retain() needs at least one owner");
        keep({detail::owner_of(owners)...});
    }

    /// An independent graph with the same nodes, edges, labels and owners. Handles of this graph do not belong to the
    /// clone: `counterpart` translates them. Throws GraphError for a graph with conditionals, which CUDA cannot clone.
    [[nodiscard]] Graph clone() const;

    /// The handle in this clone of a node of the graph that it was cloned from, or of a graph inside that one. Throws
    /// GraphError for other handles.
    template <detail::AnyNode Handle>
    [[nodiscard]] Handle counterpart(const Handle& original) const { // cudag: counterpart(node) takes a handle
        if constexpr (std::same_as<Handle, Node>)
            return counterpart_of(original);
        else
            return Handle(detail::Passkey(), counterpart_of(original));
    }
    /// The same for a captured region.
    [[nodiscard]] CapturedNode counterpart(const CapturedNode& original) const;

    /// Graphviz text with kinds, labels and kernel names: `dot -Tsvg`.
    [[nodiscard]] std::string dot() const;

    /// CUDA's handle, borrowed from this Graph, with the edges and empty kernels of the plan that it was instantiated
    /// by last, or of the default one. Nodes added through it are unknown to cudag.
    [[nodiscard]] cudaGraph_t native() const;

    /// Makes the executable form. The Exec keeps what it needs of this Graph, which may go first. CUDA allows only one
    /// Exec at a time of a graph with conditionals or memory nodes.
    /// Throws InstantiateError with CUDA's reason and the node's label.
    [[nodiscard]] Exec instantiate(InstantiateOptions options = {}) const;
    template <detail::NoInstantiateOptions Options>
    Exec
    instantiate(const Options&) const = delete; // cudag: options stand in braces: instantiate({.device_launch = true})
    /// Nodes that nothing orders and of which one writes memory that the other uses, in this graph and in those inside,
    /// in order of the nodes; as far as cudag knows what they use: see `untracked()`. Where there are races at least
    /// one is found, and each is one, but what comes after one of two nodes that race may not be told apart from what
    /// comes after both. A node that `untracked()` lists as a whole is compared with none. Reads a captured graph.
    [[nodiscard]] std::vector<Race> races() const;
    /// The arguments of kernels that may be addresses of memory of which cudag does not know how much is used: raw
    /// pointers, and what kernels were given that cudag did not launch, or launched into a capture that it did not
    /// begin. And, as a whole, each node that cudag does not know and that declares nothing by `.reads` or `.writes`:
    /// an adopted or captured conditional, or a kind that CUDA has added.
    [[nodiscard]] std::vector<UntrackedArgument> untracked() const;
    /// The host memory that copies of this graph, and of those inside, read or write at each launch. It is borrowed
    /// unless it was given with an owner (PinnedBuffer, shared_ptr, `copied`): a local array that a captured function
    /// has copied from is gone by then. Reads a captured graph.
    [[nodiscard]] std::vector<HostMemory> host_memory() const;

    void launch(StreamRef) const = delete; // cudag: a Graph is launched by an Exec of it: graph.instantiate()

  private:
    friend class GraphBuilder;
    friend class Exec;
    friend class StreamCapture;
    friend CUDAG_EXPORT std::vector<Difference> diff(const Graph& a, const Graph& b);
    friend CUDAG_EXPORT RelaxReport relax(Graph& graph);
    friend CUDAG_EXPORT std::string to_string(const Graph& graph);
    friend Graph detail::graph_inside(const Node& node, std::size_t number);
    friend class detail::Updates<Graph>;
    friend class detail::Tuner;
    friend class detail::ExecStore;
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

/// "graph of 3 nodes (2 kernel, 1 memcpy) and 2 edges, made at a.cpp:12"; of a moved-from Graph, that it is one.
[[nodiscard]] CUDAG_EXPORT std::string to_string(const Graph& graph);

} // namespace cudag
