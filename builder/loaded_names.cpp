// What the names in the text of a graph stand for.
#include "loaded_names.hpp"

#include "add_memory.hpp"
#include "cuda/failure.hpp"
#include "node/function.hpp"
#include "owners/host_call.hpp"

#include <cudag/detail/condition_kernels.hpp>
#include <cudag/memory_node.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace cudag::detail {

namespace {

/// The names given for `what`, for errors: "\"x\", \"y\"".
template <class List, class Is>
std::string given_names(const List& list, const Is& is) {
    constexpr std::size_t shown = 20;
    std::string text;
    std::size_t count = 0;
    for (const auto& each : list)
        if (is(each) && ++count <= shown) text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", each.name);
    if (count > shown) text += fmt::format(" and {} more", count - shown);
    return text.empty() ? "none" : text;
}
template <class List>
std::string given_names(const List& list) {
    return given_names(list, [](const auto&) { return true; });
}

using NewValue = const unsigned*;
/// The types of cudag's kernels for setting conditions, by the number of conditions.
constexpr std::array<const KernelSignature*, most_conditions> set_conditions_signatures{
    &SignatureOf<Condition, NewValue>::value, &SignatureOf<Condition, NewValue, Condition, NewValue>::value,
    &SignatureOf<Condition, NewValue, Condition, NewValue, Condition, NewValue>::value,
    &SignatureOf<Condition, NewValue, Condition, NewValue, Condition, NewValue, Condition, NewValue>::value};

} // namespace

void refuse_at(std::size_t line, const std::string& reason) {
    refuse(fmt::format("text of a graph: line {}: {}", line, reason));
}

LoadedNames::LoadedNames(const GraphDocument& document, const NameLists& names, const SourceLocation& where)
    : names_(names), where_(where) {
    for (const NamedMemory& each : names.memory)
        memory_.emplace(each.name, &each);
    for (const TextMemory& each : document.memory)
        require_memory(each);
}

void* LoadedNames::address(LineReader& line) {
    if (line.take("null")) return nullptr;
    constexpr std::string_view expected = "the name of memory, as in \"x\", \"x + 16\" or \"null\"";
    std::string_view name;
    if (!line.take_until(" ,", name)) line.refuse(expected);
    std::size_t bytes = 0;
    std::byte* begin = nullptr;
    if (name.starts_with('@')) {
        const auto found = allocations_.find(std::string(name));
        if (found == allocations_.end())
            line.refuse(fmt::format("memory of an alloc node before this one; {} is none", name));
        const Allocation memory = allocation_of(found->second);
        begin = static_cast<std::byte*>(memory.address);
        bytes = memory.bytes;
    } else {
        const NamedMemory& memory = named_memory(name, line);
        begin = static_cast<std::byte*>(memory.address);
        bytes = memory.bytes;
    }
    std::size_t offset = 0;
    if (line.take(" + ")) offset = line.number<std::size_t>(expected);
    if (offset != 0 && offset >= bytes) line.refuse(fmt::format("an offset below the {} bytes of {}", bytes, name));
    return begin + offset;
}

void* LoadedNames::handle(HandleKind kind, LineReader& line) {
    static constexpr std::string_view kinds[] = {"an event", "a semaphore", "an array"};
    std::string_view name;
    if (line.take("null")) return nullptr;
    if (!line.take_until(" ,", name)) line.refuse(fmt::format("the name of {}", kinds[static_cast<std::size_t>(kind)]));
    for (const NamedHandle& each : names_.handles) {
        if (each.kind != kind || each.name != name) continue;
        keep_later(each.owner);
        return const_cast<void*>(each.handle);
    }
    line.refuse(fmt::format("the name of {} in the GraphNames; they have {}", kinds[static_cast<std::size_t>(kind)],
                            given_names(names_.handles, [&](const auto& each) { return each.kind == kind; })));
}

const Condition& LoadedNames::condition(LineReader& line) const {
    const std::string expected = fmt::format("a condition from 0 to {}", conditions_.size() - 1);
    std::size_t number = 0;
    if (conditions_.empty()) line.refuse("no condition: the text lists none");
    if (!line.take_value(number) || number >= conditions_.size()) line.refuse(expected);
    return conditions_[number];
}

HostParams LoadedNames::host(LineReader& line) {
    const std::string name(line.rest());
    static_cast<void>(line.take(line.rest()));
    const auto found = std::ranges::find_if(names_.hosts, [&](const NamedHost& each) { return each.name == name; });
    if (found == names_.hosts.end())
        line.refuse(fmt::format("the name of a host function in the GraphNames; they have {}; texts have no "
                                "functions, so name this one with GraphNames::host",
                                given_names(names_.hosts)));
    if (found->task == nullptr) return {found->function, found->data};
    keep_later(found->task);
    return {run_host_task, found->task.get()};
}

const Node& LoadedNames::allocation(LineReader& line) const {
    const auto found = allocations_.find(std::string(line.rest()));
    if (found == allocations_.end())
        line.refuse("the memory of an alloc node before this one, such as \"@2\"; a text cannot free other memory");
    return found->second;
}

FoundKernel LoadedNames::kernel(const TextField& field) const {
    FoundKernel found;
    const auto of_function = [&found](const Function& function, const KernelSignature* signature) {
        found.function = &function;
        found.signature = signature;
        found.untyped = Access::state(function).signature();
    };
    for (const NamedKernel& each : names_.kernels) {
        if (each.name != field.value) continue;
        if (each.function)
            of_function(*each.function, each.signature);
        else {
            found.symbol = each.symbol;
            found.signature = each.signature;
        }
        return found;
    }
    constexpr std::string_view set_conditions = "cudag_set_conditions_";
    if (field.value == "cudag_count_turns") {
        of_function(count_turns_function(where_), &SignatureOf<Condition, unsigned*, unsigned>::value);
        return found;
    }
    for (std::size_t count = 1; count <= most_conditions; ++count) {
        if (field.value != fmt::format("{}{}", set_conditions, count)) continue;
        of_function(set_conditions_function(count, where_), set_conditions_signatures.at(count - 1));
        return found;
    }
    refuse_at(field.line, fmt::format("there is no kernel \"{}\" in the GraphNames, which have {}; name it with "
                                      "GraphNames::kernel or library",
                                      field.value, given_names(names_.kernels)));
}

void LoadedNames::require_memory(const TextMemory& memory) const {
    const auto found = memory_.find(memory.name);
    if (found == memory_.end())
        refuse_at(memory.line, fmt::format("there is no memory \"{}\" of {} bytes in the GraphNames, which have {}; "
                                           "name it with GraphNames::memory",
                                           memory.name, memory.bytes, given_names(names_.memory)));
    if (found->second->bytes < memory.bytes)
        refuse_at(memory.line, fmt::format("memory \"{}\" in the GraphNames has {} bytes, and the graph needs {}; "
                                           "name memory of this size",
                                           memory.name, found->second->bytes, memory.bytes));
}

const NamedMemory& LoadedNames::named_memory(std::string_view name, const LineReader& line) {
    const auto found = memory_.find(std::string(name));
    if (found == memory_.end())
        line.refuse(fmt::format("the name of memory in the GraphNames; they have {}", given_names(names_.memory)));
    for (const Owner& owner : found->second->owners)
        keep_later(owner.object);
    return *found->second;
}

void LoadedNames::keep_later(const std::shared_ptr<const void>& owner) {
    if (owner != nullptr && std::ranges::find(owners_, owner) == owners_.end()) owners_.push_back(owner);
}
} // namespace cudag::detail
