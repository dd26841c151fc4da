// Fault injection: counts runtime calls and makes the n-th one fail, or a run of a node.
#include "fault.hpp"

#include "call.hpp"
#include "kernel_failure.hpp"
#include "text.hpp"

#include <cudart_cpu/control.hpp>

#include <atomic>

namespace cudart_cpu {

namespace {

std::atomic<std::uint64_t> calls{0};
/// The number of the call to fail; 0 for none. `fault` is written before it.
std::atomic<std::uint64_t> failing_call{0};
std::atomic<cudaError_t> fault{cudaSuccess};

/// The node to fail; null for none. The other two are written before it.
std::atomic<cudaGraphNode_t> failing_node{nullptr};
std::atomic<std::uint64_t> runs_left{0};
std::atomic<cudaError_t> node_fault{cudaSuccess};

} // namespace

namespace detail {

bool is_node_to_fail(cudaGraphNode_t node) noexcept {
    return node != nullptr && node == failing_node.load(std::memory_order_acquire);
}

bool fails_now(const std::string& title) noexcept {
    if (runs_left.fetch_sub(1, std::memory_order_relaxed) != 1) return false;
    failing_node.store(nullptr, std::memory_order_release);
    set_kernel_failure(node_fault.load(std::memory_order_relaxed), title + ": fault injected");
    return true;
}

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

void fail_node(cudaGraphNode_t node, cudaError_t error, std::uint64_t n) {
    failing_node.store(nullptr, std::memory_order_release);
    node_fault.store(error, std::memory_order_relaxed);
    runs_left.store(n, std::memory_order_relaxed);
    failing_node.store(n == 0 ? nullptr : node, std::memory_order_release);
}

void forget_failure() {
    detail::forget_kernel_failure();
}

std::uint64_t call_count() {
    return calls.load(std::memory_order_relaxed);
}

} // namespace cudart_cpu
