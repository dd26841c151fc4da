// The kernels, variables and code of one .cu file, as registered by nvcc's host code.
#pragma once

#include <cudart_cpu/detail/ptx/thread.hpp>

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace cudart_cpu::detail {

/// Has a module from the beginning if it was compiled for this runtime. Compiled for NVIDIA's, it is translated at the
/// first request for one of its kernels or variables.
class FatBinary {
  public:
    explicit FatBinary(const void* wrapper);
    /// Has a module, which nvcc's host code does not know.
    explicit FatBinary(const ptx::ModuleRow& module);
    ~FatBinary();
    FatBinary(const FatBinary&) = delete;
    FatBinary& operator=(const FatBinary&) = delete;

    /// `name` is mangled; `symbol` represents the kernel in host code.
    void add_kernel(const void* symbol, const char* name);
    void add_variable(const void* symbol, const char* name, std::size_t bytes);
    /// Translates at once: host code reads `pointer` itself.
    void add_managed_variable(void** pointer, const char* name, std::size_t bytes);

    void translate();
    /// The reason why it was not translated.
    [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }

  private:
    struct Variable {
        const void* symbol;
        std::string name;
        std::size_t bytes;
    };

    void note(const Variable& variable);
    void load();

    const void* wrapper_;
    const ptx::ModuleRow* module_;
    std::once_flag translated_;
    std::string refusal_;
    std::vector<std::pair<const void*, std::string>> kernels_;
    std::vector<Variable> variables_;
};

/// Tries to translate the binary of `symbol`, a kernel or variable, if it has no module. Returns whether this call was
/// the first try, successful or not.
bool translate_binary_of(const void* symbol);

} // namespace cudart_cpu::detail
