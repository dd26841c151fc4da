// The nodes of a graph, and their copies in clones.
#include "graph_records.hpp"

#include "allocations.hpp"
#include "changes.hpp"
#include "node_record.hpp"
#include "read_nodes.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace cudag::detail {

GraphRecords::GraphRecords(GraphState& self, std::unique_ptr<Unread> unread) : self_(self), unread_(std::move(unread)) {
    unread_->set_graph(self);
    special_.read = true;
}

GraphRecords::GraphRecords(GraphState& self, const GraphRecords& origin)
    : self_(self), memory_(origin.memory_.of_clone()), table_(origin.table_), accesses_(origin.accesses_),
      bindings_(origin.bindings_), units_(origin.units_) {
    // All flags are named, so that a new one needs a decision; those left out start anew in a clone.
    const auto& [memory, joins, accesses, owners, waits, read, host_tasks, device_updatable, ignored] = origin.special_;
    static_cast<void>(memory), static_cast<void>(device_updatable), static_cast<void>(ignored);
    special_.joins = joins;
    special_.accesses = accesses;
    special_.owners = owners;
    special_.waits = waits;
    special_.read = read;
    special_.host_tasks = host_tasks.load(std::memory_order_relaxed);
    for (const UpdatedNode& node : origin.updated_.all()) {
        record(node.index).params = OwnedParams(memory_.resource(), node.params).view();
        accesses_.replace(node.index, node.accesses);
    }
    accesses_.close_up();
    if (memory_.has_many_origins()) copy_blocks();
}

UpdatedNode& GraphRecords::updated(std::uint32_t index) {
    read_nodes();
    return updated_.place(self_, table_, accesses_, index, memory_.resource());
}

void GraphRecords::add_effects(std::uint32_t index, const CallEffects& effects) noexcept {
    for (const ArgumentBinding& binding : effects.bindings)
        bindings_.add(binding.dynamic,
                      Binding{index, binding.argument, nullptr, 0, binding.mode, binding.element_bytes});
    special_.owners = special_.owners || !effects.owners.empty();
    if (effects.accesses.empty()) return;
    accesses_.add_reserved(index, effects.accesses);
    special_.accesses = true;
}

void GraphRecords::append(ReadNodes&& nodes) {
    if (table_.size() != 0) table_.reserve(nodes.records.size());
    table_.add(std::move(nodes.natives), std::move(nodes.records));
    if (nodes.has_memory) allocations_ = GraphAllocations(std::move(nodes.allocations));
    special_.memory = special_.memory || nodes.has_memory;
    special_.joins = special_.joins || nodes.has_joins;
    special_.accesses = true;
    if (!special_.read) special_.read = true; // true for a captured graph, at which another thread may be looking
}

void GraphRecords::forget_from(std::uint32_t first) noexcept {
    table_.forget_from(first);
    allocations_.forget_nodes(first);
    accesses_.forget_from(first);
    units_.forget_from(first);
    look_for_joins();
}

void GraphRecords::renumber(const Renumbering& next) noexcept {
    table_.renumber(next);
    bindings_.renumber(next);
    accesses_.renumber(next);
    units_.renumber(next);
    look_for_joins();
}

void GraphRecords::look_for_joins() noexcept {
    special_.joins = special_.joins && std::ranges::any_of(table_.records(), [](const NodeRecord& node) {
                         return node.kind == NodeKind::empty;
                     });
}

void GraphRecords::copy_blocks() {
    std::unordered_map<const KernelSignature*, const KernelSignature*> signatures; // shared by many nodes
    const auto copy_signature = [&](const KernelSignature* signature) {
        const KernelSignature*& copy = signatures[signature];
        if (copy != nullptr) return copy;
        auto* parameters = memory_.allocate<Parameter>(signature->count);
        std::copy_n(signature->parameters, signature->count, parameters);
        return copy = memory_.store(KernelSignature{parameters, signature->count, signature->bytes});
    };
    for (NodeRecord& node : table_.records()) {
        OwnedParams own(memory_.resource(), node.params);
        if (auto* kernel = own.find<KernelParams>(); kernel != nullptr && !is_typed(*kernel->signature))
            kernel->signature = copy_signature(kernel->signature);
        node.params = own.view();
    }
    memory_.forget_origins();
}

} // namespace cudag::detail
