// The interface between translated kernels and the runtime: threads, blocks, and the calls out of a kernel.
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

/// A texture of elements of 4 bytes, which is neither filtered nor repeated, and has coordinates in elements.
struct TexturePlane {
    const char* data; ///< null for other textures
    u64 row_bytes;
    i32 width;
    i32 height;
    u32 missing; ///< the value of a fourth channel
};

/// A texture that the block has used.
struct KnownTexture {
    u64 handle;
    const TexturePlane* plane;
};

/// The state shared by the threads of a block. Shared memory is addressed from `shared` on; all other addresses are the
/// host's.
struct Block {
    Index ctaid;
    Index ntid;
    Index nctaid;
    Index cluster; ///< blocks per cluster
    unsigned char* shared;
    const unsigned char* params;
    u64 grid_workspace; ///< in a cooperative launch; else 0
    u64 grid_id;
    u64 stack_low; ///< for threads that run in turn
    u32 dynamic_shared;
    u32 total_shared;
    u32 checks;           ///< made for each access; also whether warps run in lockstep
    u32 multiprocessors;  ///< of the device
    u32 frame_threads;    ///< of the frame: those of the block, rounded up to whole warps
    unsigned char* frame; ///< what threads of a split kernel keep over meetings
    KnownTexture textures[2];
};

inline constexpr u32 check_memory = 1;
inline constexpr u32 check_race = 2;
inline constexpr u32 keep_lockstep = 4;

enum class Access : u32 { read, write, change };

struct Thread {
    Index tid;
    u32 lane;
    u32 warp;
    u32 patience; ///< accesses of a possible spinning loop before others get their turn
    Block* block;
    u64 stack_low;
};

/// A source location: the file's number in the module, and the line.
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

/// One lane's contribution to a matrix product; the last lane to arrive computes for all.
struct MatrixCall {
    void (*compute)(MatrixCall* const* lanes);
    u32 a[16], b[8], c[8], d[8];
};

/// Bytes of stack, as counted by the compiler; the tools write them into the object.
struct StackNeed {
    u32 once;  ///< for all functions that a thread may be in
    u32 again; ///< for functions that may be called again while they run
    u32 grows; ///< not 0: functions take more while they run
};

/// Bytes of a thread's stack reserved for the runtime's own functions.
inline constexpr u32 stack_reserve = 32 * 1024;

// Kernels split at their meetings (split.hpp): a part runs from one point to the next.

/// What a point waits for: a barrier of the block, a warp operation, or nothing but the turns of others.
enum class SplitKind : u8 { barrier, warp, pause };

struct SplitPoint {
    SplitKind kind;
    u8 call;      ///< a BarrierCall or a WarpCall
    u8 constants; ///< which operands are known: 1 mask, 2 first, 4 second; the others are in the frame. 8: the
                  ///< predicate of the result is not needed
    u32 location;
    u32 mask;
    u32 first;  ///< of a barrier: its number
    u32 second; ///< of a barrier: the threads that it waits for; 0: all
};

// The arrays at the begin of a frame: bytes of each thread before them.
inline constexpr u32 split_value = 0;
inline constexpr u32 split_high = 4;
inline constexpr u32 split_result = 8;
inline constexpr u32 split_mask = 12;
inline constexpr u32 split_first = 16;
inline constexpr u32 split_second = 20;
inline constexpr u32 split_next = 24;
inline constexpr u32 split_flag = 26;
inline constexpr u32 split_answer = 27;

/// Where threads go on: after a point, by its number; 0 is the kernel's begin.
inline constexpr u32 split_end = 0xFFFF;
/// The threads go on at several places.
inline constexpr u32 split_mixed = 0x10000;
/// The rounds of a waiting loop before the thread pauses.
inline constexpr u32 split_patience = 16;

struct KernelRow {
    const char* name;
    void (*thread)(Thread&); ///< runs one thread, on its own stack
    void (*block)(Block&);   ///< runs all threads in turn; null if they meet
    const char* refusal;     ///< the reason if it cannot run; else null
    const u32* params;       ///< size and alignment of each parameter
    u32 param_count;
    u32 static_shared;
    u32 local_bytes;
    const volatile StackNeed* stack; ///< written by a tool, so the compiler must not assume a value
    u32 max_threads;                 ///< 0: the device's limit
    u32 required_cluster[3];
    u32 (*step)(Block& block, u32 state, u32 begin, u32 end); ///< runs a part of some threads; null: not split
    const SplitPoint* points;
    u32 point_count;
    u32 frame_bytes; ///< of each thread
};

struct VariableRow {
    const char* name;
    void* address;
    u64 bytes;
};

struct ModuleRow {
    u32 version;
    u32 architecture; ///< the PTX's architecture, such as 90
    u64 image_bytes;  ///< size of the translated fat binary
    u64 image_hash;
    const KernelRow* kernels;
    u32 kernel_count;
    const VariableRow* variables;
    u32 variable_count;
    const char* const* files;
    u32 file_count;
    bool (*supported)(); ///< whether this processor has the features that the module was compiled for
};

inline constexpr u32 module_version = 5;

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
/// Returns the rank of the cluster's block with this address in its shared memory; ~0 if there is none.
cudart_cpu::ptx::u32 cudart_cpu_shared_rank(cudart_cpu::ptx::Thread& thread, cudart_cpu::ptx::u64 address);
/// Precedes an access. `order` places it among the accesses of the module's text; 0: no other thread can see it.
void cudart_cpu_check(cudart_cpu::ptx::Thread& thread, cudart_cpu::ptx::u64 address, cudart_cpu::ptx::u32 bytes,
                      cudart_cpu::ptx::Access access, cudart_cpu::ptx::u32 location, cudart_cpu::ptx::u32 order);
/// Orders the earlier accesses of the block's threads before their later ones.
void cudart_cpu_note_order(cudart_cpu::ptx::Thread& thread);
void cudart_cpu_yield(cudart_cpu::ptx::Thread& thread);
void cudart_cpu_sleep(cudart_cpu::ptx::Thread& thread, cudart_cpu::ptx::u32 nanoseconds);
void cudart_cpu_grid_dependencies(cudart_cpu::ptx::Thread& thread);
[[noreturn]] void cudart_cpu_stack_overflow(cudart_cpu::ptx::Thread& thread, cudart_cpu::ptx::u32 location);
[[noreturn]] void cudart_cpu_exit(cudart_cpu::ptx::Thread& thread);
[[noreturn]] void cudart_cpu_trap(cudart_cpu::ptx::Thread& thread, const char* reason, cudart_cpu::ptx::u32 location);

// Functions in PTX.
cudart_cpu::ptx::u32 cudart_cpu_printf(cudart_cpu::ptx::Thread& thread, const char* format, const void* arguments);
[[noreturn]] void cudart_cpu_assertion(cudart_cpu::ptx::Thread& thread, const char* condition, const char* file,
                                       cudart_cpu::ptx::u32 line, const char* function);
void* cudart_cpu_malloc(cudart_cpu::ptx::Thread& thread, cudart_cpu::ptx::u64 bytes);
void cudart_cpu_free(cudart_cpu::ptx::Thread& thread, void* memory);
/// Returns the place for the parameters of a kernel's launch by a thread; null if it cannot be launched like this.
void* cudart_cpu_launch_parameters(cudart_cpu::ptx::Thread& thread, cudart_cpu::ptx::u64 kernel,
                                   cudart_cpu::ptx::Index grid, cudart_cpu::ptx::Index block,
                                   cudart_cpu::ptx::u32 shared_bytes);
cudart_cpu::ptx::u32 cudart_cpu_launch(cudart_cpu::ptx::Thread& thread, void* params, cudart_cpu::ptx::u64 stream,
                                       cudart_cpu::ptx::u32 location);
cudart_cpu::ptx::u64 cudart_cpu_global_timer();
cudart_cpu::ptx::u64 cudart_cpu_clock();
}
#pragma GCC visibility pop
