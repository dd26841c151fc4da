// The state behind GraphBuilder and Graph: node records, logical edges, owners, and CUDA's graph.
#pragma once

#include "allocation_index.hpp"
#include "conditions.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/function_cache.hpp"
#include "cuda/light_mutex.hpp"
#include "graph_allocation.hpp"
#include "graph_slot.hpp"
#include "label.hpp"
#include "native_edges.hpp"
#include "node/node_params.hpp"
#include "node_indices.hpp"
#include "plan/edge_record.hpp"
#include "plan/edges.hpp"

#include <cudag/condition.hpp>
#include <cudag/detail/builder_graph.hpp>
#include <cudag/detail/owners.hpp>
#include <cudag/edge.hpp>
#include <cudag/node.hpp>
#include <cudag/source_location.hpp>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <forward_list>
#include <functional>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cudag::detail {

struct NodeRecord {
    NodeRecord(NodeKind its_kind, const NodeParams& its_params, Label its_label, const SourceLocation& where) noexcept
        : kind(its_kind), params(its_params), label(std::move(its_label)), location(where) {}

    NodeKind kind;
    std::int32_t device = any_device; ///< as the builder was told; else CUDA alone knows
    NodeParams params;
    Label label;
    SourceLocation location;
};

/// An argument of a kernel node that follows a DynamicParam.
struct Binding {
    std::uint32_t node;
    std::uint32_t argument;
};

/// Memory for parameters, freed as one. A clone refers to the blocks of its origin, whose arenas it keeps.
class Arena {
  public:
    [[nodiscard]] std::pmr::memory_resource& memory() noexcept {
        is_used_ = true;
        return memory_;
    }
    [[nodiscard]] bool is_used() const noexcept { return is_used_; }

  private:
    std::pmr::monotonic_buffer_resource memory_{std::size_t{16} * 1024};
    bool is_used_ = false;
};

class CaptureNames;
class GraphState;
struct Description;

/// A node whose parameters were changed after it was made. Its record keeps those that it was made with, which execs
/// have that were made before the first change.
struct UpdatedNode {
    GraphState* graph;
    std::uint32_t index;
    NodeParams params;         ///< in force, in a block of its own
    std::uint64_t version = 0; ///< of the last change; 0 before the first
    Owners owners = {};        ///< what the last change brought in
};

/// A graph stands by itself, or inside a node of another one: as a child graph, or as a body of a conditional.
enum class Place : std::uint8_t { root, child, body };

/// Threads: once a graph is built and its nodes are read, its records, edges and natives change no more, and execs read
/// them on any thread without a lock. What does change, by updates of nodes, is read and written under `lock()`, as are
/// the calls that give CUDA the graph: the parameters in force, the list of changes, the numbers of nodes, and what
/// CUDA has not seen yet. Labels are the exception: they are for one thread.
class GraphState {
  public:
    /// Takes over `native`: destroys it at the end.
    explicit GraphState(cudaGraph_t native);
    /// A built graph whose nodes cudag did not make. Takes over `native`; reads nothing from it before it must.
    GraphState(cudaGraph_t native, std::shared_ptr<const CaptureNames> names, const SourceLocation& made_at);
    /// A clone: copies the records of `origin`, which has read all of them, and which refer to blocks in its arenas,
    /// and takes changes that brought in owners for changes of its own. Its children are cloned with it; natives are
    /// still those of `origin` until `find_natives_in_clone`. A clone of clones refers to few arenas, however many
    /// graphs came before it: from time to time it has copies of all blocks.
    GraphState(cudaGraph_t native, const GraphState& origin);
    ~GraphState();
    GraphState(const GraphState&) = delete;
    GraphState& operator=(const GraphState&) = delete;

    /// The live graph of a handle. Throws GraphError for an empty handle or one whose graph is gone.
    [[nodiscard]] static GraphState& of(const Node& node);
    /// Whether `of` would not throw.
    [[nodiscard]] static bool is_alive(const Node& node) noexcept {
        return node.slot_ != nullptr && node.slot_->generation.load(std::memory_order_acquire) == node.generation_;
    }
    /// The live root graph of a condition. Throws GraphError if it is gone.
    [[nodiscard]] static GraphState& of(const Condition& condition);
    /// The value that users have of a condition of this root.
    [[nodiscard]] Condition condition_value(cudaGraphConditionalHandle handle) const noexcept;
    /// The index of a handle of this graph. Throws GraphError, saying `action`, for any other handle.
    [[nodiscard]] std::uint32_t index_of(const Node& node, std::string_view action) const;
    [[nodiscard]] static std::uint32_t index_unchecked(const Node& node) noexcept { return node.index_; }
    [[nodiscard]] Node handle(std::uint32_t index) const noexcept;
    /// Whether `node` is a handle of this graph.
    [[nodiscard]] bool is_own(const Node& node) const noexcept {
        return node.slot_ == slot_ && node.generation_ == slot_->generation.load(std::memory_order_relaxed);
    }
    [[nodiscard]] bool is_clone() const noexcept { return origin_slot_ != nullptr; }
    /// Whether it was cloned from `graph`, which is alive.
    [[nodiscard]] bool is_clone_of(const GraphState& graph) const noexcept {
        return origin_slot_ != nullptr && origin_slot_ == graph.slot_ &&
               origin_generation_ == graph.slot_->generation.load(std::memory_order_relaxed);
    }
    /// Whether `node` was a handle of the graph that this one was cloned from.
    [[nodiscard]] bool is_of_origin(const Node& node) const noexcept;

    /// Puts `inner` inside this graph's node `index`, which owns its CUDA graph from now on; call `reserve_nested`
    /// first. A node's inner graphs are attached in the order of its bodies. Changes of a graph that was a root are
    /// changes of this root from now on.
    void attach(std::shared_ptr<GraphState> inner, std::uint32_t index, Place place) noexcept;
    void reserve_nested(std::size_t more) { reserve_more(nested_, more); }
    void reserve_nested(const GraphState& inner) {
        reserve_nested(1);
        reserve_more(root().changes_, inner.changes_.size());
    }
    /// Removes the last node with what is inside it, from CUDA's graph too: the way back when its bodies fail.
    void remove_last() noexcept;
    /// Forgets nodes from `first` on, the last ones, which CUDA has removed, with their edges and what is inside them.
    void forget_from(std::uint32_t first) noexcept;
    /// Whether CUDA has kept a node of this root, or of this body from a capture, that was to be removed: it does so
    /// where there are memory nodes.
    [[nodiscard]] bool is_spoilt() const noexcept { return spoilt_; }
    void set_spoilt() noexcept { spoilt_ = true; }
    /// Ends the handles of this graph and of those inside it, because CUDA's graph goes: whoever still refers to this
    /// state, a Graph that was moved into a node or the builder of a body, is told so.
    void orphan() noexcept;
    [[nodiscard]] bool is_orphan() const noexcept { return slot_ == nullptr; }
    /// Ends this root, whose native graph CUDA has destroyed because the capture at `where` into it was broken.
    void lose(const SourceLocation& where) noexcept;
    [[nodiscard]] bool is_lost() const noexcept { return lost_at_.has_value(); }
    /// Throws GraphError if this graph was lost.
    void require_not_lost() const;

    [[nodiscard]] Place place() const noexcept { return place_; }
    /// The graph whose node `parent_node()` this one is inside of; null for a root.
    [[nodiscard]] const GraphState* parent() const noexcept { return parent_; }
    [[nodiscard]] std::uint32_t parent_node() const noexcept { return parent_node_; }
    /// Which of the graphs inside that node this one is, and which of all `nested()` of the graph around it.
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    [[nodiscard]] std::uint32_t position() const noexcept { return position_; }
    [[nodiscard]] const GraphState& root() const noexcept { return parent_ == nullptr ? *this : parent_->root(); }
    [[nodiscard]] GraphState& root() noexcept { return parent_ == nullptr ? *this : parent_->root(); }
    /// Throws GraphError, saying `action`, if this graph is inside a node.
    void require_root(std::string_view action) const;
    /// Of a root.
    [[nodiscard]] Conditions& conditions() noexcept { return conditions_; }
    [[nodiscard]] const Conditions& conditions() const noexcept { return conditions_; }
    /// Whether this graph is a body that runs more than once each time the graph around it starts.
    [[nodiscard]] bool is_repeated() const noexcept;
    /// The device of all nodes of a body.
    [[nodiscard]] int device() const noexcept { return device_; }
    void set_device(int device) noexcept { device_ = device; }
    /// Whether this graph is a body of a conditional, or inside one.
    [[nodiscard]] bool is_in_body() const noexcept {
        return place_ == Place::body || (parent_ != nullptr && parent_->is_in_body());
    }
    /// Graph `number` inside node `index`; null if there is none.
    [[nodiscard]] const std::shared_ptr<GraphState>* find_nested(std::uint32_t index, std::size_t number) const;
    /// The graphs inside node `index`.
    [[nodiscard]] std::span<const std::shared_ptr<GraphState>> nested_in(std::uint32_t index) const;
    /// The graphs inside nodes of this one, in order of the nodes.
    [[nodiscard]] const std::vector<std::shared_ptr<GraphState>>& nested() const {
        read_nodes();
        return nested_;
    }
    /// Numbers the nodes of this root and all graphs inside it, once. Node i of a graph has the number
    /// `first_number() + i`. Nodes that are still to be read are numbered when they are.
    void number_nodes() noexcept {
        if (nodes_unread_.load(std::memory_order_acquire) || numbered_) return;
        node_total_ = number_from(0);
        numbered_ = true;
    }
    [[nodiscard]] std::uint32_t first_number() const noexcept { return first_number_; }
    /// How many nodes were numbered.
    [[nodiscard]] std::uint32_t node_total() const noexcept { return node_total_; }

    /// Makes the records of nodes that cudag did not make, if that is still to be done; so do all functions that show
    /// records. Throws GraphError if CUDA cannot describe them. Threads may do it at once.
    void read_nodes() const {
        if (nodes_unread_.load(std::memory_order_acquire)) [[unlikely]]
            read_nodes_now();
    }
    /// The same for edges, of which CUDA tells apart.
    void read_edges() const {
        if (edges_unread_.load(std::memory_order_acquire)) [[unlikely]]
            read_edges_now();
    }
    /// Nodes and edges, those of graphs inside this one, too.
    void read_all() const;
    /// Whether there are records of all nodes, and of all edges.
    [[nodiscard]] bool is_read() const noexcept {
        return !nodes_unread_.load(std::memory_order_acquire) && !edges_unread_.load(std::memory_order_acquire);
    }

    /// The lock of this root, or of the one that this graph is inside of. Not recursive: functions of this class, but
    /// for this one, take none.
    [[nodiscard]] std::unique_lock<LightMutex> lock() const { return std::unique_lock(root().mutex_); }
    [[nodiscard]] std::unique_lock<LightMutex> deferred_lock() const { return {root().mutex_, std::defer_lock}; }

    [[nodiscard]] cudaGraph_t native() const noexcept { return native_; }
    /// Who has the index of a node has its record.
    [[nodiscard]] NodeRecord& record(std::uint32_t index) noexcept { return nodes_[index]; }
    [[nodiscard]] const std::vector<NodeRecord>& nodes() const {
        read_nodes();
        return nodes_;
    }
    [[nodiscard]] const std::vector<cudaGraphNode_t>& natives() const {
        read_nodes();
        return natives_;
    }
    [[nodiscard]] const std::vector<EdgeRecord>& edges() const {
        read_edges();
        return edges_.list();
    }
    /// The index of CUDA's node, if it is one of this graph that is described; else NodeIndices::none. Indexes the
    /// nodes that have come since the last call.
    [[nodiscard]] std::uint32_t find_native(cudaGraphNode_t node);

    /// Room for one more node with `owners` owners: `append` then cannot fail after CUDA has made the node.
    void reserve_node(std::size_t owners = 0) {
        reserve_more(nodes_, 1);
        reserve_more(natives_, 1);
        reserve_more(owners_, owners);
    }
    /// The same, with room for the bindings among `owners`.
    void reserve_node(const Owners& owners);
    /// `owners` are kept until the graph, its clones and execs are gone and no launch uses them.
    Node append(cudaGraphNode_t native, const NodeRecord& record, Owners&& owners = {}) noexcept;

    /// What new nodes note as their device; returns what they did before.
    std::int32_t set_builder_device(std::int32_t device) noexcept { return std::exchange(builder_device_, device); }

    /// `count` objects of T in the arena, or a copy of one value.
    template <class T>
    [[nodiscard]] T* allocate(std::size_t count) {
        static_assert(std::is_trivially_destructible_v<T>);
        return static_cast<T*>(arena_->memory().allocate(count * sizeof(T), alignof(T)));
    }
    template <class T>
    [[nodiscard]] const T* store(const T& value) {
        return new (allocate<T>(1)) T(value);
    }
    /// A block for anything.
    [[nodiscard]] std::byte* allocate_bytes(std::size_t bytes) {
        return static_cast<std::byte*>(arena_->memory().allocate(bytes, alignof(std::max_align_t)));
    }
    /// For what handles of regions refer to: those of all clones, too.
    [[nodiscard]] std::pmr::memory_resource& region_memory() {
        if (!regions_) regions_ = std::make_shared<Arena>();
        return regions_->memory();
    }

    /// The driver's function for a kernel's symbol: looked up once per kernel and device. This thread then has a
    /// context. Throws GraphError if CUDA does not know the kernel; only then calls `subject()`.
    template <class MakeSubject>
    [[nodiscard]] CUfunction function_of(const void* symbol, const MakeSubject& subject) {
        return functions_.find<GraphError>(symbol, reinterpret_cast<std::uintptr_t>(current_context()), subject);
    }

    /// CUDA's handles of a graph and of the child graphs inside it.
    struct Natives {
        cudaGraph_t graph = nullptr;
        std::vector<cudaGraphNode_t> nodes = {};
        std::vector<std::pair<std::uint32_t, const KernelParams*>> unread = {}; ///< which are read from a node
        std::vector<Natives> nested = {};
    };
    /// Those of `clone`, which CUDA has made of the native graph.
    [[nodiscard]] Natives natives_in(cudaGraph_t clone);
    void replace_natives(Natives&& natives) noexcept;
    /// Replaces the nodes that a clone took over from its origin by its own.
    void find_natives_in_clone() { replace_natives(natives_in(native_)); }
    /// Leaves CUDA's graph to whoever it came from: this state no longer destroys it.
    void give_up_native() noexcept { owns_native_ = false; }

    /// All of them, or an exception and none.
    void add_edges(const Node& to, const Node* from, std::size_t count);
    void add_edges(const Node& to, const Dependency* from, std::size_t count);
    /// Room for `more` edges.
    void reserve_edges(std::size_t more) { edges_.reserve(more); }
    /// The same for edges that CUDA has already.
    void reserve_native_edges(std::size_t more) {
        edges_.reserve(more);
        native_edges_.reserve(more);
    }
    /// Merges repeated edges, keeping the first of each.
    void merge_edges();
    /// `check_edges` and `merge_edges`. Looks at the edges that have come since the last time only, if they lead to
    /// nodes to which none led before.
    void settle_edges(const char* action);
    /// Throws GraphError, saying `action`, if the edges close a cycle, or two of different kinds join the same nodes.
    void check_edges(const char* action) const;
    /// The same; `action` is called for the error only.
    void check_edges(const std::function<std::string()>& action) const;

    /// The arguments in this graph that follow a DynamicParam.
    [[nodiscard]] const std::vector<Binding>& bindings(std::uint64_t dynamic) const noexcept;

    /// The memory that nodes of this graph allocate or free, in order; not that of graphs inside it.
    [[nodiscard]] const std::vector<GraphAllocation>& allocations() const {
        read_nodes();
        return allocations_;
    }
    [[nodiscard]] std::vector<GraphAllocation>& allocations() {
        read_nodes();
        return allocations_;
    }
    void reserve_allocation() { reserve_more(allocations_, 1); }
    /// The last allocation of this graph with memory at `place`, or what of another graph it frees at `address`; null
    /// if there is none.
    [[nodiscard]] const GraphAllocation* find_memory(std::uintptr_t place) const;
    [[nodiscard]] GraphAllocation* find_memory(std::uintptr_t place) {
        return const_cast<GraphAllocation*>(std::as_const(*this).find_memory(place));
    }
    [[nodiscard]] const GraphAllocation* find_foreign_memory(std::uintptr_t address) const;

    /// The parameters of a node as they are in this graph; its record has those that it was made with.
    [[nodiscard]] const NodeParams& params(std::uint32_t index) const {
        const std::vector<NodeRecord>& records = nodes();
        const UpdatedNode* const changed = updated_of_.empty() ? nullptr : updated_of_[index];
        return changed != nullptr ? changed->params : records[index].params;
    }
    /// The node's place for changes; made on first use, which changes nothing yet.
    [[nodiscard]] UpdatedNode& updated(std::uint32_t index);
    /// Counts a change of `node` that is in its record already; call `reserve_change` first.
    void count_change(UpdatedNode& node, Owners&& owners) noexcept;
    void reserve_change() { reserve_more(root().changes_, 1); }
    /// Grows with each change of a node in this root or in a graph inside it.
    [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
    /// The nodes of this root, and of graphs inside it, changed after `version`, each once, in order of the last
    /// change.
    template <class Visit>
    void for_each_change_since(std::uint64_t version, const Visit& visit) const {
        auto change = std::upper_bound(changes_.begin(), changes_.end(), version,
                                       [](std::uint64_t v, const Change& c) { return v < c.version; });
        for (; change != changes_.end(); ++change)
            if (change->version == change->node->version) visit(*change->node);
    }
    /// The nodes of this graph, not of those inside it, that were changed since they were made.
    template <class Visit>
    void for_each_updated(const Visit& visit) const {
        for (const UpdatedNode& node : updated_)
            visit(node);
    }

    /// How many execs of this graph are alive.
    void exec_made() noexcept { ++live_execs_; }
    void exec_gone() noexcept { --live_execs_; }
    [[nodiscard]] bool has_exec() const noexcept { return live_execs_ != 0; }

    /// Whether CUDA deletes no node of this graph, because it has alloc or free nodes.
    [[nodiscard]] bool keeps_nodes() const noexcept { return keeps_nodes_; }
    /// Whether there are alloc or free nodes in this graph, or in a graph inside it.
    [[nodiscard]] bool has_memory_nodes() const {
        read_nodes();
        return keeps_nodes_ ||
               std::any_of(nested_.begin(), nested_.end(), [](const auto& inner) { return inner->has_memory_nodes(); });
    }

    /// A host node with a callable that cudag calls has been added, or noticed.
    void set_host_tasks() const noexcept { host_tasks_.store(true, std::memory_order_relaxed); }
    /// Whether one is known in this graph, or in a graph inside it.
    [[nodiscard]] bool has_host_tasks() const noexcept {
        return host_tasks_.load(std::memory_order_relaxed) ||
               (!nodes_unread_.load(std::memory_order_acquire) && // else another thread may be reading them
                std::any_of(nested_.begin(), nested_.end(), [](const auto& inner) { return inner->has_host_tasks(); }));
    }

    /// A node that kernels may change has been added, or noticed.
    void set_device_updatable() const noexcept { device_updatable_.store(true, std::memory_order_relaxed); }
    /// Whether one is known in this graph, or in a graph inside it. What `find_device_updatable` finds is more: it asks
    /// CUDA about the nodes that cudag did not make.
    [[nodiscard]] bool has_device_updatable() const noexcept {
        return device_updatable_.load(std::memory_order_relaxed) ||
               (!nodes_unread_.load(std::memory_order_acquire) && // else another thread may be reading them
                std::any_of(nested_.begin(), nested_.end(),
                            [](const auto& inner) { return inner->has_device_updatable(); }));
    }
    /// Whether there may be one that is not known: cudag reads no attributes of nodes that it did not make before it
    /// needs them.
    [[nodiscard]] bool may_have_device_updatable() const noexcept {
        return described_ || device_updatable_.load(std::memory_order_relaxed) ||
               std::any_of(nested_.begin(), nested_.end(),
                           [](const auto& inner) { return inner->may_have_device_updatable(); });
    }

    [[nodiscard]] bool is_built() const noexcept { return built_; }
    void set_built() noexcept { built_ = true; }
    /// Where it was built or captured; "nowhere" before that, and if CUDA's own functions made it.
    [[nodiscard]] const SourceLocation& made_at() const noexcept { return made_at_; }
    void set_made_at(const SourceLocation& where) noexcept { made_at_ = where; }

    /// The body, of a node of this graph, that is being written; null if none is.
    [[nodiscard]] const GraphState* open_body() const noexcept { return open_body_; }
    void set_open_body(const GraphState* body) noexcept { open_body_ = body; }
    /// Where the region begins that is being captured into this graph; null if none is.
    [[nodiscard]] const SourceLocation* open_region() const noexcept { return open_region_; }
    void set_open_region(const SourceLocation* where) noexcept { open_region_ = where; }
    /// Whether nodes of any kind may be added.
    [[nodiscard]] bool is_open_root() const noexcept {
        return place_ == Place::root && !built_ && open_body_ == nullptr && open_region_ == nullptr && !is_orphan();
    }
    /// Keeps owners that no node brings in.
    void keep(std::vector<std::shared_ptr<const void>>&& owners);

    /// Gives CUDA the edges and owners that it has not seen: needed before it instantiates, clones or shows the graph.
    /// Throws GraphError, and can then be called again.
    void complete_native();
    /// Only the edges; repeated ones must have been merged.
    void write_edges();
    /// Adds an edge that CUDA has already; all others must have been written, and there must be room.
    void append_native_edge(std::uint32_t from, std::uint32_t to) noexcept {
        native_edges_.note({from, to});
        edges_.add_settled(from, to);
        ++written_edges_;
    }
    /// Appends nodes that CUDA has already, with their edges. Cannot fail but for want of memory, and then changes
    /// nothing.
    void append_described(Description&& description);

  private:
    template <class Sources>
    void add_edges_from(const Node& to, const Sources& sources);

    template <class List>
    static void reserve_more(List& list, std::size_t more) {
        if (list.capacity() - list.size() < more) list.reserve(std::max(2 * list.size(), list.size() + more));
    }

    struct Change {
        std::uint64_t version;
        UpdatedNode* node;
    };

    std::uint32_t number_from(std::uint32_t first) noexcept;
    void copy_blocks();
    void read_nodes_now() const;
    void read_edges_now() const;

    cudaGraph_t native_;
    bool owns_native_ = true;
    Place place_ = Place::root;
    int device_ = 0;
    std::uint32_t parent_node_ = 0;
    std::uint32_t number_ = 0;
    std::uint32_t position_ = 0;
    std::uint32_t first_number_ = 0;
    std::uint32_t node_total_ = 0;
    mutable LightMutex mutex_; ///< of a root: see lock()
    bool numbered_ = false;
    std::atomic<bool> nodes_unread_ = false;
    std::atomic<bool> edges_unread_ = false;
    std::shared_ptr<const CaptureNames> names_; ///< of nodes that are still to be read
    GraphState* parent_ = nullptr;
    const GraphState* open_body_ = nullptr;
    const SourceLocation* open_region_ = nullptr;
    std::optional<SourceLocation> lost_at_;
    std::vector<std::shared_ptr<GraphState>> nested_;
    Conditions conditions_;
    GraphSlot* slot_ = nullptr;
    const GraphSlot* origin_slot_ = nullptr;
    std::uint32_t origin_generation_ = 0;
    SourceLocation made_at_ = {};
    std::shared_ptr<Arena> arena_;
    std::vector<std::shared_ptr<const Arena>> origin_arenas_; ///< of the graphs that this one comes from by clones
    std::shared_ptr<Arena> regions_;
    std::vector<NodeRecord> nodes_;
    std::vector<cudaGraphNode_t> natives_; ///< CUDA's node of each record; apart, for the loops that need nothing else
    NodeIndices indices_;                  ///< of the first of `natives_`
    Edges edges_;
    NativeEdges native_edges_;
    std::size_t written_edges_ = 0; ///< how many of the first of `edges_` are the first of `native_edges_`
    std::vector<std::shared_ptr<const void>> owners_; ///< those that CUDA does not hold yet
    std::vector<GraphAllocation> allocations_;
    mutable AllocationIndex memory_index_;
    FunctionCache<16> functions_;
    std::unordered_map<std::uint64_t, std::vector<Binding>> bindings_; ///< by the parameter's id
    std::forward_list<UpdatedNode> updated_;
    std::vector<UpdatedNode*> updated_of_; ///< by node index; empty before the first
    std::uint64_t version_ = 0;            ///< of a root, as the next two
    std::size_t changed_nodes_ = 0;
    std::vector<Change> changes_; ///< by version; an entry that is not its node's last says nothing
    std::atomic<std::uint32_t> live_execs_ = 0;
    std::int32_t builder_device_ = any_device;
    bool built_ = false;
    bool spoilt_ = false;
    bool described_ = false;
    bool keeps_nodes_ = false;
    mutable std::atomic<bool> device_updatable_ = false;
    mutable std::atomic<bool> host_tasks_ = false;
};

/// The locks of two graphs, which may be one.
class GraphLocks {
  public:
    GraphLocks(const GraphState& a, const GraphState& b)
        : first_(a.deferred_lock()), second_(&a.root() == &b.root() ? decltype(second_)() : b.deferred_lock()) {
        if (second_.mutex() == nullptr)
            first_.lock();
        else
            std::lock(first_, second_);
    }

  private:
    std::unique_lock<LightMutex> first_;
    std::unique_lock<LightMutex> second_;
};

/// "kernel", "memcpy", ..., but "if", "while", "switch" for a conditional.
[[nodiscard]] std::string_view kind_text(const NodeRecord& node) noexcept;

/// "kernel \"upload x\" at f.cpp:12", or by kernel name or kind and index where there is no label.
[[nodiscard]] std::string describe_node(const GraphState& graph, std::uint32_t index);

/// Where the nodes of a graph stand: "the graph itself", or "child \"c\" at f.cpp:12", "body 1 of switch \"s\"".
[[nodiscard]] std::string describe_place(const GraphState& graph);

/// "the graph made at f.cpp:12", of the root of `graph`.
[[nodiscard]] std::string describe_graph(const GraphState& graph);

/// Of which graph `node` is, which is none of `here`'s root or inside it, and by which handle it would be one.
[[nodiscard]] std::string describe_foreign(const GraphState& here, const Node& node);

/// A node as the subject of an error: "<action><node>", its label and its location.
[[nodiscard]] Subject node_subject(const GraphState& graph, std::uint32_t index, std::string_view action = {});

} // namespace cudag::detail
