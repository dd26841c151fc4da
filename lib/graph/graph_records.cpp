// The nodes of a graph, and their copies in clones.
#include "graph_records.hpp"

#include "graph_state.hpp"

#include <algorithm>
#include <unordered_map>

namespace cudag::detail {

GraphRecords::GraphRecords(const GraphRecords& origin)
    : memory_(origin.memory_.of_clone()), table_(origin.table_), accesses_(origin.accesses_) {
    for (const UpdatedNode& node : origin.updated_.all()) {
        record(node.index).params = OwnedParams(memory_.resource(), node.params).view();
        accesses_.replace(node.index, node.accesses);
    }
    accesses_.close_up();
    if (memory_.has_many_origins()) copy_blocks();
}

UpdatedNode& GraphRecords::updated(std::uint32_t index) {
    read_nodes();
    return updated_.place(static_cast<GraphState&>(*this), table_, accesses_, index, memory_.resource());
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
