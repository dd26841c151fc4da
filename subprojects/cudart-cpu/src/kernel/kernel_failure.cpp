// What a kernel's failure leaves behind: an error that all later calls answer with.
#include "kernel_failure.hpp"

#include "graph/graph_text.hpp"
#include "runtime/log.hpp"

#include <atomic>
#include <cstdio>
#include <exception>

namespace cudart_cpu::detail {

namespace {

std::atomic<cudaError_t> failure{cudaSuccess};
std::atomic<bool> has_failed = false; ///< the first that fails tells, and is told of once the log has its reason

} // namespace

void set_kernel_failure(cudaError_t code, const std::string& text) noexcept {
    if (has_failed.exchange(true)) return;
    std::fprintf(stderr, "cudart-cpu: %s\n", text.c_str());
    try {
        log_error(text);
    } catch (const std::exception&) {
        // The code still tells.
    }
    failure = code;
}

cudaError_t kernel_failure() noexcept {
    return failure.load(std::memory_order_relaxed);
}

void clear_kernel_failure() noexcept {
    failure = cudaSuccess;
    has_failed = false;
}

} // namespace cudart_cpu::detail
