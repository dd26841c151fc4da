// A hash of a sequence of numbers: equal sequences have equal hashes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cudag::detail {

class Hash {
  public:
    void add(std::uint64_t value) noexcept {
        value_ = (value_ ^ value) * 0x9e3779b97f4a7c15U;
        value_ ^= value_ >> 32U;
    }
    void add(const void* pointer) noexcept { add(reinterpret_cast<std::uintptr_t>(pointer)); }
    void add_bytes(const std::byte* data, std::size_t count) noexcept {
        for (std::size_t i = 0; i < count; i += sizeof(std::uint64_t)) {
            std::uint64_t word = 0;
            std::memcpy(&word, data + i, count - i < sizeof word ? count - i : sizeof word);
            add(word);
        }
    }
    [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

  private:
    std::uint64_t value_ = 0;
};

} // namespace cudag::detail
