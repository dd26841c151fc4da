// Contents of memory, their differences, and texts of values.
#include "compared_memory.hpp"

#include "cuda/failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace cudag::detail {

namespace {

template <class Float>
bool are_near(const std::byte* expected, const std::byte* actual, double tolerance) {
    Float a, b;
    std::memcpy(&a, expected, sizeof a);
    std::memcpy(&b, actual, sizeof b);
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    if (std::isinf(a) || std::isinf(b)) return a == b;
    const auto exact = static_cast<double>(a);
    return std::abs(exact - static_cast<double>(b)) <= tolerance * std::max(1.0, std::abs(exact));
}

/// The text of a number that is probably a floating-point one; empty for others.
template <class Float>
std::string float_text(const std::vector<std::byte>& element) {
    Float value;
    std::memcpy(&value, element.data(), sizeof value);
    const auto size = static_cast<double>(std::abs(value));
    return std::isnan(value) || (size > 1e-12 && size < 1e12) ? fmt::format("{}", value) : std::string();
}

std::uint64_t bits_of(const std::vector<std::byte>& element) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, element.data(), element.size());
    return bits;
}

void copy_bytes(void* to, const void* from, std::size_t bytes) {
    checked(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "cudaMemcpy");
}

} // namespace

std::vector<ByteRange> joined(std::vector<ByteRange> ranges) {
    std::erase_if(ranges, [](const ByteRange& range) { return range.begin >= range.end; });
    std::sort(ranges.begin(), ranges.end(), [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
    std::vector<ByteRange> all;
    for (const ByteRange& range : ranges)
        if (!all.empty() && range.begin < all.back().end) // no copy goes over two allocations
            all.back().end = std::max(all.back().end, range.end);
        else
            all.push_back(range);
    return all;
}

std::size_t ComparedMemory::bytes() const noexcept {
    std::size_t bytes = 0;
    for (const ByteRange& range : ranges_)
        bytes += range.end - range.begin;
    return bytes;
}

Contents ComparedMemory::save() const {
    Contents contents(bytes());
    std::byte* to = contents.data();
    for (const ByteRange& range : ranges_) {
        copy_bytes(to, reinterpret_cast<const void*>(range.begin), range.end - range.begin);
        to += range.end - range.begin;
    }
    return contents;
}

void ComparedMemory::restore(const Contents& contents) const {
    const std::byte* from = contents.data();
    for (const ByteRange& range : ranges_) {
        copy_bytes(reinterpret_cast<void*>(range.begin), from, range.end - range.begin);
        from += range.end - range.begin;
    }
    checked(cudaStreamSynchronize(cudaStreamLegacy), "cudaStreamSynchronize"); // CUDA's copies may return earlier
}

bool ComparedMemory::is_within_tolerance(std::uintptr_t address, const std::byte* expected, const std::byte* actual,
                                         std::size_t range_begin, ByteRange range, ByteRange& element) const {
    for (const VerifiedRange& near : tolerances_) {
        if (near.tolerance() == 0 || address - near.begin() >= near.bytes()) continue;
        const std::size_t size = near.element_bytes();
        const std::uintptr_t begin = address - (address - near.begin()) % size;
        if (begin < range.begin || begin + size > range.end) continue;
        element = {begin, begin + size};
        const std::size_t place = range_begin + (begin - range.begin);
        return size == sizeof(float) ? are_near<float>(expected + place, actual + place, near.tolerance())
                                     : are_near<double>(expected + place, actual + place, near.tolerance());
    }
    return false;
}

std::vector<ByteRange> ComparedMemory::differences(const Contents& expected, const Contents& actual) const {
    std::vector<ByteRange> found;
    std::size_t begin = 0; // of the range, in the contents
    for (const ByteRange& range : ranges_) {
        const std::size_t bytes = range.end - range.begin;
        if (std::memcmp(expected.data() + begin, actual.data() + begin, bytes) != 0) {
            for (std::size_t i = 0; i < bytes; ++i) {
                if (expected[begin + i] == actual[begin + i]) continue;
                ByteRange element{range.begin + i, range.begin + i + 1};
                const bool near =
                    is_within_tolerance(range.begin + i, expected.data(), actual.data(), begin, range, element);
                i = element.end - range.begin - 1;
                if (near) continue;
                if (!found.empty() && found.back().end >= element.begin)
                    found.back().end = element.end;
                else
                    found.push_back(element);
            }
        }
        begin += bytes;
    }
    return found;
}

std::vector<std::byte> ComparedMemory::at(const Contents& contents, std::uintptr_t address, std::size_t bytes) const {
    std::size_t begin = 0;
    for (const ByteRange& range : ranges_) {
        if (address >= range.begin && address < range.end) {
            const std::byte* first = contents.data() + begin + (address - range.begin);
            return {first, first + std::min<std::size_t>(bytes, range.end - address)};
        }
        begin += range.end - range.begin;
    }
    return {};
}

std::string value_text(const std::vector<std::byte>& element) {
    const std::size_t size = element.size();
    if (size > sizeof(std::uint64_t)) {
        std::string text = "0x";
        for (std::size_t i = 0; i < std::min<std::size_t>(size, 16); ++i)
            text += fmt::format("{:02x}", static_cast<unsigned>(element[i]));
        return text + (size > 16 ? "..." : "");
    }
    const std::uint64_t bits = bits_of(element);
    std::string number;
    if (size == sizeof(float)) number = float_text<float>(element);
    if (size == sizeof(double)) number = float_text<double>(element);
    if (number.empty()) number = fmt::format("{}", bits);
    return fmt::format("{} (0x{:0{}x})", number, bits, 2 * size);
}

} // namespace cudag::detail
