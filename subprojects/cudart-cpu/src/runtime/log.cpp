// The log: a ring of lines, its callbacks, and the file named by CUDA_LOG_FILE.
#include "log.hpp"

#include "handle_table.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace cudart_cpu::detail {

namespace {

/// Returns a line such as "[22:21:32.099][25642][CUDA][E] message\n".
std::string format_line(std::string_view message) {
    const auto now = std::chrono::system_clock::now();
    const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
    const auto milliseconds =
        std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
    std::tm local{};
    localtime_r(&seconds, &local);
    char prefix[64];
    std::snprintf(prefix, sizeof prefix, "[%02d:%02d:%02d.%03d][%lu][CUDA][E] ", local.tm_hour, local.tm_min,
                  local.tm_sec, static_cast<int>(milliseconds), pthread_self());
    std::string line = prefix;
    line += message.substr(0, Log::max_line_bytes - 1 - line.size());
    line += '\n';
    return line;
}

/// Returns the file named by CUDA_LOG_FILE; null if there is none. It stays open as long as the process.
std::FILE* log_file() {
    static std::FILE* const file = []() -> std::FILE* {
        const char* name = std::getenv("CUDA_LOG_FILE");
        if (name == nullptr || *name == '\0') {
            return nullptr;
        }
        const std::string_view target = name;
        return target == "stdout" ? stdout : target == "stderr" ? stderr : std::fopen(name, "w");
    }();
    return file;
}

} // namespace

Log& Log::instance() {
    static auto* log = new Log;
    return *log;
}

void Log::add(std::string_view message) {
    std::string line = format_line(message);
    if (std::FILE* file = log_file()) {
        std::fputs(line.c_str(), file);
        std::fflush(file);
    }
    std::vector<Callback> callbacks;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [handle, callback] : callbacks_) {
            callbacks.push_back(callback);
        }
        if (ring_.size() < max_lines) {
            ring_.push_back(std::move(line));
        } else {
            ring_[end_ % max_lines] = std::move(line);
        }
        ++end_;
    }
    // The callbacks run outside the lock, so they may use the log.
    for (const Callback& callback : callbacks) {
        callback(std::string(message));
    }
}

unsigned Log::end() const {
    const std::lock_guard lock(mutex_);
    return end_;
}

Log::Lines Log::since(unsigned first) const {
    const std::lock_guard lock(mutex_);
    const auto kept = static_cast<unsigned>(ring_.size());
    const unsigned oldest = end_ - kept;
    Lines lines{{}, first < oldest, end_};
    for (unsigned line = std::max(first, oldest); line < end_; ++line) {
        lines.text.push_back(ring_[line % max_lines]);
    }
    return lines;
}

std::uintptr_t Log::add_callback(Callback callback) {
    const std::uintptr_t handle = next_handle();
    const std::lock_guard lock(mutex_);
    callbacks_.emplace(handle, std::move(callback));
    return handle;
}

bool Log::remove_callback(std::uintptr_t handle) {
    const std::lock_guard lock(mutex_);
    return callbacks_.erase(handle) != 0;
}

void log_error(std::string_view message) noexcept {
    try {
        Log::instance().add(message);
    } catch (const std::bad_alloc&) {
        // Out of memory: the caller's error code still reports the failure.
    }
}

} // namespace cudart_cpu::detail
