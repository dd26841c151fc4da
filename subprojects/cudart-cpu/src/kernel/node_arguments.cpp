// The arguments of a kernel node, in either of CUDA's forms.
#include "node_arguments.hpp"

#include "runtime/call.hpp"
#include "runtime/text.hpp"

#include <cuda.h>

namespace cudart_cpu::detail {

namespace {

/// Reads CUDA's list of CU_LAUNCH_PARAM_* names and values. Throws unless it holds all parameters of `kernel`.
std::vector<std::byte> copy_packed(const KernelEntry& kernel, void* const* extra) {
    const std::byte* buffer = nullptr;
    std::size_t size = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = static_cast<const std::byte*>(extra[1]);
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            size = *static_cast<const std::size_t*>(extra[1]);
        else
            fail(cudaErrorInvalidValue, text("extra holds the unknown name ", *extra));
    }
    const std::size_t needed = packed_offsets(kernel).back();
    if (needed > 0 && (!buffer || size < needed))
        fail(cudaErrorInvalidValue, text("extra holds ", buffer ? size : 0, " bytes of parameters, but ",
                                         kernel_name(kernel), " takes ", needed));
    return needed > 0 ? std::vector(buffer, buffer + needed) : std::vector<std::byte>();
}

std::vector<void*> pointers_into(std::byte* buffer, const std::vector<std::size_t>& offsets) {
    std::vector<void*> pointers;
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
        pointers.push_back(buffer + offsets[i]);
    return pointers;
}

} // namespace

std::vector<std::size_t> packed_offsets(const KernelEntry& kernel) {
    std::vector<std::size_t> offsets;
    std::size_t end = 0;
    for (const ParamLayout& param : kernel.params) {
        offsets.push_back((end + param.align - 1) / param.align * param.align);
        end = offsets.back() + param.size;
    }
    offsets.push_back(end);
    return offsets;
}

NodeArguments::Extra::Extra(std::vector<std::byte> values)
    : buffer(std::move(values)), size(buffer.size()),
      list{CU_LAUNCH_PARAM_BUFFER_POINTER, buffer.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END} {}

NodeArguments::NodeArguments(const KernelEntry& kernel, void* const* params, void* const* extra) {
    if (params && extra)
        fail(cudaErrorInvalidValue, text("both kernelParams and extra are given for ", kernel_name(kernel)));
    if (!extra) {
        values_ = std::make_unique<KernelArgs>(kernel, params);
        return;
    }
    extra_ = std::make_unique<Extra>(copy_packed(kernel, extra));
    const std::vector<void*> pointers = pointers_into(extra_->buffer.data(), packed_offsets(kernel));
    values_ = std::make_unique<KernelArgs>(kernel, pointers.data());
}

NodeArguments::NodeArguments(const NodeArguments& other)
    : extra_(other.extra_ ? std::make_unique<Extra>(other.extra_->buffer) : nullptr),
      values_(std::make_unique<KernelArgs>(*other.values_)) {}

void** NodeArguments::pointers() const noexcept {
    return values_->pointers();
}

void** NodeArguments::extra() const noexcept {
    return extra_ ? extra_->list : nullptr;
}

} // namespace cudart_cpu::detail
