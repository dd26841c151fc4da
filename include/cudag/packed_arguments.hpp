// PackedArguments: all arguments of a Function in one object, for launches generated at run time.
#pragma once

#include <cudag/config.hpp>

#include <cstddef>
#include <span>

namespace cudag {

/// All arguments of a Function in one object, in place of an argument list.
///
///     const cudag::Function function = cudag::Library::from_file("kernels.cubin").function("blur");
///     float* data = x.data();
///     float factor = 2.0f;
///     std::array<void*, 3> values{&data, &factor, &n};
///     b.kernel(config, function, cudag::PackedArguments(values));
///
/// Refers to the values: they must live until the call that takes this has copied them. It keeps no memory alive.
class PackedArguments {
  public:
    /// Takes a pointer to each value: `values[i]` for parameter i, as in `cuLaunchKernel`. CUDA knows the sizes.
    explicit PackedArguments(std::span<void* const> values) noexcept : values_(values), is_block_(false) {}
    /// Takes one block with all values, at the offsets of `Function::parameters`, as for
    /// `CU_LAUNCH_PARAM_BUFFER_POINTER`.
    explicit PackedArguments(std::span<const std::byte> block) noexcept : block_(block) {}
    /// Takes one block with all values, parameter i at `offsets[i]`, in bytes.
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
