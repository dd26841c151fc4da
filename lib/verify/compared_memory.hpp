// The memory that verify() compares: its contents, and where two of them differ.
#pragma once

#include <cudag/verify.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cudag::detail {

/// A range of bytes; `end` is exclusive.
struct ByteRange {
    std::uintptr_t begin;
    std::uintptr_t end;
};

/// Sorts `ranges`, and joins those that overlap. Those that touch stay apart: they may be two allocations, and CUDA
/// copies none of two at once.
[[nodiscard]] std::vector<ByteRange> joined(std::vector<ByteRange> ranges);

/// The contents of the compared memory, one after another.
using Contents = std::vector<std::byte>;

/// Ranges of device and host memory, their contents, and tolerances.
class ComparedMemory {
  public:
    ComparedMemory(std::vector<ByteRange> ranges, std::vector<VerifiedRange> tolerances)
        : ranges_(joined(std::move(ranges))), tolerances_(std::move(tolerances)) {}

    [[nodiscard]] std::size_t bytes() const noexcept;
    /// Copies the contents to the host, and back. Nothing may run that uses the memory.
    [[nodiscard]] Contents save() const;
    void restore(const Contents& contents) const;
    /// Returns the differing bytes, whole elements where there is a tolerance, in order.
    [[nodiscard]] std::vector<ByteRange> differences(const Contents& expected, const Contents& actual) const;
    /// Returns `bytes` bytes of `contents` at `address`; fewer at the end of a range, and none outside of the memory.
    [[nodiscard]] std::vector<std::byte> at(const Contents& contents, std::uintptr_t address, std::size_t bytes) const;

  private:
    [[nodiscard]] bool is_within_tolerance(std::uintptr_t address, const std::byte* expected, const std::byte* actual,
                                           std::size_t range_begin, ByteRange range, ByteRange& element) const;

    std::vector<ByteRange> ranges_;
    std::vector<VerifiedRange> tolerances_;
};

/// Returns the text of one element of a size: "3 (0x40400000)".
[[nodiscard]] std::string value_text(const std::vector<std::byte>& element);

} // namespace cudag::detail
