// Kernels known only at run time: their parameters from CUDA, and checks of arguments against them.
#include "function.hpp"

#include <cudag/function.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <utility>

namespace cudag {

namespace detail {

namespace {

/// Parameter `index` of `function`; nothing past the last one. Throws GraphError if CUDA does not report it.
std::optional<Parameter> parameter_of(CUfunction function, std::size_t index) {
    std::size_t offset = 0;
    std::size_t size = 0;
    CUresult result = driver().func_get_param_info(function, index, &offset, &size);
    if (result == CUDA_ERROR_INVALID_VALUE) { // the end of the list, or a failure; only the end recurs
        result = driver().func_get_param_info(function, index, &offset, &size);
        if (result == CUDA_ERROR_INVALID_VALUE) return std::nullopt;
    }
    if (result == CUDA_SUCCESS) return Parameter{static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size)};
    raise_call<GraphError>(to_runtime(result), "cuFuncGetParamInfo", {kernel_name(function)}, Api::driver);
}

/// "8, 8 and 4 bytes"
std::string list_sizes(const KernelSignature& signature) {
    std::string text;
    for (std::uint32_t i = 0; i < signature.count; ++i) {
        if (i != 0) text += i + 1 == signature.count ? " and " : ", ";
        text += std::to_string(signature.parameters[i].size);
    }
    return text + (signature.count == 1 && signature.parameters[0].size == 1 ? " byte" : " bytes");
}

/// "3 parameters (8, 8 and 4 bytes)"
std::string describe(const KernelSignature& signature) {
    if (signature.count == 0) return "no parameters";
    return fmt::format("{} parameter{} ({})", signature.count, signature.count == 1 ? "" : "s", list_sizes(signature));
}

std::string wrong_count(std::size_t given, const KernelSignature& signature) {
    return fmt::format("{} argument{} given; the kernel has {}", given, given == 1 ? " is" : "s are",
                       describe(signature));
}

std::string point_at_list(const GivenArguments& given, const KernelSignature& signature, void** values) {
    if (given.is_complete && given.list.size() != signature.count) return wrong_count(given.list.size(), signature);
    for (const GivenArgument& argument : given.list) {
        if (argument.index >= signature.count)
            return fmt::format("there is no argument {}: the kernel has {}, counted from 0", argument.index,
                               describe(signature));
        const Parameter& parameter = signature.parameters[argument.index];
        const bool is_handle = argument.is_condition && parameter.size == sizeof(cudaGraphConditionalHandle);
        if (argument.bytes != parameter.size && !is_handle)
            return fmt::format("argument {} has {} bytes; the kernel has {}: pass a value of the parameter's own type",
                               argument.index, argument.bytes, describe(signature));
        if (values[argument.index] != nullptr) return fmt::format("argument {} is given twice", argument.index);
        values[argument.index] = const_cast<void*>(argument.value); // read only, as the driver reads it
    }
    return {};
}

std::string point_into_block(const PackedArguments& packed, const KernelSignature& signature, void** values) {
    if (packed.has_offsets() && packed.offsets().size() != signature.count)
        return fmt::format("{} offsets are given; the kernel has {}", packed.offsets().size(), describe(signature));
    const std::size_t size = packed.block().size();
    for (std::uint32_t i = 0; i < signature.count; ++i) {
        const Parameter& parameter = signature.parameters[i];
        const std::size_t offset = packed.has_offsets() ? packed.offsets()[i] : parameter.offset;
        if (offset > size || size - offset < parameter.size)
            return fmt::format("argument {} of {} bytes at offset {} does not lie in the block of {} bytes", i,
                               parameter.size, offset, size);
        values[i] = const_cast<std::byte*>(packed.block().data()) + offset;
    }
    return {};
}

std::string point_at_values(const PackedArguments& packed, const KernelSignature& signature, void** values) {
    if (packed.values().size() != signature.count) return wrong_count(packed.values().size(), signature);
    for (std::uint32_t i = 0; i < signature.count; ++i) {
        if (packed.values()[i] == nullptr)
            return fmt::format("the pointer to argument {} is null; it must point at the value", i);
        values[i] = packed.values()[i];
    }
    return {};
}

/// Describes the kernel `function` of the current context; `kernel` is null if unknown.
std::shared_ptr<const FunctionState> describe_function(cudaKernel_t kernel, CUfunction function, CUcontext context) {
    return std::make_shared<const FunctionState>(
        FunctionState{kernel, function, context, kernel_name(function), parameters_of(function), nullptr});
}

std::shared_ptr<const FunctionState> describe_kernel(cudaKernel_t kernel) {
    if (kernel == nullptr) refuse("Function: the kernel is null");
    const CUcontext context = current_context();
    CUfunction function = nullptr;
    const CUresult result = driver().kernel_get_function(&function, reinterpret_cast<CUkernel>(kernel));
    if (result != CUDA_SUCCESS)
        raise_call<GraphError>(to_runtime(result), "cuKernelGetFunction", {"Function"}, Api::driver);
    return describe_function(kernel, function, context);
}

std::shared_ptr<const FunctionState> describe_driver_function(cudaFunction_t function) {
    if (function == nullptr) refuse("Function: the function is null");
    const CUcontext context = current_context();
    return describe_function(nullptr, function, context);
}

} // namespace

std::vector<Parameter> parameters_of(CUfunction function) {
    std::vector<Parameter> found;
    // Before 13.2 only this failure marks the end of the list: names do not, since compilers other than nvcc pass
    // objects in parts. It leaves lines in CUDA's log (docs/errors.md), which cudag does not repeat.
    if (driver().func_get_param_count == nullptr) {
        while (const std::optional<Parameter> parameter = parameter_of(function, found.size()))
            found.push_back(*parameter);
        return found;
    }
    std::size_t count = 0;
    if (const CUresult result = driver().func_get_param_count(function, &count); result != CUDA_SUCCESS)
        raise_call<GraphError>(to_runtime(result), "cuFuncGetParamCount", {kernel_name(function)}, Api::driver);
    for (std::size_t i = 0; i < count; ++i) {
        std::size_t offset = 0, size = 0;
        if (const CUresult result = driver().func_get_param_info(function, i, &offset, &size); result != CUDA_SUCCESS)
            raise_call<GraphError>(to_runtime(result), "cuFuncGetParamInfo", {kernel_name(function)}, Api::driver);
        found.push_back({static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size)});
    }
    return found;
}

std::string point_at(const GivenArguments& given, const KernelSignature& signature, void** values) {
    if (given.packed == nullptr) return point_at_list(given, signature, values);
    return given.packed->is_block() ? point_into_block(*given.packed, signature, values)
                                    : point_at_values(*given.packed, signature, values);
}

} // namespace detail

Function::Function(cudaKernel_t kernel) : state_(detail::describe_kernel(kernel)) {}
Function::Function(cudaFunction_t function) : state_(detail::describe_driver_function(function)) {}

std::string_view Function::name() const noexcept {
    return state_->name;
}

std::vector<FunctionParameter> Function::parameters() const {
    std::vector<FunctionParameter> result;
    result.reserve(state_->parameters.size());
    for (const detail::Parameter& parameter : state_->parameters)
        result.push_back({parameter.offset, parameter.size});
    return result;
}

void Function::require_layout(const detail::KernelSignature& signature) const {
    const detail::KernelSignature own = state_->signature();
    const auto subject = [&] { return detail::Subject{fmt::format("typed: kernel {}", state_->name)}; };
    if (signature.count != own.count)
        detail::refuse(fmt::format("{} type{} given; it has {}", signature.count,
                                   signature.count == 1 ? " is" : "s are", detail::describe(own)),
                       subject());
    for (std::uint32_t i = 0; i < own.count; ++i) {
        const detail::Parameter& given = signature.parameters[i];
        const detail::Parameter& known = own.parameters[i];
        if (given.size != known.size || given.offset != known.offset)
            detail::refuse(fmt::format("type {} has {} bytes at offset {}, the parameter {} at offset {}", i,
                                       given.size, given.offset, known.size, known.offset),
                           subject());
    }
}

bool operator==(const Function& a, const Function& b) noexcept {
    if (a.state_->kernel != nullptr && b.state_->kernel != nullptr) return a.state_->kernel == b.state_->kernel;
    return a.state_->function == b.state_->function;
}

std::string to_string(const Function& function) {
    return fmt::format("{} of {}", function.name(), detail::describe(detail::Access::state(function).signature()));
}

} // namespace cudag
