// What cudag keeps for each thread.
#pragma once

#include "function_cache.hpp"

#include <memory>
#include <vector>

namespace cudag::detail {

struct OpenCaptureRecord;

/// All of it in one object, because dlopen has little memory for thread-local variables: see tests/plugin. What is
/// larger stands behind a pointer, and goes with the thread once `end_with_thread` was called.
struct ThreadState {
    bool has_context = false;                                            ///< see bind_context
    unsigned log_position = 0;                                           ///< how far the thread has read CUDA's log
    FunctionCache<64>* functions = nullptr;                              ///< that the thread has launched
    std::vector<std::shared_ptr<OpenCaptureRecord>>* captures = nullptr; ///< that the thread has begun
};

/// Of the initial-exec model: read without a call, as with each update of a node.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local ThreadState thread_state;

/// Has the end of this thread delete what its state points to.
void end_with_thread();

} // namespace cudag::detail
