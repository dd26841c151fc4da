// Translation of addresses in graph memory, for graphs written again.
#include "written_memory.hpp"

#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "graph/graph_state.hpp"
#include "graph/in_force.hpp"
#include "node/kernel.hpp"
#include "order/declarations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <variant>

namespace cudag::detail {

namespace {

void collect_memory(const GraphState& graph, std::uint32_t& order, std::vector<WrittenAllocation>& all) {
    std::vector<std::uint32_t> orders;
    for (std::uint32_t i = 0; i < graph.records().nodes().size(); ++i) {
        orders.push_back(order++);
        for (const auto& inner : graph.nested_in(i))
            collect_memory(*inner, order, all);
    }
    for (const GraphAllocation& memory : graph.records().allocations().list()) {
        if (!memory.alloc) continue;
        WrittenAllocation& added =
            all.emplace_back(WrittenAllocation{{&graph, *memory.alloc}, memory.address, memory.bytes});
        added.order = orders[*memory.alloc];
        if (memory.free)
            added.free = {&graph, *memory.free};
        else if (memory.freed_elsewhere != Node() && GraphIdentity::is_alive(memory.freed_elsewhere)) {
            const GraphState& other = GraphIdentity::of(memory.freed_elsewhere);
            if (&other.root() == &graph.root())
                added.free = {&other, GraphIdentity::index_unchecked(memory.freed_elsewhere)};
        }
    }
}

std::uintptr_t address_at(const std::byte* place) noexcept {
    std::uintptr_t address = 0;
    std::memcpy(&address, place, sizeof address);
    return address;
}

/// Calls `use(argument, offset, is_address)` for each word of a kernel's arguments: addresses, and words of objects and
/// numbers, which may be addresses.
template <class Use>
void for_each_word(const InForce& in_force, const NodePlace& node, const KernelParams& kernel, const Use& use) {
    constexpr auto word = static_cast<std::uint32_t>(sizeof(std::uintptr_t));
    const KernelSignature& signature = signature_to_write(node, kernel);
    const std::vector<ArgumentAccess> declared = all_declared(in_force, node);
    for (std::uint32_t i = 0; i < signature.count; ++i) {
        const Parameter& parameter = signature.parameters[i];
        const bool is_known = parameter.cpp_type != nullptr;
        if (is_known && (parameter.type == ParameterType::floating_point || is_condition(parameter))) continue;
        std::uint32_t at = (parameter.offset + word - 1) / word * word;
        const auto fits = [&] { return at + word <= parameter.offset + parameter.size; };
        const auto is_declared = [&] {
            return std::ranges::any_of(declared, [&](const ArgumentAccess& access) {
                return access.argument == i && access.block.begin == address_at(kernel.values + at);
            });
        };
        if (may_be_address(parameter) || (fits() && is_declared())) {
            use(i, at, true);
            if (is_known) continue; // the rest of a span is numbers
            at += word;
        }
        for (; fits(); at += word)
            use(i, at, false);
    }
}

/// The graphs and nodes around a node, beginning with its own.
template <class Visit>
void for_each_place_around(NodePlace node, const Visit& visit) {
    while (node) {
        if (visit(node)) return;
        node = {node.graph->tree().parent(), node.graph->tree().parent_node()};
    }
}

bool is_memory_at(std::uintptr_t address) {
    bind_context();
    CUdeviceptr begin = 0;
    std::size_t bytes = 0;
    return driver().mem_get_address_range(&begin, &bytes, address) == CUDA_SUCCESS;
}

} // namespace

std::vector<ArgumentAccess> all_declared(const InForce& in_force, const NodePlace& node) {
    std::vector<ArgumentAccess> accesses;
    in_force.for_each_declared(node, [&](const ArgumentAccess& access) { accesses.push_back(access); });
    return accesses;
}

/// A whole update may have given the node a kernel other than the one launched in a capture.
const KernelSignature& signature_to_write(const NodePlace& node, const KernelParams& kernel) {
    const auto* const* made = std::get_if<const KernelParams*>(&node.record().params);
    if (made == nullptr || (*made)->function != kernel.function) return *kernel.signature;
    const KernelSignature& known = known_signature(*node.graph, node.index, kernel);
    return same_layout(known, *kernel.signature) ? known : *kernel.signature;
}

WrittenMemory::WrittenMemory(const GraphState& original, const InForce& in_force) : in_force_(in_force) {
    std::uint32_t order = 0;
    collect_memory(original, order, all_);
    std::ranges::stable_sort(all_, {}, &WrittenAllocation::begin);
    std::uintptr_t last = 0;
    for (const WrittenAllocation& memory : all_)
        ends_.push_back(last = std::max(last, memory.end()));
}

WrittenAllocation& WrittenMemory::of_alloc(const NodePlace& alloc) {
    return *std::ranges::find(all_, alloc, &WrittenAllocation::alloc);
}

WrittenAllocation& WrittenMemory::of_free(const NodePlace& free) {
    return *std::ranges::find(all_, free, &WrittenAllocation::free);
}

const std::vector<bool>& WrittenMemory::reached_from(const NodePlace& node) {
    const auto [found, is_new] = reached_.try_emplace({node.graph, node.index});
    std::vector<bool>& reached = found->second;
    if (!is_new) return reached;
    reached.resize(node.graph->records().nodes().size());
    std::vector<std::vector<std::uint32_t>> next(reached.size());
    for (const EdgeRecord& edge : node.graph->edges())
        next[edge.from].push_back(edge.to);
    std::vector<std::uint32_t> open{node.index};
    while (!open.empty()) {
        const std::uint32_t from = open.back();
        open.pop_back();
        for (const std::uint32_t to : next[from]) {
            if (reached[to]) continue;
            reached[to] = true;
            open.push_back(to);
        }
    }
    return reached;
}

/// Compares the nodes around both in the innermost graph that has both.
bool WrittenMemory::comes_after(const NodePlace& later, const NodePlace& earlier) {
    bool answer = false;
    for_each_place_around(later, [&](const NodePlace& outer) {
        bool found = false;
        for_each_place_around(earlier, [&](const NodePlace& other) {
            found = other.graph == outer.graph;
            if (found) answer = reached_from(other)[outer.index];
            return found;
        });
        return found;
    });
    return answer;
}

bool WrittenMemory::is_alive_at(const WrittenAllocation& memory, const NodePlace& node) {
    return (node == memory.alloc || comes_after(node, memory.alloc)) &&
           (!memory.free || node == memory.free || comes_after(memory.free, node));
}

WrittenAllocation* WrittenMemory::find(const NodePlace& node, std::uintptr_t address) {
    const auto after = std::ranges::upper_bound(all_, address, {}, &WrittenAllocation::begin);
    WrittenAllocation* found = nullptr;
    for (auto i = static_cast<std::size_t>(after - all_.begin()); i-- > 0 && ends_[i] > address;) {
        if (address >= all_[i].end()) continue;
        if (found != nullptr && is_alive_at(*found, node)) break; // the lifetimes are disjoint
        found = &all_[i];
    }
    return found;
}

/// Finds memory with the end `address`, and with an address inside among the arguments of the kernel.
WrittenAllocation* WrittenMemory::find_ended_at(const NodePlace& node, const KernelParams& kernel,
                                                std::uintptr_t address) {
    for (WrittenAllocation& memory : all_) {
        if (memory.end() != address) continue;
        bool is_used = false;
        for_each_word(in_force_, node, kernel, [&](std::uint32_t, std::uint32_t at, bool) {
            is_used = is_used || find(node, address_at(kernel.values + at)) == &memory;
        });
        if (is_used) return &memory;
    }
    return nullptr;
}

void WrittenMemory::require_translatable(const GraphState& original, std::string_view action) {
    std::uint32_t order = 0;
    check(original, order, action);
}

void WrittenMemory::require_freed(std::string_view action) const {
    for (const WrittenAllocation& memory : all_)
        if (!memory.free)
            refuse("its memory outlives the launch, and the captured copy would have another address than its span(); "
                   "free it in this graph, or add the graph by inline_graph, whose counterpart() has the new address",
                   memory.alloc.subject(action), cudaErrorNotSupported);
}

void WrittenMemory::check(const GraphState& graph, std::uint32_t& order, std::string_view action) {
    for (std::uint32_t i = 0; i < graph.records().nodes().size(); ++i) {
        const NodePlace node{&graph, i};
        const std::uint32_t own_order = order++;
        const NodeParams& params = in_force_.params(node);
        const auto require_known = [&](std::uintptr_t address) {
            const WrittenAllocation* memory = find(node, address);
            if (memory == nullptr) return;
            if (!is_alive_at(*memory, node) && count_at(address) > 1)
                refuse(fmt::format("it has the address {:#x} of several alloc nodes, such as {}, and is not ordered "
                                   "after one of them and before its free node",
                                   address, memory->alloc.describe()),
                       node.subject(action), cudaErrorNotSupported);
            if (memory->order > own_order)
                refuse(fmt::format("it has an address in the memory of {}, which was made later; add the alloc node "
                                   "first",
                                   memory->alloc.describe()),
                       node.subject(action), cudaErrorNotSupported);
        };
        if (const auto* const* free = std::get_if<const FreeParams*>(&params);
            free != nullptr && std::ranges::find(all_, node, &WrittenAllocation::free) == all_.end())
            refuse(fmt::format("it frees memory at {} that another graph allocates, and its copy would free that again",
                               (*free)->address),
                   node.subject(action), cudaErrorNotSupported);
        if (!all_.empty() && !is_graph_memory(graph.records().nodes()[i].kind)) {
            if (const auto* const* kernel = std::get_if<const KernelParams*>(&params))
                check_kernel(node, **kernel, action);
            for_each_access(params, [&](const UsedRange& used) { require_known(used.begin); });
            for (const ArgumentAccess& access : all_declared(in_force_, node))
                require_known(access.block.begin);
        }
        for (const auto& inner : graph.nested_in(i))
            check(*inner, order, action);
    }
}

void WrittenMemory::check_kernel(const NodePlace& node, const KernelParams& kernel, std::string_view action) {
    for_each_word(in_force_, node, kernel, [&](std::uint32_t argument, std::uint32_t at, bool is_address) {
        const std::uintptr_t address = address_at(kernel.values + at);
        const WrittenAllocation* memory = find(node, address);
        const bool is_end = memory == nullptr;
        if (is_end) memory = find_ended_at(node, kernel, address);
        if (memory == nullptr) return;
        if (!is_address)
            refuse(fmt::format("argument {} has an address in the memory of {} in an object or a number, and the copy "
                               "has other memory; pass it as a pointer or a span",
                               argument, memory->alloc.describe()),
                   node.subject(action), cudaErrorNotSupported);
        if (is_end && is_memory_at(address))
            refuse(fmt::format("argument {} is {:#x}, the end of the memory of {}, and other memory begins there; give "
                               "kernels spans instead of raw pointers",
                               argument, address, memory->alloc.describe()),
                   node.subject(action), cudaErrorNotSupported);
    });
}

std::size_t WrittenMemory::count_at(std::uintptr_t address) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        all_, [&](const WrittenAllocation& memory) { return memory.begin <= address && address < memory.end(); }));
}

std::uintptr_t WrittenMemory::translated(const NodePlace& node, std::uintptr_t address) {
    const WrittenAllocation* memory = find(node, address);
    return memory == nullptr ? address : address - memory->begin + memory->copy_begin;
}

template <class Pointer>
void WrittenMemory::translate_pointer(const NodePlace& node, Pointer& pointer) {
    pointer = reinterpret_cast<Pointer>(translated(node, reinterpret_cast<std::uintptr_t>(pointer))); // NOLINT
}

void WrittenMemory::translate(const NodePlace& node, OwnedParams& params) {
    if (all_.empty()) return;
    if (auto* copy = params.find<CopyParams>()) {
        translate_pointer(node, copy->destination);
        translate_pointer(node, copy->source);
    } else if (auto* copy_3d = params.find<cudaMemcpy3DParms>()) {
        translate_pointer(node, copy_3d->dstPtr.ptr);
        translate_pointer(node, copy_3d->srcPtr.ptr);
    } else if (auto* batch = params.find<CopyBatchParams>()) {
        for (std::uint32_t i = 0; i < batch->count; ++i) {
            translate_pointer(node, batch->operations[i].destination);
            translate_pointer(node, batch->operations[i].source);
        }
    } else if (auto* set = params.find<SetParams>()) {
        translate_pointer(node, set->destination);
    } else if (auto* kernel = params.find<KernelParams>()) {
        std::vector<std::pair<std::uint32_t, std::uintptr_t>> changes;
        for_each_word(in_force_, node, *kernel, [&](std::uint32_t, std::uint32_t at, bool is_address) {
            if (!is_address) return;
            const std::uintptr_t address = address_at(kernel->values + at);
            const WrittenAllocation* memory = find(node, address);
            if (memory == nullptr) memory = find_ended_at(node, *kernel, address);
            if (memory != nullptr) changes.emplace_back(at, address - memory->begin + memory->copy_begin);
        });
        for (const auto& [at, address] : changes)
            std::memcpy(kernel->values + at, &address, sizeof address);
    }
}

void WrittenMemory::translate(const NodePlace& node, std::vector<ArgumentAccess>& accesses) {
    for (ArgumentAccess& access : accesses)
        access.block.begin = translated(node, access.block.begin);
}

void WrittenMemory::translate(const NodePlace& node, LaunchConfig& config) {
    if (all_.empty() || !config.access_policy) return;
    const DeviceSpan<const std::byte> memory = config.access_policy->memory;
    const auto* begin = memory.data();
    translate_pointer(node, begin);
    config.access_policy->memory = DeviceSpan<const std::byte>(begin, memory.size());
}

} // namespace cudag::detail
