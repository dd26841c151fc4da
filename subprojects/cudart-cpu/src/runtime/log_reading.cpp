// The functions behind cudaLogs* and cuLogs*.
#include "log_reading.hpp"

#include <cstring>
#include <string>

namespace cudart_cpu::detail {

namespace {

constexpr const char* truncated_note =
    "The provided buffer is not large enough to hold all messages. Some messages will be missing\n";

/// Returns the newest lines that fit into `capacity` bytes with a terminator; empty if not even one message fits.
std::string fit(const Log::Lines& lines, std::size_t capacity) {
    std::size_t first = lines.text.size();
    std::size_t bytes = 1;
    while (first > 0 && bytes + lines.text[first - 1].size() <= capacity) {
        bytes += lines.text[--first].size();
    }
    const char* note = first > 0 ? truncated_note : lines.lost_some ? lost_note : "";
    // The note replaces the oldest messages.
    while (first < lines.text.size() && bytes + std::strlen(note) > capacity) {
        bytes -= lines.text[first++].size();
        note = truncated_note;
    }
    if (first == lines.text.size()) {
        return {};
    }
    std::string text = note;
    for (; first < lines.text.size(); ++first) {
        text += lines.text[first];
    }
    return text;
}

} // namespace

Log::Lines read_log(const unsigned* iterator) {
    return Log::instance().since(iterator == nullptr ? 0 : *iterator);
}

void advance_log(unsigned* iterator, const Log::Lines& past) noexcept {
    if (iterator != nullptr) {
        *iterator = past.end;
    }
}

void find_log_end(unsigned* next) {
    require_pointer(next, "Iterator");
    *next = Log::instance().end();
}

void dump_log(unsigned* iterator, char* buffer, std::size_t* size) {
    require_pointer(buffer, "buffer");
    if (size == nullptr) {
        fail(cudaErrorInvalidValue, "Memory buffer size must be given for log dump");
    }
    const Log::Lines lines = read_log(iterator);
    const std::string text = fit(lines, *size);
    *size = text.size();
    if (lines.text.empty()) {
        return;
    }
    if (text.empty()) {
        fail(cudaErrorInvalidValue, "Provided buffer is not large enough to write any logs to");
    }
    std::memcpy(buffer, text.c_str(), text.size() + 1);
    advance_log(iterator, lines);
}

} // namespace cudart_cpu::detail
