// Arguments of kernels and declared accesses, from the text of a graph.
#include "loaded_values.hpp"

#include "text/text_values.hpp"

#include <cudag/access.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

namespace cudag::detail {

namespace {

template <class Put>
void read_hex(LineReader& line, const Put& put) {
    constexpr std::string_view expected = "pairs of hexadecimal digits";
    std::string_view digits;
    if (line.at_end()) return; // of an empty object
    if (!line.take_until(",", digits) || digits.size() % 2 != 0) line.refuse(expected);
    for (std::size_t i = 0; i < digits.size(); i += 2) {
        unsigned value = 0;
        const auto [end, error] = std::from_chars(digits.data() + i, digits.data() + i + 2, value, 16);
        if (error != std::errc() || end != digits.data() + i + 2) line.refuse(expected);
        const auto byte = static_cast<unsigned char>(value);
        put(&byte, 1);
    }
}

template <class Put>
void put_condition(const Condition& condition, bool handle_only, const Put& put) {
    if (handle_only) {
        const cudaGraphConditionalHandle handle = condition.native();
        return put(&handle, sizeof handle);
    }
    constexpr std::size_t meaningful = 2 * sizeof(std::uint64_t) + sizeof(std::uint32_t); // padding follows
    std::array<std::byte, sizeof(Condition)> bytes{};
    std::memcpy(bytes.data(), &condition, meaningful);
    put(bytes.data(), bytes.size());
}

void read_integer(LineReader& line, const Parameter& parameter, std::byte* to) {
    const std::string expected = fmt::format("an integer of {} bytes", parameter.size);
    const auto read = [&]<class Signed, class Unsigned>(Signed*, Unsigned*) {
        if (sizeof(Signed) != parameter.size) return;
        if (line.rest().starts_with('-')) {
            if (parameter.type == ParameterType::unsigned_integer) line.refuse(expected + ", not negative");
            const auto value = line.number<Signed>(expected);
            std::memcpy(to, &value, sizeof value);
        } else {
            const auto value = line.number<Unsigned>(expected);
            if (parameter.type == ParameterType::signed_integer &&
                value > static_cast<Unsigned>(std::numeric_limits<Signed>::max()))
                line.refuse(expected + ", with a sign");
            std::memcpy(to, &value, sizeof value);
        }
    };
    if (parameter.type == ParameterType::pointer || parameter.type == ParameterType::span ||
        parameter.type == ParameterType::condition || parameter.type == ParameterType::floating_point)
        line.refuse("another value: the parameter of the kernel is no integer");
    read(static_cast<std::int8_t*>(nullptr), static_cast<std::uint8_t*>(nullptr));
    read(static_cast<std::int16_t*>(nullptr), static_cast<std::uint16_t*>(nullptr));
    read(static_cast<std::int32_t*>(nullptr), static_cast<std::uint32_t*>(nullptr));
    read(static_cast<std::int64_t*>(nullptr), static_cast<std::uint64_t*>(nullptr));
    if (!line.at_end()) line.refuse(fmt::format("an argument of {} bytes", parameter.size));
}

/// Reads a number, if the line is one: "2", "2.0" or "2.0f".
bool read_number_argument(LineReader& line, const Parameter& parameter, std::byte* to) {
    const std::string_view text = line.rest();
    if (text.find_first_not_of("0123456789+-.ef") != std::string_view::npos || text.empty()) return false;
    if (text.find_first_of(".ef") == std::string_view::npos) {
        read_integer(line, parameter, to);
    } else {
        const bool is_float = text.ends_with('f');
        const std::string expected =
            fmt::format("an argument of {} bytes, such as 2.0f of 4, 2.0 of 8 or 2", parameter.size);
        if (parameter.size != (is_float ? sizeof(float) : sizeof(double)) ||
            parameter.type == ParameterType::signed_integer || parameter.type == ParameterType::unsigned_integer ||
            parameter.type == ParameterType::pointer)
            line.refuse(expected);
        if (is_float) {
            const auto value = line.number<float>(expected);
            line.require("f", expected);
            std::memcpy(to, &value, sizeof value);
        } else {
            const auto value = line.number<double>(expected);
            std::memcpy(to, &value, sizeof value);
        }
    }
    line.require_end("a number");
    return true;
}

/// Reads "8 rows of 256"; "rows" may be missing before "slices".
void read_repeated(LineReader& line, std::string_view name, std::size_t& count, std::size_t& pitch,
                   ArgumentAccess& access, std::string_view expected) {
    const auto number = line.number<std::size_t>(expected);
    if (line.take(name)) {
        count = number;
        pitch = line.number<std::size_t>(expected);
        return;
    }
    line.require(" slices of ", expected);
    access.block.slices = number;
    access.block.slice_pitch = line.number<std::size_t>(expected);
}

} // namespace

void read_argument(LoadedNames& names, LineReader line, const Parameter& parameter, std::byte* to) {
    const std::string expected = fmt::format("an argument of {} bytes", parameter.size);
    std::uint32_t at = 0;
    const auto put = [&](const void* bytes, std::size_t size) {
        if (at + size > parameter.size) line.refuse(expected);
        std::memcpy(to + at, bytes, size);
        at += static_cast<std::uint32_t>(size);
    };
    if (read_number_argument(line, parameter, to)) return;
    do {
        if (line.take("bytes ")) {
            read_hex(line, put);
        } else if (line.take("condition ")) {
            put_condition(names.condition(line), parameter.size == sizeof(cudaGraphConditionalHandle), put);
        } else if (!line.at_end() && line.rest().front() >= '0' && line.rest().front() <= '9') {
            const auto count = line.number<std::size_t>("\"N elements\"");
            line.require(" elements", "\"N elements\"");
            put(&count, sizeof count);
        } else {
            void* const memory = names.address(line);
            put(&memory, sizeof memory);
        }
    } while (line.take(", "));
    line.require_end("\", \" or the end of the line");
    if (at != parameter.size) line.refuse(fmt::format("{}; these are {}", expected, at));
}

ArgumentAccess read_access(LoadedNames& names, LineReader line) {
    constexpr std::string_view expected = "an access, as in \"write argument 2, x + 16, 64 bytes, elements of 4\" "
                                          "or \"read node, x, 64 bytes x 8 rows "
                                          "of 256, elements of 1\"";
    ArgumentAccess access{};
    const auto mode = std::ranges::find_if(text_of_mode, [&](std::string_view each) { return line.take(each); });
    if (mode == text_of_mode.end()) line.refuse(expected);
    access.mode = static_cast<AccessMode>(mode - text_of_mode.begin());
    if (line.take(" node"))
        access.argument = whole_node;
    else {
        line.require(" argument ", expected);
        access.argument = line.number<std::uint32_t>(expected);
    }
    line.require(", ", expected);
    access.block.begin = reinterpret_cast<std::uintptr_t>(names.address(line));
    line.require(", ", expected);
    access.block.row_bytes = line.number<std::size_t>(expected);
    line.require(" bytes", expected);
    if (line.take(" x ")) {
        read_repeated(line, " rows of ", access.block.rows, access.block.pitch, access, expected);
        if (line.take(" x "))
            read_repeated(line, " slices of ", access.block.slices, access.block.slice_pitch, access, expected);
    }
    line.require(", elements of ", expected);
    access.element_bytes = line.number<std::size_t>(expected);
    line.require_end(expected);
    return access;
}

} // namespace cudag::detail
