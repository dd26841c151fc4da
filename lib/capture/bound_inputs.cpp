// The inputs that replays of a GraphedFunction read where they are.
#include "bound_inputs.hpp"

#include "cuda/driver.hpp"
#include "graph/buffer_uses.hpp"
#include "graph/for_each_graph.hpp"

#include <cudag/error.hpp>

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

namespace cudag::detail {

namespace {

/// The memory that the graph's nodes allocate, and those inside.
void find_allocated(const GraphState& graph, std::vector<AddressRange>& memory) {
    for_each_graph(graph, [&](const GraphState& each) {
        for (const NodeRecord& node : each.nodes())
            if (const auto* alloc = std::get_if<const AllocParams*>(&node.params))
                memory.push_back(range_of((*alloc)->address, (*alloc)->bytes));
    });
}

/// The allocations that the parameters of nodes point into. Whatever may be an address is looked at.
void find_pointed_at(const GraphState& graph, std::vector<AddressRange>& memory) {
    constexpr ParamMemory everywhere{0, 1, std::numeric_limits<std::size_t>::max() - 1, true};
    std::vector<std::uintptr_t> addresses;
    for (const AddressUse& use : uses_of(graph, everywhere))
        addresses.push_back(everywhere.address + use.offset);
    std::sort(addresses.begin(), addresses.end());
    bind_context();
    AddressRange last{0, 0};
    for (const std::uintptr_t address : addresses) {
        CUdeviceptr begin = 0;
        std::size_t size = 0;
        if (address < last.end || driver().mem_get_address_range(&begin, &size, address) != CUDA_SUCCESS) continue;
        last = {static_cast<std::uintptr_t>(begin), static_cast<std::uintptr_t>(begin) + size};
        memory.push_back(last);
    }
}

/// Whether CUDA lets the exec's nodes have other memory in place of the parameter's.
bool can_bind(Exec& exec, const BufferParam<std::byte>& param) {
    try {
        exec.bind(param, param.span());
        return true;
    } catch (const UpdateError&) {
        return false;
    }
}

} // namespace

BoundInputs::BoundInputs(const Graph& graph, Exec& exec, GraphedInputs given, const std::vector<StaticInput>& inputs,
                         std::span<const bool> is_const)
    : inputs_(inputs.size()), rest_(inputs.size()) {
    if (graph.node_count() == 0) return;
    const Node first = graph.nodes().front();
    const GraphState& state = GraphState::of(first);
    std::vector<AddressRange> used;
    find_allocated(state, used);
    find_pointed_at(state, used);
    used_ = AddressRanges(std::move(used));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!is_const[i] || inputs[i].size == 0) continue;
        auto* const memory = static_cast<std::byte*>(inputs[i].data);
        BufferParam param(DeviceSpan<std::byte>(memory, bytes_of(given[i])), {.in_objects = true});
        if (!graph.uses(param).empty() && can_bind(exec, param)) inputs_[i] = Input{std::move(param), memory, memory};
    }
}

bool BoundInputs::is_bindable(const GraphedInput& given) const {
    const AddressRange range = range_of(given.data, bytes_of(given));
    return given.side == Side::device && range.begin % input_alignment == 0 && used_.are_apart_from(range);
}

void BoundInputs::place(GraphedInputs given) {
    for (std::size_t i = 0; i < given.size(); ++i) {
        rest_[i] = given[i];
        if (!inputs_[i]) continue;
        Input& input = *inputs_[i];
        input.next = input.param.data();
        if (!is_bindable(given[i])) continue;
        input.next = static_cast<std::byte*>(const_cast<void*>(given[i].data)); // only read
        rest_[i].data = input.param.data();
    }
}

bool BoundInputs::bind_next(Exec& exec, std::span<std::optional<Input>> inputs) {
    std::vector<BufferBinding> changed;
    for (const std::optional<Input>& input : inputs)
        if (input && input->next != input->bound)
            changed.emplace_back(input->param, DeviceSpan<std::byte>(input->next, input->param.size()));
    try {
        if (!changed.empty()) exec.bind(changed);
    } catch (const UpdateError& error) {
        if (error.code().value() != static_cast<int>(cudaErrorInvalidValue)) throw;
        return false;
    }
    for (std::optional<Input>& input : inputs)
        if (input) input->bound = input->next;
    return true;
}

GraphedInputs BoundInputs::bind(Exec& exec, GraphedInputs given) {
    place(given);
    if (bind_next(exec, inputs_)) return rest_;
    for (std::size_t i = 0; i < given.size(); ++i) {
        if (bind_next(exec, {&inputs_[i], 1})) continue;
        exec.bind(inputs_[i]->param, inputs_[i]->param.span());
        inputs_[i].reset();
        rest_[i] = given[i];
    }
    return rest_;
}

} // namespace cudag::detail
