// PackedArguments: all arguments of a kernel as a compiler of run time has them.
#pragma once

#include <cudag/config.hpp>

#include <cstddef>
#include <span>

namespace cudag {

/// The arguments of a Function, in place of a list of them. Refers to them: they must live until the call that takes
/// this has copied them. Nothing in them is kept alive.
class PackedArguments {
  public:
    /// `values[i]` points at the value of parameter i, as `cuLaunchKernel` takes them: CUDA knows its size.
    explicit PackedArguments(std::span<void* const> values) noexcept : values_(values), is_block_(false) {}
    /// One block in which they stand as `Function::parameters` tells, as for `CU_LAUNCH_PARAM_BUFFER_POINTER`.
    explicit PackedArguments(std::span<const std::byte> block) noexcept : block_(block) {}
    /// The same where parameter i stands at `offsets[i]`, in bytes.
    PackedArguments(std::span<const std::byte> block, std::span<const std::size_t> offsets) noexcept
        : block_(block), offsets_(offsets), has_offsets_(true) {}

    [[nodiscard]] std::span<void* const> values() const noexcept { return values_; }
    [[nodiscard]] std::span<const std::byte> block() const noexcept { return block_; }
    [[nodiscard]] std::span<const std::size_t> offsets() const noexcept { return offsets_; }
    [[nodiscard]] bool is_block() const noexcept { return is_block_; }
    [[nodiscard]] bool has_offsets() const noexcept { return has_offsets_; }

  private:
    std::span<void* const> values_;
    std::span<const std::byte> block_;
    std::span<const std::size_t> offsets_;
    bool is_block_ = true;
    bool has_offsets_ = false;
};

} // namespace cudag
