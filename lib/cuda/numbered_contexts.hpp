// The numbers of green contexts, which stand in place of a device.
#pragma once

#include <cuda.h>

#include <optional>
#include <string>

namespace cudag::detail {

/// A green context that cudag made.
struct NumberedContext {
    CUcontext context; ///< converted: CUDA's calls accept it as a context
    int device;
    unsigned multiprocessors;
};

/// Whether a node's device is the number of a context: these are below any_device.
[[nodiscard]] constexpr bool is_context_number(int device) noexcept {
    return device < -1;
}
/// The number for users, from 1 on.
[[nodiscard]] constexpr int shown_number(int number) noexcept {
    return -1 - number;
}

/// Gives a context a number, unique in this process.
[[nodiscard]] int number_context(const NumberedContext& context);
void forget_context(int number) noexcept;

/// Throws GraphError if the context is gone.
[[nodiscard]] NumberedContext context_numbered(int number);
/// The device of a node: that of its context if it is the number of one, otherwise itself.
[[nodiscard]] int device_behind(int device);

/// "green context 1 (16 multiprocessors)"; empty for a context without a number.
[[nodiscard]] std::string numbered_name(CUcontext context);
/// As above; without its size if the context is gone.
[[nodiscard]] std::string numbered_name(int number);

/// "device 1", or the name of the context with this number.
[[nodiscard]] std::string place_name(int device);

/// Makes a node's device current for a scope, or its context.
class PlaceGuard {
  public:
    /// Throws GraphError if CUDA cannot. Changes nothing if the device is current.
    explicit PlaceGuard(int device);
    ~PlaceGuard();
    PlaceGuard(const PlaceGuard&) = delete;
    PlaceGuard& operator=(const PlaceGuard&) = delete;

  private:
    int previous_ = -1; ///< the caller's device, if another one was made current
    bool is_pushed_ = false;
};

/// Makes a context current; `pop_context` undoes it. Throws GraphError if CUDA refuses, or the context is gone.
void push_numbered_context(int number);
void pop_context() noexcept;

} // namespace cudag::detail
