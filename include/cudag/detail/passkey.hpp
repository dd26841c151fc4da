// The key to constructors that only cudag calls.
#pragma once

namespace cudag::detail {

/// Who has it vouches for the other arguments: they have been checked.
struct Passkey {
    explicit Passkey() = default;
};

} // namespace cudag::detail
