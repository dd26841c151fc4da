// The key to constructors that only cudag calls.
#pragma once

namespace cudag::detail {

/// Marks the constructors whose argument cudag has checked already.
struct Unchecked {
    explicit Unchecked() = default;
};

} // namespace cudag::detail
