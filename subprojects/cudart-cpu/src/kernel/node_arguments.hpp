// The arguments of a kernel node, in either of the forms that CUDA takes.
#pragma once

#include "kernel_args.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace cudart_cpu::detail {

/// Where the parameters stand in the one buffer that CUDA's `extra` form describes. The last element is its size.
std::vector<std::size_t> packed_offsets(const KernelEntry& kernel);

/// Owns one value for each parameter. Copies are deep.
class NodeArguments {
  public:
    /// Takes either `params` (a pointer for each parameter) or `extra` (one packed buffer), as CUDA describes them.
    /// Throws Failure if both are given, or if they do not hold every parameter.
    NodeArguments(const KernelEntry& kernel, void* const* params, void* const* extra);
    NodeArguments(const NodeArguments& other);
    NodeArguments& operator=(const NodeArguments&) = delete;

    /// What the kernel is called with.
    void** pointers() const noexcept;

    /// The form in which the caller gave them: the other is null.
    void** params() const noexcept { return extra_ ? nullptr : pointers(); }
    void** extra() const noexcept;

  private:
    /// The `extra` form of the same values.
    struct Extra {
        explicit Extra(std::vector<std::byte> values);
        std::vector<std::byte> buffer;
        std::size_t size;
        void* list[5];
    };

    std::unique_ptr<Extra> extra_;
    std::unique_ptr<KernelArgs> values_;
};

} // namespace cudart_cpu::detail
