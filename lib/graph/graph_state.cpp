// Node records, handles, owners and edges of one graph.
#include "graph_state.hpp"

#include "cuda/compat.hpp"
#include "cuda/edge_data.hpp"
#include "cuda/failure.hpp"
#include "cuda/kernel_name.hpp"
#include "owners/reclaim.hpp"

#include <cudag/format.hpp>

#include <algorithm>
#include <utility>

namespace cudag::detail {

GraphState::GraphState(cudaGraph_t native) : native_(native), arena_(std::make_shared<Arena>()) {
    nodes_.reserve(64);
    slot_ = take_slot(*this);
}

GraphState::GraphState(cudaGraph_t native, std::shared_ptr<const CaptureNames> names, const SourceLocation& made_at)
    : native_(native), nodes_unread_(true), edges_unread_(true), names_(std::move(names)),
      arena_(std::make_shared<Arena>()), built_(true), described_(true) {
    made_at_ = made_at;
    slot_ = take_slot(*this);
}

GraphState::GraphState(cudaGraph_t native, const GraphState& origin)
    : native_(native), origin_slot_(origin.slot_), origin_generation_(origin.slot_->generation),
      arena_(std::make_shared<Arena>()), origin_arenas_(origin.origin_arenas_), regions_(origin.regions_),
      nodes_(origin.nodes_), natives_(origin.natives_), edges_(origin.edges_), native_edges_(origin.native_edges_),
      written_edges_(origin.written_edges_), bindings_(origin.bindings_), built_(true), described_(origin.described_),
      host_tasks_(origin.host_tasks_.load(std::memory_order_relaxed)) {
    for (const UpdatedNode& node : origin.updated_) {
        nodes_[node.index].params = copy_params(arena_->memory(), node.params);
        if (node.owners.empty()) continue;
        // CUDA would keep owners that it has with all clones to come, also when an update has replaced them
        reserve_change();
        count_change(updated(node.index), Owners(node.owners));
    }
    constexpr std::size_t most_arenas = 8;
    if (origin.arena_->is_used()) origin_arenas_.push_back(origin.arena_);
    if (origin_arenas_.size() > most_arenas) copy_blocks();
    nested_.reserve(origin.nested_.size());
    for (const auto& inner : origin.nested_) {
        auto copy = std::make_shared<GraphState>(nullptr, *inner);
        reserve_nested(*copy);
        attach(std::move(copy), inner->parent_node_, inner->place_);
    }
    made_at_ = origin.made_at_;
    slot_ = take_slot(*this);
}

void GraphState::copy_blocks() {
    std::unordered_map<const KernelSignature*, const KernelSignature*> signatures; // shared by many nodes
    const auto copy_signature = [&](const KernelSignature* signature) {
        const KernelSignature*& copy = signatures[signature];
        if (copy != nullptr) return copy;
        auto* parameters = allocate<Parameter>(signature->count);
        std::copy_n(signature->parameters, signature->count, parameters);
        return copy = store(KernelSignature{parameters, signature->count, signature->bytes});
    };
    const auto copy = [&](const NodeParams& params) {
        NodeParams own = copy_params(arena_->memory(), params);
        if (const auto* kernel = std::get_if<const KernelParams*>(&own); kernel != nullptr && !(*kernel)->symbol)
            const_cast<KernelParams&>(**kernel).signature = copy_signature((*kernel)->signature); // the copy's
        return own;
    };
    for (NodeRecord& node : nodes_)
        node.params = copy(node.params);
    for (UpdatedNode& node : updated_)
        node.params = copy(node.params);
    origin_arenas_.clear();
}

GraphState::~GraphState() {
    orphan();
    nested_.clear();
    if (owns_native_) ignore(cudaGraphDestroy(native_));
    owners_.clear();
    reclaim();
}

GraphState& GraphState::of(const Node& node) {
    if (node.slot_ == nullptr) refuse("an empty node handle was used; handles come from a GraphBuilder or a Graph");
    if (!is_alive(node))
        refuse(
            "the graph of this node handle no longer exists; keep its Graph, or an Exec of it, as long as the handle");
    return *node.slot_->state;
}

GraphState& GraphState::of(const Condition& condition) {
    if (condition.slot_->generation.load(std::memory_order_acquire) != condition.generation_)
        refuse("the graph of this condition no longer exists; each graph has conditions of its own");
    return *condition.slot_->state;
}

Condition GraphState::condition_value(cudaGraphConditionalHandle handle) const noexcept {
    return {handle, slot_, slot_->generation.load(std::memory_order_relaxed)};
}

bool GraphState::is_repeated() const noexcept {
    if (parent_ == nullptr) return false;
    const auto* node = std::get_if<const ConditionalParams*>(&parent_->nodes_[parent_node_].params);
    return (node != nullptr && (*node)->kind == ConditionalKind::while_) || parent_->is_repeated();
}

std::uint32_t GraphState::index_of(const Node& node, std::string_view action) const {
    const GraphState& owner = of(node);
    if (&owner == this) [[likely]]
        return node.index_;
    const Subject subject = node_subject(owner, node.index_, fmt::format("{}: ", action));
    if (&owner.root() != &root())
        refuse("the node belongs to another graph: " + describe_foreign(*this, node), subject);
    refuse(fmt::format("the node is in {}, and is used in {}; a graph and what is inside its nodes do not share nodes "
                       "or edges",
                       describe_place(owner), describe_place(*this)),
           subject);
}

Node GraphState::handle(std::uint32_t index) const noexcept {
    Node node;
    node.slot_ = slot_;
    node.generation_ = slot_->generation.load(std::memory_order_relaxed);
    node.index_ = index;
    return node;
}

bool GraphState::is_of_origin(const Node& node) const noexcept {
    return origin_slot_ != nullptr && node.slot_ == origin_slot_ && node.generation_ == origin_generation_;
}

void GraphState::reserve_node(const Owners& owners) {
    reserve_node(owners.size());
    for (const Owner& owner : owners)
        if (owner.dynamic != 0) {
            std::vector<Binding>& bindings = bindings_[owner.dynamic];
            reserve_more(bindings, owners.size());
        }
}

const std::vector<Binding>& GraphState::bindings(std::uint64_t dynamic) const noexcept {
    static const std::vector<Binding> none;
    const auto found = bindings_.find(dynamic);
    return found == bindings_.end() ? none : found->second;
}

Node GraphState::append(cudaGraphNode_t native, const NodeRecord& record, Owners&& owners) noexcept {
    nodes_.push_back(record);
    nodes_.back().device = builder_device_;
    natives_.push_back(native);
    keeps_nodes_ = keeps_nodes_ || record.kind == NodeKind::alloc || record.kind == NodeKind::free;
    const auto index = static_cast<std::uint32_t>(nodes_.size() - 1);
    for (Owner& owner : owners)
        if (owner.dynamic != 0)
            bindings_.find(owner.dynamic)->second.push_back({index, owner.argument});
        else
            owners_.push_back(std::move(owner.object));
    return handle(index);
}

GraphState::Natives GraphState::natives_in(cudaGraph_t clone) {
    Natives found{clone, natives_};
    for (cudaGraphNode_t& node : found.nodes)
        checked<GraphError>(cudaGraphNodeFindInClone(&node, node, clone), "cudaGraphNodeFindInClone");
    for (std::uint32_t i = 0; described_ && i < nodes_.size(); ++i) {
        const auto* kernel = std::get_if<const KernelParams*>(&nodes_[i].params);
        if (kernel == nullptr || (*kernel)->unread == nullptr) continue;
        auto* own = new (allocate<KernelParams>(1)) KernelParams(**kernel);
        own->unread = found.nodes[i]; // the origin may go first
        found.unread.push_back({i, own});
    }
    found.nested.reserve(nested_.size());
    for (const auto& inner : nested_) {
        cudaGraph_t native = nullptr;
        checked<GraphError>(cudaGraphChildGraphNodeGetGraph(found.nodes[inner->parent_node_], &native),
                            "cudaGraphChildGraphNodeGetGraph");
        found.nested.push_back(inner->natives_in(native));
    }
    return found;
}

void GraphState::replace_natives(Natives&& natives) noexcept {
    native_ = natives.graph;
    natives_.swap(natives.nodes);
    indices_.clear();
    for (const auto& [index, params] : natives.unread)
        nodes_[index].params = params;
    for (std::size_t i = 0; i < nested_.size(); ++i)
        nested_[i]->replace_natives(std::move(natives.nested[i]));
}

void GraphState::attach(std::shared_ptr<GraphState> inner, std::uint32_t index, Place place) noexcept {
    inner->owns_native_ = false;
    inner->parent_ = this;
    inner->parent_node_ = index;
    const bool follows = !nested_.empty() && nested_.back()->parent_node_ == index;
    inner->number_ = follows ? nested_.back()->number_ + 1 : 0;
    inner->position_ = static_cast<std::uint32_t>(nested_.size());
    inner->place_ = place;
    GraphState& root_graph = root();
    for (const Change& change : std::exchange(inner->changes_, {})) {
        if (change.version != change.node->version) continue;
        change.node->version = ++root_graph.version_;
        root_graph.changes_.push_back({root_graph.version_, change.node});
        ++root_graph.changed_nodes_;
    }
    nested_.push_back(std::move(inner));
}

void GraphState::require_root(std::string_view action) const {
    if (parent_ == nullptr) return;
    refuse(fmt::format("{}: the graph is inside {}, and stands for itself no more; use the graph around it", action,
                       describe_node(*parent_, parent_node_)),
           {{}, {std::string(parent_->nodes_[parent_node_].label)}, parent_->nodes_[parent_node_].location});
}

std::span<const std::shared_ptr<GraphState>> GraphState::nested_in(std::uint32_t index) const {
    const auto first =
        std::lower_bound(nested().begin(), nested().end(), index,
                         [](const auto& inner, std::uint32_t node) { return inner->parent_node_ < node; });
    const auto last = std::upper_bound(
        first, nested().end(), index, [](std::uint32_t node, const auto& inner) { return node < inner->parent_node_; });
    return {first, last};
}

const std::shared_ptr<GraphState>* GraphState::find_nested(std::uint32_t index, std::size_t number) const {
    const auto inside = nested_in(index);
    return number < inside.size() ? &inside[number] : nullptr;
}

void GraphState::orphan() noexcept {
    if (is_orphan()) return;
    release_slot(std::exchange(slot_, nullptr));
    for (const auto& inner : nested_) {
        inner->orphan();
        inner->parent_ = nullptr;
    }
}

void GraphState::lose(const SourceLocation& where) noexcept {
    lost_at_ = where;
    for (const auto& inner : nested_)
        inner->lose(where);
    owns_native_ = false;
    orphan();
}

void GraphState::require_not_lost() const {
    if (!is_lost()) return;
    refuse(
        fmt::format("the graph under construction was lost when the capture at {} was broken, which made CUDA destroy "
                    "it; start again with a new GraphBuilder",
                    *lost_at_),
        {{}, {}, *lost_at_});
}

const GraphAllocation* GraphState::find_memory(std::uintptr_t place) const {
    const auto found = memory_index_.latest(allocations(), place);
    return found ? &allocations_[*found] : nullptr;
}

const GraphAllocation* GraphState::find_foreign_memory(std::uintptr_t address) const {
    const auto found = memory_index_.foreign(allocations(), address);
    return found ? &allocations_[*found] : nullptr;
}

void GraphState::keep(std::vector<std::shared_ptr<const void>>&& owners) {
    reserve_more(owners_, owners.size());
    for (auto& owner : owners)
        owners_.push_back(std::move(owner));
}

void GraphState::forget_from(std::uint32_t first) noexcept {
    if (first == nodes_.size()) return;
    while (!nested_.empty() && nested_.back()->parent_node_ >= first) {
        nested_.back()->orphan();
        nested_.back()->parent_ = nullptr;
        nested_.pop_back();
    }
    nodes_.erase(nodes_.begin() + first, nodes_.end());
    natives_.resize(first);
    if (indices_.count() > first) indices_.clear();
    edges_.forget_nodes(first);
    native_edges_.forget_nodes(first);
    written_edges_ = 0;
    memory_index_.clear();
    for (GraphAllocation& memory : allocations_)
        if (memory.free && *memory.free >= first) memory.free.reset();
    std::erase_if(allocations_, [first](const GraphAllocation& memory) {
        return memory.alloc ? *memory.alloc >= first : !memory.free && memory.freed_elsewhere == Node();
    });
}

void GraphState::remove_last() noexcept {
    const auto last = static_cast<std::uint32_t>(nodes_.size() - 1);
    while (!nested_.empty() && nested_.back()->parent_node_ == last) {
        nested_.back()->orphan();
        nested_.back()->parent_ = nullptr;
        nested_.pop_back();
    }
    if (!is_lost()) { // else the node has gone with CUDA's graph
        const cudaError_t status = cudaGraphDestroyNode(natives_.back());
        ignore(status);
        if (status != cudaSuccess) root().spoilt_ = true;
    }
    natives_.pop_back();
    nodes_.pop_back();
    if (indices_.count() > nodes_.size()) indices_.clear();
}

void GraphState::read_all() const {
    read_edges();
    for (const auto& inner : nested())
        inner->read_all();
}

std::uint32_t GraphState::number_from(std::uint32_t first) noexcept {
    first_number_ = first;
    std::uint32_t next = first + static_cast<std::uint32_t>(nodes_.size());
    for (const auto& inner : nested_)
        next = inner->number_from(next);
    return next;
}

void GraphState::complete_native() {
    for (const auto& inner : nested_)
        inner->complete_native();
    if (!owners_.empty()) {
        keep_with_graph(native_, std::move(owners_));
        owners_.clear();
    }
    write_edges();
}

std::uint32_t GraphState::find_native(cudaGraphNode_t node) {
    indices_.extend(natives_);
    return indices_.find(natives_, node);
}

void GraphState::write_edges() {
    native_edges_.add_missing(edges_.list(), written_edges_, native_, natives_);
    written_edges_ = edges_.size();
}

std::string_view kind_text(const NodeRecord& node) noexcept {
    if (const auto* conditional = std::get_if<const ConditionalParams*>(&node.params))
        return to_string((*conditional)->kind);
    return to_string(node.kind);
}

namespace {

/// What a node is called where its place in the source does not matter.
std::string name_node(const GraphState& graph, std::uint32_t index) {
    const NodeRecord& record = graph.nodes()[index];
    const std::string_view kind = kind_text(record);
    if (!record.label.empty()) return fmt::format("{} \"{}\"", kind, without_nul(record.label));
    if (const auto* kernel = std::get_if<const KernelParams*>(&record.params))
        return fmt::format("kernel {} (node {})", kernel_name((*kernel)->function), index);
    return fmt::format("{} node {}", kind, index);
}

} // namespace

std::string describe_node(const GraphState& graph, std::uint32_t index) {
    const NodeRecord& record = graph.nodes()[index];
    std::string name = name_node(graph, index);
    if (graph.parent() != nullptr) name += " inside " + name_node(*graph.parent(), graph.parent_node());
    if (record.device != any_device) name += fmt::format(" on device {}", record.device);
    if (record.location.line != 0) name += fmt::format(" at {}", record.location);
    return name;
}

std::string describe_place(const GraphState& graph) {
    if (graph.parent() == nullptr) return "the graph itself";
    std::string text;
    if (graph.place() == Place::body) {
        const std::size_t bodies = graph.parent()->nested_in(graph.parent_node()).size();
        text = bodies == 1 ? "the body of " : fmt::format("body {} of ", graph.number());
    }
    return text + describe_node(*graph.parent(), graph.parent_node());
}

std::string describe_graph(const GraphState& graph) {
    const GraphState& root = graph.root();
    if (root.made_at().line != 0)
        return fmt::format("{} made at {}", root.is_clone() ? "the clone of the graph" : "the graph", root.made_at());
    const char* name = root.is_built() ? "the graph" : "the graph under construction";
    if (root.nodes().empty()) return fmt::format("{} without nodes", name);
    return fmt::format("{} that begins with {}", name, describe_node(root, 0));
}

namespace {

/// The graph in `graph` that is a clone of the one that `node` is of; null if there is none.
const GraphState* find_clone(const GraphState& graph, const Node& node) {
    if (graph.is_of_origin(node)) return &graph;
    for (const auto& inner : graph.nested())
        if (const GraphState* found = find_clone(*inner, node)) return found;
    return nullptr;
}

} // namespace

std::string describe_foreign(const GraphState& here, const Node& node) {
    const GraphState& owner = GraphState::of(node);
    if (const GraphState* clone = find_clone(here.root(), node)) {
        if (here.root().is_clone())
            return "to the one that this was cloned from; the clone's counterpart(node) is the handle here";
        while (clone->parent()->is_clone())
            clone = clone->parent();
        return fmt::format("to the one of which {} has a clone inside; its inside(node) is the handle here",
                           describe_node(*clone->parent(), clone->parent_node()));
    }
    if (owner.root().is_clone_of(here.root()))
        return "to a clone of this one; use the handle that the clone's counterpart() was given";
    return fmt::format("to {}, while this is {}", describe_graph(owner), describe_graph(here));
}

Subject node_subject(const GraphState& graph, std::uint32_t index, std::string_view action) {
    const NodeRecord& record = graph.nodes()[index];
    return {std::string(action) + describe_node(graph, index), {std::string(record.label)}, record.location};
}

} // namespace cudag::detail
