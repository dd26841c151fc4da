// Kernel names, from CUDA, demangled.
#include "kernel_name.hpp"

#include "demangled.hpp"
#include "driver.hpp"
#include "failure.hpp"

namespace cudag::detail {

namespace {

/// A function's name, and its parameters in brackets; empty if the name lacks them.
struct Readable {
    std::string name;
    std::string parameters = {};
};

/// Demangles a name, without the return type: messages combine the name with words for the parameters.
Readable readable(const char* mangled) {
    std::string name = demangled(mangled);
    if (const auto prefix = std::string("void "); name.starts_with(prefix)) name.erase(0, prefix.size());
    int depth = 0; // template arguments may contain parentheses
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] == '<') ++depth;
        if (name[i] == '>') --depth;
        if (name[i] == '(' && depth == 0 && !name.substr(i).starts_with("(anonymous"))
            return {name.substr(0, i), name.substr(i)};
    }
    return {name};
}

} // namespace

std::string kernel_name(const void* symbol) {
    const char* name = nullptr;
    ignore(cudaFuncGetName(&name, symbol)); // null stays on failure
    return name != nullptr ? readable(name).name : "kernel";
}

std::string kernel_name(CUfunction function) {
    const char* name = nullptr;
    if (driver().func_get_name(&name, function) == CUDA_SUCCESS && name != nullptr) return readable(name).name;
    return "kernel";
}

std::string demangled_kernel_name(const char* mangled) {
    return readable(mangled).name;
}

std::vector<std::string> parameter_types(CUfunction function) {
    const char* name = nullptr;
    if (driver().func_get_name(&name, function) != CUDA_SUCCESS || name == nullptr) return {};
    const std::string list = readable(name).parameters;
    std::vector<std::string> types;
    std::size_t begin = 1;
    int depth = 0; // commas of template arguments and of functions separate no parameters
    for (std::size_t i = 0; i < list.size(); ++i) {
        const char c = list[i];
        if (c == ')' || c == '>') --depth;
        if ((depth == 1 && c == ',') || (depth == 0 && c == ')')) {
            if (i > begin) types.push_back(list.substr(begin, i - begin));
            begin = i + (c == ',' ? 2 : 1);
        }
        if (depth == 0 && c == ')') break;
        if (c == '(' || c == '<') ++depth;
    }
    return types;
}

bool same_parameters(CUfunction a, CUfunction b) {
    const auto parameters = [](CUfunction function) -> std::string {
        const char* name = nullptr;
        if (driver().func_get_name(&name, function) != CUDA_SUCCESS || name == nullptr) return {};
        return readable(name).parameters;
    };
    const std::string list = parameters(a);
    return !list.empty() && list == parameters(b);
}

} // namespace cudag::detail
