// What nvcc's host code registers of one .cu file: its kernels and variables, and the code that they are of.
#pragma once

#include <cudart_cpu/detail/ptx/thread.hpp>

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

namespace cudart_cpu::detail {

/// Compiled for this runtime, it has a module from the start. Compiled for NVIDIA's, it is translated when one of its
/// kernels or variables is first asked for.
class FatBinary {
  public:
    explicit FatBinary(const void* wrapper);
    ~FatBinary();
    FatBinary(const FatBinary&) = delete;
    FatBinary& operator=(const FatBinary&) = delete;

    /// `name` is mangled; `symbol` is what stands for the kernel in host code.
    void add_kernel(const void* symbol, const char* name);
    void add_variable(const void* symbol, const char* name, std::size_t bytes);
    /// Translates at once: host code reads `pointer` itself.
    void add_managed_variable(void** pointer, const char* name, std::size_t bytes);

    void translate();
    /// Why it was not translated.
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

/// Whether `symbol` is a kernel or variable of a binary that has no module yet, which now was translated, or was not
/// for the first time.
bool translate_binary_of(const void* symbol);

} // namespace cudart_cpu::detail
