// The failure of a kernel, returned by all later calls, and the reasons of refused kernels.
#include "kernel_failure.hpp"

#include "log.hpp"
#include "text.hpp"

#include <atomic>
#include <cstdio>
#include <exception>
#include <mutex>
#include <set>

namespace cudart_cpu::detail {

namespace {

std::atomic<cudaError_t> failure{cudaSuccess};
std::atomic<bool> has_failed = false; ///< the first failure wins; `failure` is set once the log has its reason

struct Told {
    std::mutex mutex;
    std::set<std::string> reasons;
};

/// The registry is never destroyed: kernels may be launched after main().
Told& told() {
    static auto* all = new Told;
    return *all;
}

} // namespace

void set_kernel_failure(cudaError_t code, const std::string& text) noexcept {
    if (has_failed.exchange(true)) return;
    std::fprintf(stderr, "cudart-cpu: %s\n", text.c_str());
    try {
        log_error(text);
    } catch (const std::exception&) {
        // The caller still gets the code.
    }
    failure = code;
}

cudaError_t kernel_failure() noexcept {
    return failure.load(std::memory_order_relaxed);
}

bool has_kernel_failed() noexcept {
    return has_failed.load(std::memory_order_relaxed);
}

void clear_kernel_failure() noexcept {
    failure = cudaSuccess;
    has_failed = false;
}

void tell_refusal(const std::string& reason) noexcept {
    try {
        const std::lock_guard lock(told().mutex);
        if (!told().reasons.insert(reason).second) return;
    } catch (const std::exception&) {
        // The reason may then be printed twice.
    }
    std::fprintf(stderr, "cudart-cpu: %s\n", reason.c_str());
}

} // namespace cudart_cpu::detail
