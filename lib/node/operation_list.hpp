// Copies of parameters that have a list of operations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

namespace cudag::detail {

/// Parameters with `count` operations at `operations`. In a copy, the operations follow the block.
template <class Params>
concept OperationList = requires(Params params) {
    params.count;
    params.operations;
};

template <OperationList Params>
[[nodiscard]] std::size_t trailing_bytes(const Params& params) noexcept {
    return params.count * sizeof *params.operations;
}

template <OperationList Params>
void copy_trailing(const Params& from, Params& copy, std::byte* place) noexcept {
    copy.operations = reinterpret_cast<decltype(copy.operations)>(place);
    std::uninitialized_copy_n(from.operations, from.count, copy.operations);
}

/// Assigns operations of the same node: updates keep their number.
template <OperationList Params>
void assign(Params& copy, const Params& from) noexcept {
    std::copy_n(from.operations, copy.count, copy.operations);
}

} // namespace cudag::detail
