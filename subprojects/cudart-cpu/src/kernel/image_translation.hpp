// The translation of fat binaries for NVIDIA's runtime while the program runs.
#pragma once

#include <cudart_cpu/detail/ptx/thread.hpp>

#include <string>
#include <string_view>

namespace cudart_cpu::detail {

/// Translates the PTX in a fat binary of nvcc's by tools/translate_image.py, which keeps its results, and loads the
/// result until the process ends. Returns null if this is impossible, and writes the reason to `refusal`.
const ptx::ModuleRow* translate_image(std::string_view image, std::string& refusal);

} // namespace cudart_cpu::detail
