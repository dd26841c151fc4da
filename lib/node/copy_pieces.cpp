// The copies that CUDA runs slowly in graphs, and their quick pieces.
#include "copy_pieces.hpp"

#include "copy.hpp"

namespace cudag::detail {

namespace {

constexpr std::size_t least_slow_bytes = std::size_t{16} << 20U;
constexpr std::size_t page = 4096;
constexpr std::size_t most_rows = 65535;

/// Returns the bytes of a row: as many pages as `most_rows` rows need at least.
constexpr std::size_t row_of(std::size_t bytes) noexcept {
    const std::size_t pages = bytes / page;
    return (pages + most_rows - 1) / most_rows * page;
}

} // namespace

bool is_slow_in_graphs(const CopyParams& copy) noexcept {
    const std::size_t bytes = bytes_of(copy);
    return copy.kind == cudaMemcpyDeviceToDevice && bytes >= least_slow_bytes &&
           (bytes % page != 0 || bytes % row_of(bytes) != 0);
}

std::vector<CopyParams> pieces_of(const CopyParams& copy) {
    if (!is_slow_in_graphs(copy)) return {copy};
    const std::size_t bytes = bytes_of(copy);
    std::size_t first = bytes - bytes % page;
    while (first % row_of(first) != 0) // fewer pages may need shorter rows
        first -= first % row_of(first);
    const auto piece = [&](std::size_t begin, std::size_t size) {
        return CopyParams{static_cast<char*>(copy.destination) + begin,
                          static_cast<const char*>(copy.source) + begin,
                          size,
                          size,
                          1,
                          copy.kind};
    };
    return {piece(0, first), piece(first, bytes - first)};
}

} // namespace cudag::detail
