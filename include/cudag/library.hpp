// Library: kernels that were compiled when the program runs.
#pragma once

#include <cudag/config.hpp>
#include <cudag/function.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct CUlib_st;

namespace cudag {

/// Kernels from PTX text, a cubin or a fat binary, as NVRTC and nvcc make them, loaded for all devices: CUDA's
/// `cudaLibrary_t`. Needs CUDA 12.8. A cheap value: copies share one library, which its Functions, the nodes and
/// captured launches of those, and their Execs keep loaded. Loading is allowed while streams are captured.
/// Threads: const calls may run at once.
class CUDAG_EXPORT Library {
  public:
    /// Each throws GraphError if CUDA refuses, or finds no code: a text that is no PTX, an image that is none. Code
    /// for other devices is accepted; `function` then says that there is none for the current one.
    [[nodiscard]] static Library from_ptx(const std::string& text);
    [[nodiscard]] static Library from_image(std::span<const std::byte> image);
    [[nodiscard]] static Library from_file(const std::string& path);
    /// Takes over what CUDA's functions have loaded: cudag unloads it.
    [[nodiscard]] static Library adopt(CUlib_st* library);

    Library() = delete;                // cudag: a Library comes from from_ptx, from_image, from_file or adopt
    Library(const Library&) = default; // moves copy: no Library is empty
    Library& operator=(const Library&) = default;

    /// The kernel of this name: as it was compiled, so mangled, or `extern "C"`. Throws GraphError if there is none,
    /// and says which there are.
    [[nodiscard]] Function function(const std::string& name) const;
    /// The names of all kernels; none for a library of functions or variables alone.
    [[nodiscard]] std::vector<std::string> kernel_names() const;

    /// CUDA's handle, borrowed.
    [[nodiscard]] CUlib_st* native() const noexcept { return library_.get(); }

  private:
    explicit Library(std::shared_ptr<CUlib_st> library) noexcept;

    std::shared_ptr<CUlib_st> library_;
};

} // namespace cudag
