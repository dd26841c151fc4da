// The names in the text of one graph.
#include "name_book.hpp"

#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/kernel_function.hpp"
#include "cuda/kernel_name.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "graph/in_force.hpp"
#include "node/function.hpp"
#include "owners/host_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace cudag::detail {

namespace {

/// Whether CUDA knows an address: of device memory, or of page-locked host memory.
bool is_known_to_cuda(std::uintptr_t word) {
    constexpr std::uintptr_t least = 4096, most = std::uintptr_t{1} << 57U;
    if (word < least || word >= most) return false;
    cudaPointerAttributes attributes{};
    const cudaError_t status = cudaPointerGetAttributes(&attributes, reinterpret_cast<const void*>(word));
    ignore(status);
    return status == cudaSuccess && attributes.type != cudaMemoryTypeUnregistered;
}

std::string with_offset(const std::string& name, std::uintptr_t offset) {
    return offset == 0 ? name : fmt::format("{} + {}", name, offset);
}

CUfunction function_of_symbol(const void* symbol) {
    try {
        return kernel_function<GraphError>(symbol, [] { return Subject(); });
    } catch (const GraphError&) {
        return nullptr; // of no kernel on this device
    }
}

Function function_of(const KernelParams& kernel) {
    if (kernel.kernel != nullptr) return Function(reinterpret_cast<cudaKernel_t>(kernel.kernel));
    return Function(static_cast<cudaFunction_t>(kernel.function));
}

/// Whether CUDA's functions take the symbol as a kernel of the program.
bool is_of_program(const KernelParams& kernel) noexcept {
    return kernel.symbol != nullptr && kernel.kernel == nullptr;
}

} // namespace

NameBook::NameBook(const GraphState& root, const NameLists& given, bool keeps_kernels)
    : names_(given), given_memory_(given.memory.size()), keeps_kernels_(keeps_kernels) {
    for (const NamedMemory& each : given.memory)
        taken_.insert(each.name);
    for (const NamedKernel& each : given.kernels)
        taken_.insert(each.name);
    for (const NamedHost& each : given.hosts)
        taken_.insert(each.name);
    for (const NamedHandle& each : given.handles)
        taken_.insert(each.name);
    std::uint32_t order = 0;
    add_allocations(root, "@", order);
    add_ranges(root);
    std::ranges::sort(blocks_, {}, &Block::begin);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        if (kept != 0 && blocks_[i].begin < blocks_[kept - 1].end)
            blocks_[kept - 1].end = std::max(blocks_[kept - 1].end, blocks_[i].end);
        else
            blocks_[kept++] = blocks_[i];
    }
    blocks_.resize(kept);
}

void NameBook::add_ranges(const GraphState& graph) {
    const GraphRecords& records = records_of(graph);
    const auto add = [this](std::uintptr_t begin, std::size_t bytes) {
        if (bytes != 0) blocks_.push_back({begin, begin + bytes, {}});
    };
    for (std::uint32_t i = 0; i < records.nodes().size(); ++i) {
        for_each_access(records.params(i), [&](const UsedRange& range) { add(range.begin, range.bytes); });
        for_each_declared(records, i, [&](const ArgumentAccess& access) {
            add(access.block.begin, access.block.end() - access.block.begin);
        });
        for (const auto& inner : nested_in(graph, i))
            add_ranges(*inner);
    }
}

void NameBook::add_allocations(const GraphState& graph, const std::string& path, std::uint32_t& order) {
    const GraphRecords& records = records_of(graph);
    for (std::uint32_t i = 0; i < records.nodes().size(); ++i) {
        const std::string place = fmt::format("{}{}", path, i);
        if (const auto* alloc = std::get_if<const AllocParams*>(&records.nodes()[i].params))
            allocations_.push_back(
                {reinterpret_cast<std::uintptr_t>((*alloc)->address), (*alloc)->bytes, place, order});
        ++order;
        for (const auto& inner : nested_in(graph, i))
            add_allocations(*inner, place + "/", order);
    }
}

void NameBook::use(const std::string& name, std::size_t bytes) {
    if (used_names_.insert(name).second) used_.push_back({name, bytes});
}

std::optional<std::string> NameBook::in_named(std::uintptr_t address, std::uint32_t order) {
    // CUDA reuses freed graph memory: the latest allocation before the node counts
    const NamedAllocation* allocation = nullptr;
    for (const NamedAllocation& each : allocations_)
        if (address - each.address < each.bytes && (allocation == nullptr || each.order < order)) allocation = &each;
    if (allocation != nullptr) return with_offset(allocation->name, address - allocation->address);
    for (std::size_t i = 0; i < given_memory_; ++i) {
        const NamedMemory& each = names_.memory[i];
        const auto begin = reinterpret_cast<std::uintptr_t>(each.address);
        if (address - begin >= each.bytes && address != begin) continue;
        use(each.name, each.bytes);
        return with_offset(each.name, address - begin);
    }
    return std::nullopt;
}

std::optional<std::string> NameBook::in_blocks(std::uintptr_t address) {
    const auto after = std::ranges::upper_bound(blocks_, address, {}, &Block::begin);
    if (after == blocks_.begin()) return std::nullopt;
    Block& block = *std::prev(after);
    if (address != block.begin && address >= block.end) return std::nullopt;
    if (block.name.empty()) {
        block.name = numbered("memory");
        names_.memory.push_back({block.name, reinterpret_cast<void*>(block.begin), block.end - block.begin, {}});
    }
    use(block.name, block.end - block.begin);
    return with_offset(block.name, address - block.begin);
}

std::optional<std::string> NameBook::word(std::uintptr_t word, std::uint32_t order, bool asks_cuda) {
    if (auto named = in_named(word, order)) return named;
    if (auto used = in_blocks(word)) return used;
    if (!asks_cuda || !is_known_to_cuda(word)) return std::nullopt;
    return address(reinterpret_cast<const void*>(word), order);
}

std::string NameBook::address(const void* address, std::uint32_t order) {
    if (address == nullptr) return "null";
    const auto word = reinterpret_cast<std::uintptr_t>(address);
    if (auto named = in_named(word, order)) return *std::move(named);
    if (auto used = in_blocks(word)) return *std::move(used);
    blocks_.insert(std::ranges::upper_bound(blocks_, word, {}, &Block::begin), {word, word, {}});
    return in_blocks(word).value();
}

std::string NameBook::free_name(std::string_view base) {
    std::string name(base);
    for (unsigned number = 2; !taken_.insert(name).second; ++number)
        name = fmt::format("{}#{}", base, number);
    return name;
}

std::string NameBook::numbered(std::string_view base) {
    std::string name;
    do {
        name = fmt::format("{}{}", base, ++numbers_[std::string(base)]);
    } while (!taken_.insert(name).second);
    return name;
}

const NamedKernel* NameBook::given_kernel(const KernelParams& kernel) const {
    for (const NamedKernel& each : names_.kernels) {
        if (each.function) {
            const FunctionState& state = Access::state(*each.function);
            if (state.function == kernel.function ||
                (state.kernel != nullptr && reinterpret_cast<CUkernel>(state.kernel) == kernel.kernel))
                return &each;
        } else if (each.symbol == kernel.symbol || function_of_symbol(each.symbol) == kernel.function) {
            return &each;
        }
    }
    return nullptr;
}

std::string NameBook::kernel(const KernelParams& kernel, const KernelSignature& signature) {
    const auto found = kernels_.find(kernel.function);
    if (found != kernels_.end()) return found->second;
    const auto note = [&](std::string name) {
        return kernels_.emplace(kernel.function, std::move(name)).first->second;
    };
    if (const NamedKernel* given = given_kernel(kernel); given != nullptr) return note(given->name);
    std::string name = kernel_name(kernel.function);
    if (name.starts_with(own_kernel_prefix)) return note(std::move(name));
    name = free_name(name);
    if (keeps_kernels_) {
        NamedKernel named{name, nullptr, nullptr, std::nullopt};
        if (is_typed(signature) || signature.count == 0) named.signature = &signature;
        if (is_of_program(kernel))
            named.symbol = kernel.symbol;
        else
            named.function = function_of(kernel);
        names_.kernels.push_back(std::move(named));
    }
    return note(std::move(name));
}

ParameterType NameBook::type_of(const KernelParams& kernel, const KernelSignature& signature, std::uint32_t index) {
    if (signature.parameters[index].cpp_type != nullptr) return signature.parameters[index].type;
    const auto [known, is_new] = types_.try_emplace(kernel.function);
    if (is_new)
        for (const std::string& type : parameter_types(kernel.function))
            known->second.push_back(type_named(type));
    return known->second.size() == signature.count ? known->second[index] : ParameterType::object;
}

std::string NameBook::host(const HostParams& host, std::string_view label) {
    const auto* const task = is_host_task(host) ? static_cast<const HostTask*>(host.userData) : nullptr;
    for (const NamedHost& each : names_.hosts)
        if (each.task != nullptr ? task != nullptr && task->callable == each.task->callable
                                 : each.function == host.fn && each.data == host.userData)
            return each.name;
    const std::string name = label.empty() ? numbered("host") : free_name(label);
    names_.hosts.push_back({name, host.fn, host.userData, nullptr});
    return name;
}

std::string NameBook::handle(HandleKind kind, const void* handle) {
    if (handle == nullptr) return "null";
    for (const NamedHandle& each : names_.handles)
        if (each.kind == kind && each.handle == handle) return each.name;
    static constexpr const char* bases[] = {"event", "semaphore", "array"};
    names_.handles.push_back({numbered(bases[static_cast<std::size_t>(kind)]), kind, handle, nullptr});
    return names_.handles.back().name;
}

} // namespace cudag::detail
