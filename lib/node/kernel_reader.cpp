// A reader of kernel nodes made without cudag.
#include "kernel_reader.hpp"

#include "cuda/driver.hpp"
#include "function.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

namespace cudag::detail {

namespace {

template <class T>
T* allocate(std::pmr::memory_resource& memory, std::size_t count) {
    return static_cast<T*>(memory.allocate(count * sizeof(T), alignof(T)));
}

/// The driver knows a function's parameters, so the arguments can be read without its C++ type.
const KernelSignature* signature_of(CUfunction function, std::pmr::memory_resource& memory) {
    const std::vector<Parameter> found = parameters_of(function);
    auto* parameters = allocate<Parameter>(memory, found.size());
    std::copy(found.begin(), found.end(), parameters);
    const std::uint32_t bytes = found.empty() ? 0 : found.back().offset + found.back().size;
    return new (allocate<KernelSignature>(memory, 1))
        KernelSignature{parameters, static_cast<std::uint32_t>(found.size()), bytes};
}

void copy_values(const KernelSignature& signature, void* const* arguments, std::byte* values) {
    for (std::uint32_t i = 0; i < signature.count; ++i)
        std::memcpy(values + signature.parameters[i].offset, arguments[i], signature.parameters[i].size);
}

/// Copies the arguments of a launch with one argument block, in the layout of `values`.
void copy_buffer(const KernelSignature& signature, void* const* extra, std::byte* values) {
    const void* buffer = nullptr;
    std::size_t bytes = 0;
    for (; extra != nullptr && *extra != CU_LAUNCH_PARAM_END; extra += 2)
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            bytes = *static_cast<const std::size_t*>(extra[1]);
    std::memset(values, 0, signature.bytes);
    if (buffer != nullptr) std::memcpy(values, buffer, std::min<std::size_t>(bytes, signature.bytes));
}

} // namespace

const KernelParams* KernelReader::read(cudaGraphNode_t node) {
    const CUDA_KERNEL_NODE_PARAMS_v3 native = read_native_node(node, CU_GRAPH_NODE_TYPE_KERNEL).kernel;
    const KernelSignature& signature = this->signature(native.func);
    auto* memory = static_cast<std::byte*>(memory_.allocate(sizeof(KernelParams) + signature.bytes));
    std::byte* values = memory + sizeof(KernelParams);
    if (native.kernelParams != nullptr)
        copy_values(signature, native.kernelParams, values);
    else
        copy_buffer(signature, native.extra, values);
    const KernelParams* params = new (memory) KernelParams{native.func,
                                                           nullptr,
                                                           &signature,
                                                           {{native.gridDimX, native.gridDimY, native.gridDimZ},
                                                            {native.blockDimX, native.blockDimY, native.blockDimZ},
                                                            native.sharedMemBytes},
                                                           values,
                                                           native.kern,
                                                           nullptr,
                                                           node,
                                                           separate_context(native.ctx)};
    return params;
}

CUcontext KernelReader::separate_context(CUcontext context) {
    if (context != last_context_) {
        is_separate_ = is_separate_context(context);
        last_context_ = context;
    }
    return is_separate_ ? context : nullptr;
}

const KernelSignature& KernelReader::signature(CUfunction function) {
    if (function != last_function_) { // most graphs launch one kernel many times in a row
        const KernelSignature*& known = signatures_[function];
        if (known == nullptr) known = signature_of(function, memory_);
        last_signature_ = known;
        last_function_ = function;
    }
    return *last_signature_;
}

} // namespace cudag::detail
