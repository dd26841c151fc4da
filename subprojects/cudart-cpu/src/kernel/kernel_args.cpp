// An owned copy of a kernel's arguments.
#include "kernel_args.hpp"

#include "runtime/call.hpp"
#include "runtime/round_up.hpp"
#include "runtime/text.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace cudart_cpu::detail {

void require_arguments(const KernelEntry& kernel, bool none) {
    if (none && !kernel.params.empty()) {
        fail(cudaErrorInvalidValue, text("CUDA kernel ", kernel_name(kernel), " has ", kernel.params.size(),
                                         " parameters but none provided at launch"));
    }
}

KernelArgs::KernelArgs(const KernelEntry& kernel, void* const* args) : kernel_(&kernel) {
    const std::vector<ParamLayout>& params = kernel.params;
    require_arguments(kernel, args == nullptr);
    std::size_t alignment = 1;
    std::size_t size = 0;
    for (const ParamLayout& param : params) {
        alignment = std::max(alignment, param.align);
        size = round_up(size, param.align) + param.size;
    }
    storage_ = std::make_unique<std::byte[]>(size + alignment);
    std::byte* next = storage_.get();
    for (std::size_t i = 0; i < params.size(); ++i) {
        if (args[i] == nullptr) {
            fail(cudaErrorInvalidValue, text("argument ", i, " of the kernel is NULL"));
        }
        next +=
            round_up(reinterpret_cast<std::uintptr_t>(next), params[i].align) - reinterpret_cast<std::uintptr_t>(next);
        std::memcpy(next, args[i], params[i].size);
        pointers_.push_back(next);
        next += params[i].size;
    }
}

KernelArgs::KernelArgs(const KernelArgs& other) : KernelArgs(*other.kernel_, other.pointers()) {}

} // namespace cudart_cpu::detail
