// Fault injection: counts runtime calls and makes the n-th one fail.
#include "fault.hpp"

#include "call.hpp"
#include "text.hpp"

#include <cudart_cpu/control.hpp>

#include <atomic>

namespace cudart_cpu {

namespace {

std::atomic<std::uint64_t> calls{0};
/// The number of the call to fail; 0 for none. `fault` is written before it.
std::atomic<std::uint64_t> failing_call{0};
std::atomic<cudaError_t> fault{cudaSuccess};

} // namespace

namespace detail {

void count_call() {
    const std::uint64_t number = calls.fetch_add(1, std::memory_order_relaxed) + 1;
    if (number == failing_call.load(std::memory_order_acquire)) {
        fail(fault.load(std::memory_order_relaxed), text("cudart-cpu: fault injected into call ", number));
    }
}

} // namespace detail

void fail_call(std::uint64_t n, cudaError_t error) {
    fault.store(error, std::memory_order_relaxed);
    failing_call.store(n == 0 ? 0 : calls.load(std::memory_order_relaxed) + n, std::memory_order_release);
}

std::uint64_t call_count() {
    return calls.load(std::memory_order_relaxed);
}

} // namespace cudart_cpu
