// What translated kernels and the runtime know of each other: threads, blocks, and the calls that leave a kernel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudart_cpu::ptx {

using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using f32 = float;
using f64 = double;
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

struct Index {
    u32 x, y, z;
};

/// What the threads of a block share. Shared memory is addressed from `shared` on; all other addresses are the host's.
struct Block {
    Index ctaid;
    Index ntid;
    Index nctaid;
    Index cluster; ///< blocks of a cluster
    unsigned char* shared;
    const unsigned char* params;
    u64 grid_workspace; ///< of a cooperative launch; 0 of any other
    u64 grid_id;
    u64 stack_low; ///< of threads that run in turn
    u32 dynamic_shared;
    u32 total_shared;
    u32 checks; ///< of each access
};

inline constexpr u32 check_memory = 1;
inline constexpr u32 check_race = 2;

enum class Access : u32 { read, write, change };

struct Thread {
    Index tid;
    u32 lane;
    u32 warp;
    u32 patience; ///< accesses that may be a spinning loop's, until others get their turn
    Block* block;
    u64 stack_low;
};

/// Where in the source: the file's number in the module, and its line.
constexpr u32 location(u32 file, u32 line) {
    return file << 20 | line;
}

enum class WarpCall : u32 {
    sync,
    shuffle_up,
    shuffle_down,
    shuffle_xor,
    shuffle_index,
    vote_all,
    vote_any,
    vote_uniform,
    vote_ballot,
    match_any,
    match_all,
    reduce_add,
    reduce_min_signed,
    reduce_max_signed,
    reduce_min,
    reduce_max,
    reduce_and,
    reduce_or,
    reduce_xor,
    elect,
    active_mask,
    matrix,
};

enum class BarrierCall : u32 { sync, arrive, count, all, any };

struct WarpResult {
    u64 value;
    bool predicate;
};

/// What one lane brings to a product of matrices; the last lane to come computes for all.
struct MatrixCall {
    void (*compute)(MatrixCall* const* lanes);
    u32 a[8], b[8], c[8], d[8];
};

/// Bytes of stack, as the compiler counts them; the tools write them into the object.
struct StackNeed {
    u32 once;  ///< of all functions that a thread may be in
    u32 again; ///< of those that may be called again while they run
    u32 grows; ///< not 0: functions take more while they run
};

/// Bytes of a thread's stack that the runtime's own functions may need.
inline constexpr u32 stack_reserve = 32 * 1024;

struct KernelRow {
    const char* name;
    void (*thread)(Thread&); ///< runs one thread, on a stack of its own
    void (*block)(Block&);   ///< runs all threads in turn; null if they meet
    const char* refusal;     ///< why it cannot run; null if it can
    const u32* params;       ///< size and alignment of each
    u32 param_count;
    u32 static_shared;
    u32 local_bytes;
    const volatile StackNeed* stack; ///< written by a tool, so the compiler knows no value
    u32 max_threads;                 ///< 0: as the device
    u32 required_cluster[3];
};

struct VariableRow {
    const char* name;
    void* address;
    u64 bytes;
};

struct ModuleRow {
    u32 version;
    u32 architecture; ///< of its PTX, such as 90
    u64 image_bytes;  ///< of the fat binary that it was translated from
    u64 image_hash;
    const KernelRow* kernels;
    u32 kernel_count;
    const VariableRow* variables;
    u32 variable_count;
    const char* const* files;
    u32 file_count;
    bool (*supported)(); ///< whether this processor has what the module was compiled for
};

inline constexpr u32 module_version = 4;

} // namespace cudart_cpu::ptx

#pragma GCC visibility push(default)
extern "C" {
void cudart_cpu_register_module(const cudart_cpu::ptx::ModuleRow* module);
void cudart_cpu_forget_module(const cudart_cpu::ptx::ModuleRow* module);

cudart_cpu::ptx::u32 cudart_cpu_barrier(cudart_cpu::ptx::Thread& thread, cudart_cpu::ptx::BarrierCall call,
                                        cudart_cpu::ptx::u32 barrier, cudart_cpu::ptx::u32 count, bool predicate,
                                        cudart_cpu::ptx::u32 location);
cudart_cpu::ptx::WarpResult cudart_cpu_warp(cudart_cpu::ptx::Thread& thread, cudart_cpu::ptx::WarpCall call,
                                            cudart_cpu::ptx::u32 mask, cudart_cpu::ptx::u64 value,
                                            cudart_cpu::ptx::u32 first, cudart_cpu::ptx::u32 second,
                                            cudart_cpu::ptx::u32 location);
void cudart_cpu_cluster_barrier(cudart_cpu::ptx::Thread& thread, bool arrives, bool waits,
                                cudart_cpu::ptx::u32 location);
cudart_cpu::ptx::u64 cudart_cpu_map_shared(cudart_cpu::ptx::Thread& thread, cudart_cpu::ptx::u64 address,
                                           cudart_cpu::ptx::u32 rank);
void cudart_cpu_check(cudart_cpu::ptx::Thread& thread, cudart_cpu::ptx::u64 address, cudart_cpu::ptx::u32 bytes,
                      cudart_cpu::ptx::Access access, cudart_cpu::ptx::u32 location);
/// What the block's threads did before is in an order with what they do from now on.
void cudart_cpu_note_order(cudart_cpu::ptx::Thread& thread);
void cudart_cpu_yield(cudart_cpu::ptx::Thread& thread);
void cudart_cpu_sleep(cudart_cpu::ptx::Thread& thread, cudart_cpu::ptx::u32 nanoseconds);
void cudart_cpu_grid_dependencies(cudart_cpu::ptx::Thread& thread);
[[noreturn]] void cudart_cpu_stack_overflow(cudart_cpu::ptx::Thread& thread, cudart_cpu::ptx::u32 location);
[[noreturn]] void cudart_cpu_exit(cudart_cpu::ptx::Thread& thread);
[[noreturn]] void cudart_cpu_trap(cudart_cpu::ptx::Thread& thread, const char* reason, cudart_cpu::ptx::u32 location);

// What PTX calls as functions.
cudart_cpu::ptx::u32 cudart_cpu_printf(cudart_cpu::ptx::Thread& thread, const char* format, const void* arguments);
[[noreturn]] void cudart_cpu_assertion(cudart_cpu::ptx::Thread& thread, const char* condition, const char* file,
                                       cudart_cpu::ptx::u32 line, const char* function);
void* cudart_cpu_malloc(cudart_cpu::ptx::Thread& thread, cudart_cpu::ptx::u64 bytes);
void cudart_cpu_free(cudart_cpu::ptx::Thread& thread, void* memory);
cudart_cpu::ptx::u64 cudart_cpu_global_timer();
cudart_cpu::ptx::u64 cudart_cpu_clock();
}
#pragma GCC visibility pop
