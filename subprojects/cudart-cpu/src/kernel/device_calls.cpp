// Calls by translated kernels: barriers, warps, printf, assert, memory.
#include "device_print.hpp"
#include "grid_run.hpp"
#include "memory/freed_memory.hpp"
#include "runtime/call.hpp"
#include "runtime/text.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

using namespace cudart_cpu;
using namespace cudart_cpu::detail;
using cudart_cpu::ptx::u32;
using cudart_cpu::ptx::u64;

namespace {

ThreadRun& run_of(ptx::Thread& thread) {
    return static_cast<ThreadRun&>(thread);
}

bool takes_turns() {
    return current_worker()->current == nullptr;
}

} // namespace

CUDART_CPU_API u32 cudart_cpu_barrier(ptx::Thread& thread, ptx::BarrierCall call, u32 barrier, u32 count,
                                      bool predicate, u32 location) {
    ThreadRun& run = run_of(thread);
    run.location = location;
    return run.run->meet(run, call, barrier, count, predicate);
}

CUDART_CPU_API ptx::WarpResult cudart_cpu_warp(ptx::Thread& thread, ptx::WarpCall call, u32 mask, u64 value, u32 first,
                                               u32 second, u32 location) {
    ThreadRun& run = run_of(thread);
    run.call = call;
    run.mask = mask;
    run.value = value;
    run.first = first;
    run.second = second;
    run.location = location;
    return run.run->meet_in_warp(run);
}

CUDART_CPU_API void cudart_cpu_cluster_barrier(ptx::Thread& thread, bool arrives, bool waits, u32 location) {
    ThreadRun& run = run_of(thread);
    run.location = location;
    run.run->meet_cluster(run, arrives, waits);
}

CUDART_CPU_API u64 cudart_cpu_map_shared(ptx::Thread& thread, u64 address, u32 rank) {
    const ClusterRun& cluster = run_of(thread).run->cluster();
    const auto own = reinterpret_cast<u64>(thread.block->shared);
    const auto other = reinterpret_cast<u64>(cluster.blocks[rank % cluster.blocks.size()]->block().shared);
    return address - own + other;
}

CUDART_CPU_API u32 cudart_cpu_shared_rank(ptx::Thread& thread, u64 address) {
    u32 rank = 0;
    for (const auto& block : run_of(thread).run->cluster().blocks) {
        const ptx::Block& other = block->block();
        if (address - reinterpret_cast<u64>(other.shared) < std::max(other.total_shared, 1u)) return rank;
        ++rank;
    }
    return ~u32{0};
}

CUDART_CPU_API void cudart_cpu_grid_dependencies(ptx::Thread& thread) {
    run_of(thread).run->wait_for_grid_dependencies();
}

CUDART_CPU_API void cudart_cpu_yield(ptx::Thread& thread) {
    if (takes_turns()) {
        thread.patience = GridRun::patience;
        std::this_thread::yield();
        return;
    }
    run_of(thread).run->yield(run_of(thread));
}

CUDART_CPU_API void cudart_cpu_sleep(ptx::Thread& thread, u32) {
    cudart_cpu_yield(thread);
}

CUDART_CPU_API void cudart_cpu_exit(ptx::Thread& thread) {
    run_of(thread).run->end(run_of(thread));
}

CUDART_CPU_API void cudart_cpu_stack_overflow(ptx::Thread& thread, u32 location) {
    fail_thread(thread, cudaErrorIllegalAddress, stack_overflow(current_worker()->grid.stack_bytes()), location);
}

CUDART_CPU_API void cudart_cpu_trap(ptx::Thread& thread, const char* reason, u32 location) {
    fail_thread(thread, cudaErrorLaunchFailure, reason, location);
}

CUDART_CPU_API u32 cudart_cpu_printf(ptx::Thread&, const char* format, const void* arguments) {
    return print_from_kernel(format, arguments);
}

CUDART_CPU_API void cudart_cpu_assertion(ptx::Thread& thread, const char* condition, const char* file, u32 line,
                                         const char* function) {
    const ptx::Index& block = thread.block->ctaid;
    std::fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file, line,
                 function, block.x, block.y, block.z, thread.tid.x, thread.tid.y, thread.tid.z, condition);
    fail_thread(thread, cudaErrorAssert, text("assertion ", condition, " failed at ", file, ':', line), 0);
}

CUDART_CPU_API void* cudart_cpu_malloc(ptx::Thread& thread, u64 bytes) {
    void* const memory = std::malloc(bytes);
    if (thread.block->checks != 0) note_kernel_memory(memory, bytes);
    return memory;
}

CUDART_CPU_API void cudart_cpu_free(ptx::Thread& thread, void* memory) {
    if (thread.block->checks != 0) forget_kernel_memory(memory);
    std::free(memory);
}

CUDART_CPU_API void* cudart_cpu_launch_parameters(ptx::Thread& thread, u64 kernel, ptx::Index grid, ptx::Index block,
                                                  u32 shared_bytes) {
    ChildLaunches& children = current_worker()->grid.children();
    void* const params = children.prepare(reinterpret_cast<const void*>(kernel), dim3(grid.x, grid.y, grid.z),
                                          dim3(block.x, block.y, block.z), shared_bytes);
    if (params != nullptr && thread.block->checks != 0)
        note_kernel_memory(params, ChildLaunches::params_bytes(*children.kernel_of(params)));
    return params;
}

CUDART_CPU_API u32 cudart_cpu_launch(ptx::Thread& thread, void* params, u64 stream, u32 location) {
    constexpr u64 tail_launch = 3; // cudaStreamTailLaunch
    ChildLaunches& children = current_worker()->grid.children();
    if (thread.block->checks != 0) forget_kernel_memory(params);
    const ptx::KernelRow* const kernel = children.kernel_of(params);
    if (kernel != nullptr && kernel->refusal != nullptr)
        fail_thread(thread, cudaErrorNotSupported, text("launches a kernel that cannot run: ", kernel->refusal),
                    location);
    return children.launch(params, stream == tail_launch) ? cudaSuccess : cudaErrorInvalidValue;
}

CUDART_CPU_API u64 cudart_cpu_global_timer() {
    return static_cast<u64>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count());
}

CUDART_CPU_API u64 cudart_cpu_clock() {
    return static_cast<u64>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
            .count());
}
