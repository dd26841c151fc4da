// Inputs of a GraphedFunction that its replays read in place.
#include "bound_inputs.hpp"

#include "cuda/driver.hpp"
#include "graph/for_each_graph.hpp"
#include "graph/graph_identity.hpp"
#include "graph/graph_records.hpp"
#include "graph/node_record.hpp"
#include "handles/buffer_uses.hpp"

#include <cudag/error.hpp>

#include <fmt/format.h>

#include <utility>
#include <variant>

namespace cudag::detail {

namespace {

/// Appends the memory allocated by nodes of the graph, and of those inside.
void find_allocated(const GraphState& graph, std::vector<AddressRange>& memory) {
    for_each_graph(graph, [&](const GraphState& each) {
        for (const NodeRecord& node : records_of(each).nodes())
            if (const auto* alloc = std::get_if<const AllocParams*>(&node.params))
                memory.push_back(range_of((*alloc)->address, (*alloc)->bytes));
    });
}

/// Appends the allocations that parameters of nodes point into. Every possible address counts.
void find_pointed_at(const GraphState& graph, std::vector<AddressRange>& memory) {
    bind_context();
    AddressRange last{0, 0};
    for (const std::uintptr_t address : all_addresses(graph)) {
        CUdeviceptr begin = 0;
        std::size_t size = 0;
        if (address < last.end || driver().mem_get_address_range(&begin, &size, address) != CUDA_SUCCESS) continue;
        last = {static_cast<std::uintptr_t>(begin), static_cast<std::uintptr_t>(begin) + size};
        memory.push_back(last);
    }
}

/// Returns the reason why the exec's nodes cannot take other memory for the parameter; nothing if they can.
std::optional<std::string> why_not_bound(const GraphState& graph, Exec& exec, const BufferParam<std::byte>& param) {
    const MemoryUses found = uses_of(graph, Access::memory(param));
    if (!found.obstacles.empty())
        return fmt::format("{}: {}", found.obstacles.front().place.describe(),
                           describe_obstacle(found.obstacles.front(), Access::memory(param)));
    if (found.uses.empty()) return "no node has its address";
    try {
        exec.bind(param, param.span());
        return std::nullopt;
    } catch (const UpdateError& error) {
        return error.what();
    }
}

} // namespace

BoundInputs::BoundInputs(const Graph& graph, Exec& exec, GraphedInputs given, const std::vector<StaticInput>& inputs,
                         std::span<const bool> is_const)
    : inputs_(inputs.size()), always_copied_(inputs.size()), rest_(inputs.size()), reasons_(inputs.size()) {
    if (graph.node_count() == 0) return;
    const Node first = graph.nodes().front();
    const GraphState* const state = &GraphIdentity::of(first);
    std::vector<AddressRange> used;
    find_allocated(*state, used);
    find_pointed_at(*state, used);
    used_ = AddressRanges(std::move(used));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].size == 0) continue;
        if (!is_const[i]) {
            always_copied_[i] = "the function may write to it: it does not take it as a span of const elements";
            continue;
        }
        auto* const memory = static_cast<std::byte*>(inputs[i].data);
        // Nothing begins at the end of a static input, see allocate_inputs.
        BufferParam param(DeviceSpan<std::byte>(memory, bytes_of(given[i])),
                          {.in_objects = true, .end_pointers = EndPointers::bound});
        if (std::optional<std::string> reason = why_not_bound(*state, exec, param))
            always_copied_[i] = std::move(*reason);
        else
            inputs_[i] = Input{std::move(param), memory, memory};
    }
}

const char* BoundInputs::why_not_bindable(const GraphedInput& given) const {
    const AddressRange range = range_of(given.data, bytes_of(given));
    if (given.side != Side::device) return "it is host memory";
    if (range.begin % input_alignment != 0) return "it is not aligned to 256 bytes, as static inputs are";
    if (!used_.are_apart_from(range)) return "other parameters of the graph point into its allocation";
    return nullptr;
}

void BoundInputs::give_up(std::size_t i, std::string&& reason) {
    always_copied_[i] = std::move(reason);
    inputs_[i].reset();
    reasons_[i] = always_copied_[i].c_str();
}

void BoundInputs::place(GraphedInputs given) {
    for (std::size_t i = 0; i < given.size(); ++i) {
        rest_[i] = given[i];
        reasons_[i] = always_copied_[i].empty() ? nullptr : always_copied_[i].c_str();
        if (!inputs_[i]) continue;
        Input& input = *inputs_[i];
        input.next = input.param.data();
        if (given[i].data == input.next) continue; // already the static input
        reasons_[i] = why_not_bindable(given[i]);
        if (reasons_[i] != nullptr) continue;
        input.next = static_cast<std::byte*>(const_cast<void*>(given[i].data)); // only read
        rest_[i].data = input.param.data();
    }
}

std::optional<std::string> BoundInputs::bind_next(Exec& exec, std::span<std::optional<Input>> inputs) {
    std::vector<BufferBinding> changed;
    for (const std::optional<Input>& input : inputs)
        if (input && input->next != input->bound)
            changed.emplace_back(input->param, DeviceSpan<std::byte>(input->next, input->param.size()));
    try {
        if (!changed.empty()) exec.bind(changed);
    } catch (const UpdateError& error) {
        if (error.code().value() != static_cast<int>(cudaErrorInvalidValue)) throw;
        return error.what();
    }
    for (std::optional<Input>& input : inputs)
        if (input) input->bound = input->next;
    return std::nullopt;
}

GraphedInputs BoundInputs::bind(Exec& exec, GraphedInputs given) {
    place(given);
    if (!bind_next(exec, inputs_)) return rest_;
    for (std::size_t i = 0; i < given.size(); ++i) {
        std::optional<std::string> refused = bind_next(exec, {&inputs_[i], 1});
        if (!refused) continue;
        exec.bind(inputs_[i]->param, inputs_[i]->param.span());
        rest_[i] = given[i];
        give_up(i, std::move(*refused));
    }
    return rest_;
}

} // namespace cudag::detail
