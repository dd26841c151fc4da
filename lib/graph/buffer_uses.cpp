// Which nodes use the memory of a BufferParam, and where the addresses stand in their parameters.
#include "buffer_uses.hpp"

#include "cuda/failure.hpp"
#include "for_each_graph.hpp"
#include "names.hpp"

#include <cudag/graph.hpp>

#include <fmt/format.h>

#include <atomic>
#include <cstring>

namespace cudag {

namespace detail {

namespace {

/// Collects the uses in the nodes of one graph.
class Finder {
  public:
    Finder(const GraphState& graph, const ParamMemory& param, std::vector<AddressUse>& uses)
        : graph_(graph), param_(param), uses_(uses) {}

    void look_at(std::uint32_t node) {
        const NodeParams& params = graph_.nodes()[node].params;
        if (const auto* const* kernel = std::get_if<const KernelParams*>(&params))
            look_at(node, **kernel);
        else if (const auto* const* copy = std::get_if<const CopyParams*>(&params))
            look_at(node, **copy);
        else if (const auto* const* set = std::get_if<const SetParams*>(&params))
            add(node, 0, 0, address_of((*set)->destination), bytes_of(**set), false);
        else if (const auto* const* copy_3d = std::get_if<const cudaMemcpy3DParms*>(&params))
            look_at(node, **copy_3d);
    }

  private:
    static std::uintptr_t address_of(const void* pointer) noexcept { return reinterpret_cast<std::uintptr_t>(pointer); }
    static std::uintptr_t word_at(const std::byte* place) noexcept {
        std::uintptr_t word = 0;
        std::memcpy(&word, place, sizeof word);
        return word;
    }
    static std::size_t bytes_of(const SetParams& set) noexcept {
        const std::size_t row = set.size * set.element_bytes;
        return set.height == 1 ? row : (set.height - 1) * set.pitch + row;
    }

    void look_at(std::uint32_t node, const KernelParams& kernel) {
        for (std::uint32_t i = 0; i < kernel.signature->count; ++i) {
            const Parameter& parameter = kernel.signature->parameters[i];
            const bool address = may_be_address(parameter);
            if (!address && !param_.in_objects) continue;
            constexpr auto word = static_cast<std::uint32_t>(sizeof(std::uintptr_t));
            const std::uint32_t first = address ? parameter.offset : (parameter.offset + word - 1) / word * word;
            const std::uint32_t end = address ? first + word : parameter.offset + parameter.size;
            for (std::uint32_t at = first; at + word <= end; at += word)
                add(node, i, at, word_at(kernel.values + at), 0, !address);
        }
    }
    void look_at(std::uint32_t node, const CopyParams& copy) {
        add(node, 0, 0, address_of(copy.destination), copy.destination_size * copy.element_bytes, false);
        add(node, 1, 0, address_of(copy.source), copy.source_size * copy.element_bytes, false);
    }
    void look_at(std::uint32_t node, const cudaMemcpy3DParms& copy) {
        add(node, 0, 0, address_of(copy.dstPtr.ptr), 0, false);
        add(node, 1, 0, address_of(copy.srcPtr.ptr), 0, false);
    }

    void add(std::uint32_t node, std::uint32_t argument, std::uint32_t at, std::uintptr_t address, std::size_t bytes,
             bool is_in_object) {
        const std::size_t offset = address - param_.address; // wraps below it
        if (offset >= param_.bytes) return;
        uses_.push_back({{&graph_, node}, argument, at, offset, bytes, is_in_object});
    }

    const GraphState& graph_;
    const ParamMemory& param_;
    std::vector<AddressUse>& uses_;
};

} // namespace

std::vector<AddressUse> uses_of(const GraphState& graph, const ParamMemory& param) {
    std::vector<AddressUse> uses;
    for_each_graph(graph, [&](const GraphState& each) {
        Finder finder(each, param, uses);
        for (std::uint32_t i = 0; i < each.nodes().size(); ++i)
            finder.look_at(i);
    });
    return uses;
}

std::uintptr_t address_in(const NodeParams& params, const AddressUse& use) noexcept {
    std::uintptr_t address = 0;
    if (const auto* const* kernel = std::get_if<const KernelParams*>(&params)) {
        std::memcpy(&address, (*kernel)->values + use.at, sizeof address);
    } else if (const auto* const* copy = std::get_if<const CopyParams*>(&params)) {
        address = reinterpret_cast<std::uintptr_t>(use.argument == 0 ? (*copy)->destination : (*copy)->source);
    } else if (const auto* const* set = std::get_if<const SetParams*>(&params)) {
        address = reinterpret_cast<std::uintptr_t>((*set)->destination);
    }
    return address;
}

void set_address(OwnedParams& params, const AddressUse& use, std::uintptr_t address) noexcept {
    void* const pointer = reinterpret_cast<void*>(address); // NOLINT: memory of the device
    if (auto* kernel = params.find<KernelParams>())
        std::memcpy(kernel->values + use.at, &address, sizeof address);
    else if (auto* copy = params.find<CopyParams>(); copy != nullptr && use.argument == 0)
        copy->destination = pointer;
    else if (copy != nullptr)
        copy->source = pointer;
    else if (auto* set = params.find<SetParams>())
        set->destination = pointer;
}

std::uint64_t next_param_id() noexcept {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

void refuse_param(const char* reason) {
    refuse(fmt::format("BufferParam: {}", reason));
}

} // namespace detail

std::string to_string(const BufferUse& use) {
    const char* what = "argument";
    std::string number = fmt::format(" {}", use.argument);
    if (use.node.kind() != NodeKind::kernel) {
        number.clear();
        what = use.argument == 0 ? "destination" : "source";
    }
    return fmt::format("{}: {}{} at offset {}", to_string(use.node), what, number, use.offset);
}

std::vector<BufferUse> Graph::uses_of(const detail::ParamMemory& param) const {
    const detail::GraphState& graph = state();
    std::vector<BufferUse> uses;
    for (const detail::AddressUse& use : detail::uses_of(graph, param))
        uses.push_back({use.place.graph->handle(use.place.index), use.argument, use.offset});
    return uses;
}

void Graph::require_use_of(const detail::ParamMemory& param) const {
    if (!uses_of(param).empty()) return;
    detail::refuse(fmt::format("parameter: no node of {} uses the {} bytes at {}", detail::describe_graph(state()),
                               param.bytes, reinterpret_cast<const void*>(param.address))); // NOLINT
}

} // namespace cudag
