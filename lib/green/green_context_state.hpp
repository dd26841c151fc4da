// A green context, and its end.
#pragma once

#include "cuda/numbered_contexts.hpp"

#include <cuda.h>

#include <optional>

namespace cudag::detail {

/// Owns a green context. Nodes, and with them graphs and Execs, share it.
class GreenContextState {
  public:
    /// Takes over `green`.
    explicit GreenContextState(CUgreenCtx green) noexcept : green_(green) {}
    GreenContextState(const GreenContextState&) = delete;
    GreenContextState& operator=(const GreenContextState&) = delete;
    ~GreenContextState();

    /// Makes the context usable for nodes. Throws Error.
    void convert(int device, unsigned multiprocessors);

    [[nodiscard]] CUgreenCtx green() const noexcept { return green_; }
    [[nodiscard]] const NumberedContext& context() const noexcept { return context_; }
    [[nodiscard]] int number() const noexcept { return number_; }

  private:
    CUgreenCtx green_;
    NumberedContext context_{};
    int number_ = 0; ///< 0: not converted yet
};

/// Creates a non-blocking stream. Throws Error.
[[nodiscard]] CUstream create_stream(const GreenContextState& context, int priority);

} // namespace cudag::detail
