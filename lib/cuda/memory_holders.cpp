// The list of all holders of memory, and its text.
#include "memory_holders.hpp"

#include "failure.hpp"
#include "never_destroyed.hpp"
#include "relaxed_capture.hpp"

#include <cudag/format.hpp>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

struct AllHolders {
    std::mutex mutex;
    MemoryHolder* first = nullptr;
};

/// Never destroyed, since buffers may outlive static objects.
AllHolders& all_holders() noexcept {
    return never_destroyed<AllHolders>();
}

std::atomic<std::int64_t> live_execs = 0;

/// "; the device has 1.0 GiB free of 79.1 GiB"; empty if CUDA does not tell.
std::string describe_device() {
    std::size_t free = 0, total = 0;
    const cudaError_t status = cudaMemGetInfo(&free, &total);
    ignore(status);
    if (status != cudaSuccess) return {};
    return fmt::format("; the device has {} free of {}", size_text(free), size_text(total));
}

/// The graph memory reserved on the current device; 0 if CUDA does not tell.
std::size_t reserved_graph_memory() noexcept {
    int device = 0;
    std::uint64_t bytes = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetGraphMemAttribute(device, cudaGraphMemAttrReservedMemCurrent, &bytes);
    ignore(status);
    return status == cudaSuccess ? bytes : 0;
}

} // namespace

std::string size_text(std::size_t bytes) {
    if (bytes < 1024) return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
    double size = static_cast<double>(bytes) / 1024;
    constexpr const char* units[]{"KiB", "MiB", "GiB"};
    std::size_t unit = 0;
    for (; size >= 1024 && unit + 1 < std::size(units); ++unit)
        size /= 1024;
    return fmt::format("{:.1f} {}", size, units[unit]);
}

MemoryHolder::MemoryHolder(const char* kind, std::string label, const SourceLocation& location)
    : kind_(kind), label_(std::move(label)), location_(location) {
    AllHolders& all = all_holders();
    const std::scoped_lock lock(all.mutex);
    next_ = std::exchange(all.first, this);
    if (next_ != nullptr) next_->previous_ = this;
}

MemoryHolder::~MemoryHolder() {
    AllHolders& all = all_holders();
    const std::scoped_lock lock(all.mutex);
    (previous_ != nullptr ? previous_->next_ : all.first) = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
}

std::string MemoryHolder::name() const {
    return label_.empty() ? fmt::format("{} made at {}", kind_, location_)
                          : fmt::format("{} \"{}\" made at {}", kind_, label_, location_);
}

void note_exec(int more) noexcept {
    live_execs.fetch_add(more, std::memory_order_relaxed);
}

std::string describe_holders() {
    struct Held {
        std::size_t bytes;
        std::string text;
    };
    std::vector<Held> held;
    {
        const std::scoped_lock lock(all_holders().mutex);
        for (const MemoryHolder* holder = all_holders().first; holder != nullptr; holder = holder->next_) {
            const std::size_t bytes = holder->bytes();
            if (bytes == 0) continue;
            std::string high;
            if (holder->high() > bytes) high = fmt::format(" (at most {})", size_text(holder->high()));
            held.push_back({bytes, fmt::format("{}: {}{}", holder->name(), size_text(bytes), high)});
        }
    }
    const RelaxedCapture allow_queries;
    if (const std::size_t bytes = reserved_graph_memory(); bytes != 0)
        held.push_back({bytes, fmt::format("graph memory, see trim_graph_memory: {}", size_text(bytes))});
    std::ranges::stable_sort(held, [](const Held& a, const Held& b) { return a.bytes > b.bytes; });

    constexpr std::size_t most = 10;
    std::string text = describe_device();
    std::size_t others = 0;
    for (std::size_t i = 0; i < held.size(); ++i)
        if (i < most)
            text += fmt::format("{}{}", i == 0 ? "; held: " : ", ", held[i].text);
        else
            others += held[i].bytes;
    if (held.size() > most) text += fmt::format(", and {} more: {}", held.size() - most, size_text(others));
    if (const std::int64_t execs = live_execs.load(std::memory_order_relaxed); execs > 0)
        text += fmt::format("; {} live Exec{}, of some 110 KiB or more each", execs, execs == 1 ? "" : "s");
    return text;
}

} // namespace cudag::detail
