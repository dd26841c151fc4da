// The functions behind cudaLogs* and cuLogs*.
#pragma once

#include "call.hpp"
#include "driver_version.hpp"
#include "log.hpp"

namespace cudart_cpu::detail {

/// Runs a function of the log. It is neither counted nor made to fail, because callers use it to report failures.
template <class Body>
cudaError_t log_api(const char* name, Body&& body, LastError last = LastError::set) noexcept {
    try {
        require_driver(12090);
        body();
        return cudaSuccess;
    } catch (...) {
        return end_thrown_call(name, last);
    }
}

/// The first line of a log with lost messages.
inline constexpr const char* lost_note =
    "Log buffer has rolled over since the previous dump. The oldest messages will be missing\n";

/// Returns the messages from `iterator` on. Null: all messages.
Log::Lines read_log(const unsigned* iterator);
/// Moves `iterator`, which may be null, past these messages.
void advance_log(unsigned* iterator, const Log::Lines& past) noexcept;

// These throw Failure for null pointers, and for a buffer too small for one message.

void find_log_end(unsigned* next);
void dump_log(unsigned* iterator, char* buffer, std::size_t* size);

} // namespace cudart_cpu::detail
