// Library: kernels compiled at run time.
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

/// Kernels loaded from PTX text, a cubin or a fat binary, as NVRTC and nvcc produce them: CUDA's `cudaLibrary_t`.
///
///     const cudag::Library library = cudag::Library::from_file("kernels.cubin");
///     const cudag::Function blur = library.function("blur");
///     b.kernel(config, blur, x, 2.0f, n);
///
/// The kernels are loaded for all devices. Needs CUDA 12.8. Copies are cheap and share one library. Its Functions,
/// their nodes and captured launches, and the Execs of these keep it loaded. Loading is allowed during stream capture.
/// Threads: const calls may run concurrently.
class CUDAG_EXPORT Library {
  public:
    /// Loads PTX text. Throws GraphError if CUDA refuses the text, or it is not PTX. Code for other devices only is
    /// accepted: then `function` reports that there is no code for the current device.
    [[nodiscard]] static Library from_ptx(const std::string& text);
    /// Loads an image in memory: a cubin or a fat binary. Throws like `from_ptx`.
    [[nodiscard]] static Library from_image(std::span<const std::byte> image);
    /// Loads a file of any of these formats. Throws like `from_ptx`, also if the file cannot be read.
    [[nodiscard]] static Library from_file(const std::string& path);
    /// Takes ownership of a library loaded by CUDA's functions: cudag unloads it. Throws GraphError if it is null.
    [[nodiscard]] static Library adopt(CUlib_st* library);

    Library() = delete;                // cudag: a Library comes from from_ptx, from_image, from_file or adopt
    Library(const Library&) = default; // moves copy: no Library is empty
    Library& operator=(const Library&) = default;

    /// Returns the kernel with this name in the compiled code: a mangled name, or the name of an `extern "C"` function.
    /// Throws GraphError if there is none; the text lists the names of all kernels.
    [[nodiscard]] Function function(const std::string& name) const;
    /// Returns the names of all kernels; an empty list for a library without kernels (functions or variables alone).
    /// Throws GraphError if CUDA cannot load the code.
    [[nodiscard]] std::vector<std::string> kernel_names() const;

    /// CUDA's handle, borrowed: valid while this library is loaded.
    [[nodiscard]] CUlib_st* native() const noexcept { return library_.get(); }

  private:
    explicit Library(std::shared_ptr<CUlib_st> library) noexcept;

    std::shared_ptr<CUlib_st> library_;
    bool lacks_wait_ = false; ///< whether no kernel of it waits for previous ones
};

} // namespace cudag
