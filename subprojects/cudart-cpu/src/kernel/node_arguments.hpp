// The arguments of a kernel node, in either of CUDA's forms.
#pragma once

#include "kernel_args.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace cudart_cpu::detail {

/// The offsets of the parameters in the one buffer of CUDA's `extra` form. The last element is its size.
std::vector<std::size_t> packed_offsets(const KernelEntry& kernel);

/// Owns one value for each parameter. Copies are deep.
class NodeArguments {
  public:
    /// Takes either `params` (a pointer for each parameter) or `extra` (one packed buffer), as CUDA describes them.
    /// Throws Failure if both are given, or if they do not hold every parameter.
    NodeArguments(const KernelEntry& kernel, void* const* params, void* const* extra);
    NodeArguments(const NodeArguments& other);
    NodeArguments& operator=(const NodeArguments&) = delete;

    /// The arguments for a call of the kernel.
    void** pointers() const noexcept;

    /// The caller's form of the arguments: the other one is null.
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
