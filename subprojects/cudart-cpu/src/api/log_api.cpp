// cudaLogs*: neither counted nor made to fail, because callers use them to report failures.
// As on a GPU, flags other than 0 are ignored.
#include "driver/driver_functions.hpp"
#include "runtime/call.hpp"
#include "runtime/cuda_versions.hpp"
#include "runtime/driver_version.hpp"
#include "runtime/log.hpp"

#include <cstdio>
#include <cstring>

namespace cudart_cpu::detail {

namespace {

constexpr const char* lost_note =
    "Log buffer has rolled over since the previous dump. The oldest messages will be missing\n";
constexpr const char* truncated_note =
    "The provided buffer is not large enough to hold all messages. Some messages will be missing\n";

template <class Body>
cudaError_t log_api(const char* name, Body&& body, LastError last_error = LastError::set) noexcept {
    try {
        require_driver(12090);
        body();
        return cudaSuccess;
    } catch (...) {
        return end_thrown_call(name, last_error);
    }
}

/// The messages from `iterator` on. Null: all messages.
Log::Lines read(cudaLogIterator* iterator) {
    return Log::instance().since(iterator == nullptr ? 0 : *iterator);
}

void advance(cudaLogIterator* iterator, const Log::Lines& past) {
    if (iterator != nullptr) {
        *iterator = past.end;
    }
}

/// As much of the newest text as fits into `capacity` bytes with its terminator; empty if not even one message fits.
std::string fit(const Log::Lines& lines, std::size_t capacity) {
    std::size_t first = lines.text.size();
    std::size_t bytes = 1;
    while (first > 0 && bytes + lines.text[first - 1].size() <= capacity) {
        bytes += lines.text[--first].size();
    }
    const char* note = first > 0 ? truncated_note : lines.lost_some ? lost_note : "";
    // The note takes the place of the oldest messages.
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

void current(unsigned* next) {
    require_pointer(next, "Iterator");
    *next = Log::instance().end();
}

void dump_to_memory(unsigned* iterator, char* buffer, std::size_t* size) {
    require_pointer(buffer, "buffer");
    if (size == nullptr) {
        fail(cudaErrorInvalidValue, "Memory buffer size must be given for log dump");
    }
    const Log::Lines lines = read(iterator);
    const std::string text = fit(lines, *size);
    *size = text.size();
    if (lines.text.empty()) {
        return;
    }
    if (text.empty()) {
        fail(cudaErrorInvalidValue, "Provided buffer is not large enough to write any logs to");
    }
    std::memcpy(buffer, text.c_str(), text.size() + 1);
    advance(iterator, lines);
}

} // namespace

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t cudaLogsRegisterCallback(cudaLogsCallback_t callback, void* user_data,
                                                    cudaLogsCallbackHandle* callback_out) {
    return log_api("cudaLogsRegisterCallback", [&] {
        require_pointer(reinterpret_cast<const void*>(callback), "callbackFunc");
        const std::uintptr_t handle = Log::instance().add_callback(
            [=](std::string message) { callback(user_data, cudaLogLevelError, message.data(), message.size()); });
        if (callback_out != nullptr) {
            *callback_out = reinterpret_cast<cudaLogsCallbackHandle>(handle);
        }
    });
}

CUDART_CPU_API cudaError_t cudaLogsUnregisterCallback(cudaLogsCallbackHandle callback) {
    return log_api("cudaLogsUnregisterCallback", [&] {
        require_pointer(callback, "Callback handle");
        if (!Log::instance().remove_callback(reinterpret_cast<std::uintptr_t>(callback))) {
            fail(cudaErrorInvalidValue, "callback is not registered");
        }
    });
}

CUDART_CPU_API cudaError_t cudaLogsCurrent(cudaLogIterator* iterator_out, unsigned) {
    return log_api("cudaLogsCurrent", [&] { current(iterator_out); });
}

CUDART_CPU_API cudaError_t cudaLogsDumpToFile(cudaLogIterator* iterator, const char* path, unsigned) {
    return log_api("cudaLogsDumpToFile", [&] {
        require_pointer(path, "pathToFile");
        const Log::Lines lines = read(iterator);
        std::FILE* file = std::fopen(path, "w");
        if (file == nullptr) {
            fail(cudaErrorInvalidValue, std::string("cannot write ") + path);
        }
        if (lines.lost_some) {
            std::fputs(lost_note, file);
        }
        for (const std::string& line : lines.text) {
            std::fputs(line.c_str(), file);
        }
        if (std::fclose(file) != 0) {
            fail(cudaErrorInvalidValue, std::string("cannot write ") + path);
        }
        advance(iterator, lines);
    });
}

CUDART_CPU_API cudaError_t cudaLogsDumpToMemory(cudaLogIterator* iterator, char* buffer, std::size_t* size, unsigned) {
    return log_api("cudaLogsDumpToMemory", [&] { dump_to_memory(iterator, buffer, size); });
}

namespace cudart_cpu::detail::driver {

CUresult logs_current(unsigned* next, unsigned) {
    return static_cast<CUresult>(log_api(
        "cuLogsCurrent", [&] { current(next); }, LastError::keep));
}

CUresult logs_dump_to_memory(unsigned* next, char* buffer, std::size_t* size, unsigned) {
    return static_cast<CUresult>(log_api(
        "cuLogsDumpToMemory", [&] { dump_to_memory(next, buffer, size); }, LastError::keep));
}

} // namespace cudart_cpu::detail::driver
