// Texts, sums and prints of the ready checks.
#include <cudag/probe_checks.hpp>

#include "cuda/failure.hpp"

#include <cudag/format.hpp>

#include <fmt/format.h>

#include <cstring>

namespace cudag::detail {

std::string number_text(float value) {
    return fmt::format("{}", value);
}

std::string number_text(double value) {
    return fmt::format("{}", value);
}

std::string bytes_text(const void* value, std::size_t bytes) {
    std::string text = "0x";
    for (std::size_t i = 0; i < bytes; ++i)
        text += fmt::format("{:02x}", static_cast<unsigned>(static_cast<const unsigned char*>(value)[i]));
    return text;
}

std::uint64_t checksum_of_bytes(const void* values, std::size_t bytes) noexcept {
    // Multiplication mixes upwards and the shift downwards, so that each bit of a word reaches all of the sum.
    constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
    std::uint64_t sum = bytes * factor;
    const auto* at = static_cast<const unsigned char*>(values);
    while (bytes > 0) {
        const std::size_t step = bytes < sizeof sum ? bytes : sizeof sum;
        std::uint64_t word = 0;
        std::memcpy(&word, at, step);
        sum = (sum ^ word) * factor;
        sum ^= sum >> 32;
        at += step;
        bytes -= step;
    }
    return sum;
}

void print_probe(std::FILE* file, const ProbeRun& run, std::size_t elements, const std::vector<std::string>& first) {
    const std::string label = run.label.empty() ? std::string() : fmt::format(" \"{}\"", run.label);
    const std::string line =
        fmt::format("probe{} at {}, run {}: {} element{}{}{}{}\n", label, run.location, run.number, elements,
                    elements == 1 ? "" : "s", first.empty() ? "" : ": ", fmt::join(first, ", "),
                    !first.empty() && first.size() < elements ? ", ..." : "");
    std::fputs(line.c_str(), file);
}

void refuse_range(const std::string& low, const std::string& high) {
    refuse(fmt::format("in_range({}, {}): the lower bound must not exceed the upper one", low, high));
}

} // namespace cudag::detail
