// Writable parameters of a node, unlike those shared by graphs, their clones and execs.
#include "owned_params.hpp"

#include <new>
#include <type_traits>

namespace cudag::detail {

namespace {

constexpr std::size_t aligned(std::size_t bytes) noexcept {
    constexpr std::size_t alignment = alignof(std::max_align_t);
    return (bytes + alignment - 1) / alignment * alignment;
}

std::byte* allocate(std::pmr::memory_resource& memory, std::size_t bytes) {
    return bytes == 0 ? nullptr : static_cast<std::byte*>(memory.allocate(bytes));
}

} // namespace

std::size_t copy_bytes(const NodeParams& params) noexcept {
    const auto bytes = [](const auto& block) -> std::size_t {
        if constexpr (is_none<decltype(block)>)
            return 0;
        else if constexpr (requires { trailing_bytes(*block); })
            return aligned(sizeof *block) + trailing_bytes(*block);
        else
            return sizeof *block;
    };
    return std::visit(bytes, params);
}

OwnedParams::OwnedParams(std::pmr::memory_resource& memory, const NodeParams& params)
    : OwnedParams(allocate(memory, copy_bytes(params)), params) {}

OwnedParams::OwnedParams(std::byte* place, const NodeParams& params) noexcept {
    const auto copy = [&](const auto& block) {
        if constexpr (!is_none<decltype(block)>) {
            using Params = std::decay_t<decltype(*block)>;
            static_assert(std::is_trivially_copyable_v<Params> && alignof(Params) <= alignof(std::max_align_t));
            auto* own = new (place) Params(*block);
            if constexpr (requires { trailing_bytes(*block); })
                copy_trailing(*block, *own, place + aligned(sizeof(Params)));
            view_ = static_cast<const Params*>(own);
            block_ = own;
        }
    };
    std::visit(copy, params);
}

void OwnedParams::assign(const NodeParams& params) noexcept {
    const auto assign_block = [this](const auto& block) {
        if constexpr (!is_none<decltype(block)>) {
            auto& own = *find<std::decay_t<decltype(*block)>>();
            if constexpr (requires { trailing_bytes(*block); })
                detail::assign(own, *block);
            else
                own = *block;
        }
    };
    std::visit(assign_block, params);
}

} // namespace cudag::detail
