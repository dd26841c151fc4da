// Device memory at addresses of its own, which can go back to the device, and come again at the same addresses.
#pragma once

#include "cuda/failure.hpp"

#include <cuda.h>

#include <cstddef>
#include <vector>

namespace cudag::detail {

/// The memory of a releasable pool: pieces of reserved addresses with physical memory behind them. CUDA reads addresses
/// alone in a launch, so graphs run again after the memory has come back.
class VirtualMemory {
  public:
    /// A piece of addresses.
    struct Piece {
        CUdeviceptr address;
        std::size_t bytes;
        CUmemGenericAllocationHandle memory; ///< unless released
    };

    /// Throws Error if the driver lacks the functions, or the device has no such memory.
    VirtualMemory(int device, Subject&& subject);
    /// No work may use the memory any longer.
    ~VirtualMemory();
    VirtualMemory(const VirtualMemory&) = delete;
    VirtualMemory& operator=(const VirtualMemory&) = delete;

    /// Returns a size rounded up to that of a piece; 0 if that overflows.
    [[nodiscard]] std::size_t rounded(std::size_t bytes) const noexcept;
    /// Adds a piece of `bytes`, a rounded size. Throws Error.
    [[nodiscard]] std::byte* obtain(std::size_t bytes, Subject&& subject);

    /// Gives all physical memory back to the device. Throws Error, and changes nothing, if CUDA refuses.
    void release(Subject&& subject);
    /// Takes physical memory again. Throws Error, and changes nothing, if CUDA refuses.
    void restore(Subject&& subject);

    [[nodiscard]] const std::vector<Piece>& pieces() const noexcept { return pieces_; }

  private:
    [[nodiscard]] CUresult make(Piece& piece) const noexcept;
    [[nodiscard]] CUresult map(const Piece& piece) const noexcept;

    int device_;
    std::size_t unit_ = 0; ///< of sizes
    bool is_released_ = false;
    std::vector<Piece> pieces_;
};

} // namespace cudag::detail
