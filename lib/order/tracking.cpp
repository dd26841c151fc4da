// Tracking: whether all memory accesses of a node are known, and why not.
#include "tracking.hpp"

#include "declarations.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "graph/in_force.hpp"
#include "node/kernel.hpp"
#include "node/kernel_attributes.hpp"
#include "node/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

namespace cudag::detail {

namespace {

struct Declared {
    bool any = false;
    bool whole = false; ///< by `.reads` or `.writes`
};

Declared declared_by(const GraphState& graph, std::uint32_t index) {
    Declared declared;
    for_each_declared(graph, index, [&](const ArgumentAccess& access) {
        declared.any = true;
        declared.whole = declared.whole || access.argument == whole_node;
    });
    return declared;
}

/// Whether an untracked argument may refer to memory, also through an object's content aligned like pointers.
bool may_refer(const Parameter& parameter, const std::byte* values) {
    const bool is_number = parameter.cpp_type != nullptr && parameter.type != ParameterType::object &&
                           parameter.type != ParameterType::pointer && parameter.type != ParameterType::span &&
                           parameter.type != ParameterType::condition;
    const bool may_hold = parameter.size % sizeof(void*) == 0 && parameter.offset % alignof(void*) == 0;
    const std::span value(values + parameter.offset, parameter.size);
    return !is_number && may_hold && std::ranges::any_of(value, [](std::byte byte) { return byte != std::byte{0}; });
}

std::optional<Untracked> why_untracked_kernel(const GraphState& graph, std::uint32_t index,
                                              const KernelParams& kernel) {
    const NodePlace place{&graph, index};
    if (is_device_updatable(kernel)) return Untracked{StayReason::updatable, place};
    const KernelSignature& signature = known_signature(graph, index, kernel);
    const std::span parameters(signature.parameters, signature.count);
    if (std::ranges::any_of(parameters, is_condition)) return Untracked{StayReason::condition, place};
    const Declared declared = declared_by(graph, index);
    if (declared.whole) return std::nullopt;
    for (std::uint32_t i = 0; i < signature.count; ++i)
        if (may_refer(parameters[i], kernel.values) && !declares_argument(graph, index, i))
            return Untracked{StayReason::untracked, place, i};
    if (!declared.any) return Untracked{StayReason::undeclared, place};
    return std::nullopt;
}

std::optional<Untracked> why_untracked_inside(const GraphState& graph, std::uint32_t index) {
    for (const auto& inner : nested_in(graph, index))
        for (std::uint32_t i = 0; i < records_of(*inner).nodes().size(); ++i)
            if (const auto reason = why_untracked(*inner, i)) return reason;
    return std::nullopt;
}

} // namespace

bool declares_argument(const GraphState& graph, std::uint32_t index, MemoryArgument argument) {
    bool found = false;
    for_each_declared(graph, index, [&](const ArgumentAccess& access) {
        found = found || access.argument == argument || access.argument == whole_node;
    });
    return found;
}

std::string describe_untracked(MemoryArgument argument) {
    if (argument == whole_node) return "its accesses to memory are unknown; declare them by .reads() and .writes()";
    return fmt::format("argument {} may be an address, and the size of its memory is unknown; pass a span or a buffer, "
                       "or declare it by .reads() and .writes()",
                       argument);
}

bool keeps_place(const GraphState& graph, std::uint32_t index) {
    const Effects effects = rules_of(records_of(graph).nodes()[index].kind).effects;
    if (effects == Effects::outside || effects == Effects::visible) return true;
    if (const auto* kernel = std::get_if<const KernelParams*>(&records_of(graph).params(index)))
        if (is_device_updatable(**kernel)) return true;
    return std::ranges::any_of(nested_in(graph, index), [](const auto& inner) {
        for (std::uint32_t i = 0; i < records_of(*inner).nodes().size(); ++i)
            if (keeps_place(*inner, i)) return true;
        return false;
    });
}

std::optional<Untracked> why_untracked(const GraphState& graph, std::uint32_t index) {
    const NodePlace place{&graph, index};
    const NodeParams& params = records_of(graph).params(index);
    switch (rules_of(records_of(graph).nodes()[index].kind).effects) {
    case Effects::arguments:
        if (const auto* kernel = std::get_if<const KernelParams*>(&params))
            return why_untracked_kernel(graph, index, **kernel);
        break;
    case Effects::operands:
        if (!std::holds_alternative<std::monostate>(params)) return std::nullopt;
        break;
    case Effects::inside:
        if (declared_by(graph, index).whole) return std::nullopt;
        return why_untracked_inside(graph, index);
    case Effects::nothing:
        return std::nullopt;
    case Effects::condition:
        return Untracked{StayReason::condition, place};
    case Effects::outside:
    case Effects::visible:
        return Untracked{StayReason::outside, place};
    case Effects::undeclared:
        break;
    }
    if (declared_by(graph, index).whole) return std::nullopt;
    return Untracked{StayReason::undeclared, place};
}

} // namespace cudag::detail
