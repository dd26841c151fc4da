// The holders of memory: buffers, pools and caches, listed in errors for lack of memory.
#pragma once

#include <cudag/source_location.hpp>

#include <atomic>
#include <cstddef>
#include <string>

namespace cudag::detail {

/// Describes a size: "512 bytes", "1.5 KiB", "2.0 MiB", "3.1 GiB".
[[nodiscard]] std::string size_text(std::size_t bytes);

/// The memory of one object, with its high-water mark. Errors read it from any thread; one thread at a time changes it.
class MemoryHolder {
  public:
    /// `kind`: a literal such as "CapturePool"; `label` may be empty.
    MemoryHolder(const char* kind, std::string label, const SourceLocation& location);
    ~MemoryHolder();
    MemoryHolder(const MemoryHolder&) = delete;
    MemoryHolder& operator=(const MemoryHolder&) = delete;

    void add(std::size_t bytes) noexcept { set(this->bytes() + bytes); }
    void remove(std::size_t bytes) noexcept { set(this->bytes() - bytes); }
    void set(std::size_t bytes) noexcept {
        bytes_.store(bytes, std::memory_order_relaxed);
        if (bytes > high()) high_.store(bytes, std::memory_order_relaxed);
    }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::size_t high() const noexcept { return high_.load(std::memory_order_relaxed); }

    /// "CapturePool \"activations\" made at a.cpp:12"
    [[nodiscard]] std::string name() const;

  private:
    friend std::string describe_holders();

    const char* kind_;
    std::string label_;
    SourceLocation location_;
    std::atomic<std::size_t> bytes_ = 0;
    std::atomic<std::size_t> high_ = 0;
    MemoryHolder* previous_ = nullptr; ///< in the list of all, under its mutex
    MemoryHolder* next_ = nullptr;
};

/// Counts live executable graphs: one more, or one less.
void note_exec(int more) noexcept;

/// Lists the holders with memory, the largest first, with the device's free memory and graph memory: "; the device has
/// 1.0 GiB free of 79.1 GiB; held: ...". Leaves out what CUDA does not tell.
[[nodiscard]] std::string describe_holders();

} // namespace cudag::detail
