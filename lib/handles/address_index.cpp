// Collection of the addresses in the parameters of nodes.
#include "address_index.hpp"

#include "graph/allocations.hpp"
#include "graph/construction.hpp"
#include "graph/graph_locks.hpp"
#include "graph/graph_memos.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "graph/node_record.hpp"
#include "node/kernel.hpp"
#include "order/declarations.hpp"

#include <cudag/access.hpp>

#include <algorithm>
#include <cstring>
#include <span>
#include <unordered_set>
#include <variant>
#include <vector>

namespace cudag::detail {

namespace {

struct KnownAddresses final : GraphMemo {
    std::shared_ptr<const AddressIndex> index;
};

/// Words outside of this range are no addresses: the first page is never mapped, and no machine has longer addresses.
constexpr std::uintptr_t least_address = 4096;
constexpr std::uintptr_t most_address = std::uintptr_t{1} << 57U;

/// Collects the addresses of memory allocated by the nodes of a graph, and of those inside it.
void collect_allocated(const GraphState& graph, std::unordered_set<std::uintptr_t>& addresses) {
    for (const GraphAllocation& memory : records_of(graph).allocations().list())
        if (memory.alloc) addresses.insert(memory.address);
    for (const auto& inner : nested_of(graph))
        collect_allocated(*inner, addresses);
}

using DeclaredArguments = std::span<const ArgumentAccess>;

/// Appends the addresses in the parameters of one node after another, in order.
class NodeWords {
  public:
    NodeWords(const GraphState& graph, std::uint32_t number, const std::unordered_set<std::uintptr_t>& allocated,
              std::vector<AddressWord>& words, std::vector<KnownMemory>& known)
        : graph_(graph), number_(number), allocated_(allocated), words_(words), known_(known) {}

    /// Adds a node. Returns whether the node declares all its accesses.
    [[nodiscard]] bool add(std::uint32_t node) {
        node_ = node;
        declared_.clear();
        records_of(graph_).initial_accesses().for_each(
            node, [this](const ArgumentAccess& access) { declared_.push_back(access); });
        const DeclaredArguments declared = declared_;
        bool is_whole = false;
        for (const ArgumentAccess& access : declared) {
            is_whole = is_whole || access.argument == whole_node;
            known_.push_back({access.block, number_, node, access.argument, access.unit});
        }
        const NodeParams& params = records_of(graph_).nodes()[node].params;
        if (const auto* const* kernel = std::get_if<const KernelParams*>(&params))
            add_kernel(**kernel, declared);
        else if (const auto* const* copy = std::get_if<const CopyParams*>(&params))
            add_copy(**copy);
        else if (const auto* const* set = std::get_if<const SetParams*>(&params))
            add_operand(0, address_of((*set)->destination), bytes_of_fill(**set));
        else if (const auto* const* operations = std::get_if<const MemoryOperationParams*>(&params))
            add_operations(**operations);
        else if (const auto* const* batch = std::get_if<const CopyBatchParams*>(&params))
            add_batch(**batch);
        else if (const auto* const* copy_3d = std::get_if<const cudaMemcpy3DParms*>(&params))
            add_copy_3d(**copy_3d);
        else if (const auto* const* free = std::get_if<const FreeParams*>(&params))
            if (!allocated_.contains(address_of((*free)->address)))
                add_word(0, 0, address_of((*free)->address), 0, WordKind::freed, false);
        for_each_block(params, [&](const ArgumentAccess& access) {
            if (!access.block.is_empty()) known_.push_back({access.block, number_, node_, access.argument, 0});
        });
        return is_whole;
    }

  private:
    static std::uintptr_t address_of(const void* pointer) noexcept { return reinterpret_cast<std::uintptr_t>(pointer); }
    static std::size_t bytes_of_fill(const SetParams& set) noexcept {
        const std::size_t row = set.size * set.element_bytes;
        return set.height == 1 ? row : (set.height - 1) * set.pitch + row;
    }

    void add_copy(const CopyParams& copy) {
        add_operand(0, address_of(copy.destination), copy.destination_size * copy.element_bytes);
        add_operand(1, address_of(copy.source), copy.source_size * copy.element_bytes);
    }
    void add_operations(const MemoryOperationParams& operations) {
        for (std::uint32_t i = 0; i < operations.count; ++i)
            if (const MemoryOperation& each = operations.operations[i]; each.bytes != 0)
                add_operand(i, address_of(each.address), each.bytes);
    }
    void add_batch(const CopyBatchParams& batch) {
        for (std::uint32_t i = 0; i < batch.count; ++i) {
            const CopyOfBatch& each = batch.operations[i];
            add_operand(2 * i, address_of(each.destination), each.bytes);
            add_operand(2 * i + 1, address_of(each.source), each.bytes);
        }
    }
    void add_copy_3d(const cudaMemcpy3DParms& copy) {
        add_operand(0, address_of(copy.dstPtr.ptr), 0);
        add_operand(1, address_of(copy.srcPtr.ptr), 0);
    }
    void add_operand(std::uint32_t argument, std::uintptr_t address, std::size_t bytes) {
        add_word(argument, 0, address, bytes, WordKind::operand, true);
    }

    void add_kernel(const KernelParams& kernel, const DeclaredArguments& declared) {
        const KernelSignature& launched = known_signature(graph_, node_, kernel);
        const bool has_types = launched.count == kernel.signature->count;
        for (std::uint32_t i = 0; i < kernel.signature->count; ++i) {
            Parameter parameter = kernel.signature->parameters[i]; // at CUDA's offset
            if (has_types && launched.parameters[i].size == parameter.size) {
                parameter.type = launched.parameters[i].type;
                parameter.cpp_type = launched.parameters[i].cpp_type;
            }
            add_argument(i, parameter, kernel.values, declared);
        }
    }
    void add_argument(std::uint32_t index, const Parameter& parameter, const std::byte* values,
                      const DeclaredArguments& declared) {
        constexpr auto word = static_cast<std::uint32_t>(sizeof(std::uintptr_t));
        const auto word_at = [values](std::uint32_t at) {
            std::uintptr_t value = 0;
            std::memcpy(&value, values + at, sizeof value);
            return value;
        };
        const auto begins_memory = [&](std::uintptr_t address) {
            return std::ranges::any_of(declared, [&](const ArgumentAccess& access) {
                return access.argument == index && access.block.begin == address;
            });
        };
        const bool is_known = parameter.cpp_type != nullptr;
        if (is_known && parameter.type == ParameterType::floating_point) return;
        std::uint32_t at = parameter.offset;
        if (may_be_address(parameter) || (parameter.size >= word && begins_memory(word_at(at)))) {
            add_word(index, at, word_at(at), 0, WordKind::address, begins_memory(word_at(at)));
            if (is_known) return; // the rest of a span is numbers
            at += word;
        }
        at = (at + word - 1) / word * word;
        for (; at + word <= parameter.offset + parameter.size; at += word)
            add_word(index, at, word_at(at), 0, WordKind::part, false);
    }

    void add_word(std::uint32_t argument, std::uint32_t at, std::uintptr_t address, std::size_t bytes, WordKind kind,
                  bool begins_memory) {
        if (address < least_address || address >= most_address) return;
        words_.push_back({address, bytes, number_, node_, argument, at, kind, begins_memory});
    }

    const GraphState& graph_;
    std::uint32_t number_;
    const std::unordered_set<std::uintptr_t>& allocated_;
    std::vector<AddressWord>& words_;
    std::vector<KnownMemory>& known_;
    std::vector<ArgumentAccess> declared_; ///< by the current node
    std::uint32_t node_ = 0;
};

} // namespace

bool is_opaque(const NodeRecord& node) noexcept {
    return std::holds_alternative<std::monostate>(node.params) && node.kind != NodeKind::empty &&
           node.kind != NodeKind::child;
}

AddressIndex::AddressIndex(const GraphState& graph) : version_(records_of(graph).declared_version()) {
    std::unordered_set<std::uintptr_t> allocated;
    collect_allocated(graph, allocated);
    add(graph, {no_graph, 0}, allocated);
    sort();
}

void AddressIndex::add(const GraphState& graph, const Holder& holder,
                       const std::unordered_set<std::uintptr_t>& allocated) {
    const auto number = static_cast<std::uint32_t>(graphs_.size());
    graphs_.push_back({&graph, holder});
    NodeWords words(graph, number, allocated, words_, known_);
    const auto count = static_cast<std::uint32_t>(records_of(graph).nodes().size());
    for (std::uint32_t i = 0; i < count; ++i)
        if (const bool declares_all = words.add(i);
            !declares_all && is_opaque(records_of(graph).nodes()[i]) && !opaque_)
            opaque_ = Holder{number, i};
    for (const auto& inner : nested_of(graph))
        add(*inner, {number, tree_of(*inner).parent_node()}, allocated);
}

void AddressIndex::sort() {
    std::ranges::sort(words_, {}, &AddressWord::address);
    std::ranges::sort(known_, {}, [](const KnownMemory& known) { return known.block.begin; });
    ends_.reserve(known_.size());
    std::uintptr_t last = 0;
    for (const KnownMemory& known : known_)
        ends_.push_back(last = std::max(last, known.block.end()));
}

std::span<const AddressWord> AddressIndex::words_in(const AddressRange& range) const noexcept {
    const auto first = std::ranges::lower_bound(words_, range.begin, {}, &AddressWord::address);
    const auto last = std::lower_bound(first, words_.end(), range.end,
                                       [](const AddressWord& word, std::uintptr_t end) { return word.address < end; });
    return {first, last};
}

std::size_t AddressIndex::known_before(std::uintptr_t address) const noexcept {
    const auto last = std::partition_point(known_.begin(), known_.end(),
                                           [&](const KnownMemory& known) { return known.block.begin < address; });
    return static_cast<std::size_t>(last - known_.begin());
}

bool AddressIndex::has_beginning(std::uintptr_t address) const noexcept {
    const std::size_t place = known_before(address);
    return place != known_.size() && known_[place].block.begin == address;
}

std::shared_ptr<const AddressIndex> addresses_of(const GraphState& graph) {
    records_of(graph).read_nodes(); // not under the lock
    const auto lock = lock_of(graph);
    if (!construction_of(root_of(graph)).is_built) return std::make_shared<const AddressIndex>(graph);
    std::shared_ptr<const AddressIndex>& known = memos_of(graph).of<KnownAddresses>().index;
    if (known == nullptr || known->version() != records_of(graph).declared_version())
        known = std::make_shared<const AddressIndex>(graph);
    return known;
}

} // namespace cudag::detail
