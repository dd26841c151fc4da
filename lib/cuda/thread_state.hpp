// What cudag keeps for each thread.
#pragma once

#include "function_cache.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace cudag::detail {

struct OpenCaptureRecord;

/// One small object, because dlopen has little memory for thread-local variables: see tests/plugin. Larger objects
/// stand behind pointers: see kept_by_thread.
struct ThreadState {
    bool has_context = false;                                            ///< see bind_context
    std::uint16_t no_waiting = 0;                                        ///< how many NoWaiting it has
    unsigned log_position = 0;                                           ///< up to which the thread has read CUDA's log
    FunctionCache<64>* functions = nullptr;                              ///< that the thread has launched
    std::vector<std::shared_ptr<OpenCaptureRecord>>* captures = nullptr; ///< that the thread has begun
};

/// Of the initial-exec model: read without a call, as with each update of a node.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local ThreadState thread_state;

/// Makes the end of this thread delete everything that its state points to.
void end_with_thread();

/// The object of this thread that `pointer`, a member of its state, points to. The first call makes the object.
template <class Kept>
[[nodiscard]] Kept& kept_by_thread(Kept*& pointer) {
    if (pointer == nullptr) [[unlikely]] {
        end_with_thread();
        pointer = new Kept;
    }
    return *pointer;
}

} // namespace cudag::detail
