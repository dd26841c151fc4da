// The kernels of the stand-in for NCCL, and the memory that its ranks meet in.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace standin {

constexpr int most_ranks = 4;
constexpr int most_messages = 16;
constexpr std::size_t most_bytes = 512 * 1024; ///< of the operand, or of the result, of a collective
constexpr std::size_t most_message_bytes = 64 * 1024;

enum Kind { all_reduce, reduce, broadcast, all_gather, reduce_scatter, messages };

/// What a rank shows to the others, which may be processes of their own: a copy of its operand.
struct Slot {
    unsigned phase; ///< counts up: once when the copy is there, once when those of others have been read
    alignas(16) unsigned char in[most_bytes];
};

/// A place for messages from one rank to another: counts what was shown, and what was taken.
struct Box {
    unsigned shown;
    unsigned taken;
    alignas(16) unsigned char data[most_message_bytes];
};

/// Lies in memory that the processes share. All zero at first.
struct Meeting {
    int ranks;
    int joined;
    unsigned aborted;
    Slot slots[most_ranks];
    Box boxes[most_ranks][most_ranks]; ///< [from][to]
};

struct Message {
    void* data;
    std::size_t bytes;
    int peer;
    int is_send;
};

/// A call: the kernel gets its address alone, as NCCL's kernels get those of structures of its own.
struct Work {
    Meeting* meeting;
    int rank;
    Kind kind;
    int type;      ///< an ncclDataType_t
    int reduction; ///< an ncclRedOp_t
    int root;
    const void* in;
    void* out;
    std::size_t count;
    unsigned char* scratch; ///< since `in` and `out` may be the same memory
    Message list[most_messages];
    int listed;
};

} // namespace standin

__global__ void standin_collective(standin::Work* work);
__global__ void standin_messages(standin::Work* work);
