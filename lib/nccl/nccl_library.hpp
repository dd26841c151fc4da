// NCCL, loaded at run time: its C interface as far as cudag uses it, and the functions found.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

struct ncclComm;

namespace cudag::nccl::detail {

/// The results with a meaning for cudag, with the values of `ncclResult_t`.
enum Result : int { success = 0, in_progress = 7 };

/// `ncclUniqueId`, which NCCL takes by value.
struct IdBytes {
    char bytes[128];
};

/// The functions of NCCL. Enumerators are ints in its interface.
struct NcclLibrary {
    int (*get_version)(int*);
    const char* (*get_error_string)(int);
    const char* (*get_last_error)(ncclComm*); ///< null before 2.13
    int (*get_unique_id)(IdBytes*);
    int (*comm_init_rank)(ncclComm**, int, IdBytes, int);
    int (*comm_init_all)(ncclComm**, int, const int*);
    int (*comm_destroy)(ncclComm*);
    int (*comm_abort)(ncclComm*);
    int (*comm_get_async_error)(ncclComm*, int*);
    int (*comm_count)(ncclComm*, int*);
    int (*comm_device)(ncclComm*, int*);
    int (*comm_rank)(ncclComm*, int*);
    int (*comm_register)(ncclComm*, void*, std::size_t, void**); ///< null before 2.19, as the next
    int (*comm_deregister)(ncclComm*, void*);
    int (*all_reduce)(const void*, void*, std::size_t, int, int, ncclComm*, cudaStream_t);
    int (*reduce)(const void*, void*, std::size_t, int, int, int, ncclComm*, cudaStream_t);
    int (*broadcast)(const void*, void*, std::size_t, int, int, ncclComm*, cudaStream_t);
    int (*all_gather)(const void*, void*, std::size_t, int, ncclComm*, cudaStream_t);
    int (*reduce_scatter)(const void*, void*, std::size_t, int, int, ncclComm*, cudaStream_t);
    int (*send)(const void*, std::size_t, int, int, ncclComm*, cudaStream_t);
    int (*recv)(void*, std::size_t, int, int, ncclComm*, cudaStream_t);
    int (*group_start)();
    int (*group_end)();
};

/// Returns the functions, and loads NCCL at the first call. Throws Error if there is no NCCL, or one that is too old.
[[nodiscard]] const NcclLibrary& nccl_library();

} // namespace cudag::nccl::detail
