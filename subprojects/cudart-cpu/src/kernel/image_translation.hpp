// Fat binaries that nvcc made for NVIDIA's runtime, translated while the program runs.
#pragma once

#include <cudart_cpu/detail/ptx/thread.hpp>

#include <string>
#include <string_view>

namespace cudart_cpu::detail {

/// Translates the PTX in a fat binary by tools/translate_image.py, which keeps what it made, and loads the result for
/// as long as the process lives. Null if that cannot be, and then writes why.
const ptx::ModuleRow* translate_image(std::string_view image, std::string& refusal);

} // namespace cudart_cpu::detail
