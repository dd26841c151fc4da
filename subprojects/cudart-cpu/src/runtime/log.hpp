// The log behind cudaLogsDumpToMemory and friends.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace cudart_cpu::detail {

/// Adds a line for this thread, now, with severity "error"; calls the registered callbacks. Never throws.
void log_error(std::string_view message) noexcept;

/// The newest lines, as the driver keeps them: at most 100, each of at most 256 bytes with its newline.
class Log {
  public:
    static constexpr std::size_t max_lines = 100;
    static constexpr std::size_t max_line_bytes = 256;

    using Callback = std::function<void(std::string message)>;

    /// The lines from `first` on, as far as still kept.
    struct Lines {
        std::vector<std::string> text;
        bool lost_some;
        /// The number of the next line.
        unsigned end;
    };

    /// The log is never destroyed: calls may fail after main().
    static Log& instance();

    void add(std::string_view message);
    [[nodiscard]] unsigned end() const;
    [[nodiscard]] Lines since(unsigned first) const;

    std::uintptr_t add_callback(Callback callback);
    bool remove_callback(std::uintptr_t handle);

  private:
    mutable std::mutex mutex_;
    /// The line with number n is at n % max_lines.
    std::vector<std::string> ring_;
    unsigned end_ = 0;
    std::map<std::uintptr_t, Callback> callbacks_;
};

} // namespace cudart_cpu::detail
