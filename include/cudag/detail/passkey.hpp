// Passkey: the key to constructors reserved for cudag.
#pragma once

namespace cudag::detail {

/// An argument of constructors reserved for cudag. The caller has checked the other arguments.
struct Passkey {
    explicit Passkey() = default;
};

} // namespace cudag::detail
