// cudag's state for each thread.
#pragma once

#include "function_cache.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace cudag::detail {

class MadeMemory;
struct OpenCaptureRecord;

/// The state of a thread. A small object, because dlopen has little memory for thread-local variables: see
/// tests/plugin. Larger objects are behind pointers: see kept_by_thread.
struct ThreadState {
    bool has_context = false;                                            ///< see bind_context
    bool is_observing = false;                                           ///< an observer runs: see observing.cpp
    std::uint16_t no_waiting = 0;                                        ///< number of its NoWaiting objects
    unsigned log_position = 0;                                           ///< the thread's position in CUDA's log
    FunctionCache<64>* functions = nullptr;                              ///< launched by the thread
    std::vector<std::shared_ptr<OpenCaptureRecord>>* captures = nullptr; ///< begun by the thread
    MadeMemory* made_memory = nullptr;                                   ///< the list of its allocations; null: none
};

/// Uses the initial-exec model: read without a call, for example by each update of a node.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local ThreadState thread_state;

/// Ensures that the end of this thread deletes all objects of its state.
void end_with_thread();

/// The object of this thread behind `pointer`, a member of its state. Made by the first call.
template <class Kept>
[[nodiscard]] Kept& kept_by_thread(Kept*& pointer) {
    if (pointer == nullptr) [[unlikely]] {
        end_with_thread();
        pointer = new Kept;
    }
    return *pointer;
}

} // namespace cudag::detail
