// GraphNames: the names of memory, kernels and handles.
#include <cudag/graph_text.hpp>

#include "cuda/failure.hpp"
#include "cuda/kernel_name.hpp"
#include "name_book.hpp"
#include "node/function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace cudag {

namespace {

bool is_letter(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Throws GraphError unless `name` is a word that a text can have in place of an address.
void require_word(std::string_view what, const std::string& name) {
    const auto is_part = [](char c) {
        return is_letter(c) || (c >= '0' && c <= '9') || std::string_view("_.-/[]").find(c) != std::string_view::npos;
    };
    const bool is_reserved = name == "null" || name == "condition" || name == "bytes";
    if (name.empty() || !is_letter(name.front()) || !std::ranges::all_of(name, is_part) || is_reserved)
        detail::refuse(
            fmt::format("name of {}: \"{}\" is no name in texts of graphs; take a letter or _, then letters, "
                        "digits and any of _.-/[], other than null, condition and bytes",
                        what, detail::without_nul(name)));
}

template <class List>
void require_new(const List& list, std::string_view what, const std::string& name) {
    if (std::ranges::any_of(list, [&](const auto& each) { return each.name == name; }))
        detail::refuse(
            fmt::format("name of {}: \"{}\" is taken; give each its own name", what, detail::without_nul(name)));
}

void require_line(std::string_view what, const std::string& name) {
    if (name.empty() || name.find_first_of(std::string_view("\n\r\0", 3)) != std::string::npos)
        detail::refuse(fmt::format("name of {}: \"{}\" is empty, or no single line; give it another one", what,
                                   detail::without_nul(name)));
}

} // namespace

void GraphNames::add(detail::NamedMemory&& memory) {
    require_word("memory", memory.name);
    require_new(lists_.memory, "memory", memory.name);
    if (memory.address == nullptr)
        detail::refuse(fmt::format("name of memory: \"{}\" is for a null pointer, which has no name", memory.name));
    lists_.memory.push_back(std::move(memory));
}

void GraphNames::add(detail::NamedKernel&& kernel) {
    if (kernel.name.empty())
        kernel.name = kernel.function ? std::string(kernel.function->name()) : detail::kernel_name(kernel.symbol);
    require_line("a kernel", kernel.name);
    require_new(lists_.kernels, "a kernel", kernel.name);
    lists_.kernels.push_back(std::move(kernel));
}

void GraphNames::add(detail::NamedHost&& host) {
    require_line("a host function", host.name);
    require_new(lists_.hosts, "a host function", host.name);
    if (host.task == nullptr && host.function == nullptr)
        detail::refuse(
            fmt::format("name of a host function: \"{}\" is for a null pointer, which has no name", host.name));
    lists_.hosts.push_back(std::move(host));
}

void GraphNames::add(detail::NamedHandle&& handle) {
    static constexpr std::string_view kinds[] = {"an event", "a semaphore", "an array"};
    const std::string_view kind = kinds[static_cast<std::size_t>(handle.kind)];
    require_word(kind, handle.name);
    require_new(lists_.handles, kind, handle.name);
    if (handle.handle == nullptr)
        detail::refuse(fmt::format("name of {}: \"{}\" is for a null handle, which has no name", kind, handle.name));
    lists_.handles.push_back(std::move(handle));
}

GraphNames& GraphNames::library(const Library& library) {
    GraphNames next = *this;
    for (const std::string& name : library.kernel_names())
        next.kernel(library.function(name));
    *this = std::move(next);
    return *this;
}

} // namespace cudag
