// cudag's state for each thread.
#include "thread_state.hpp"

#include "open_capture_record.hpp"

#include <utility>

namespace cudag::detail {

void end_with_thread() {
    thread_local struct End {
        ~End() { // a later destructor of the thread may launch, and finds null
            delete std::exchange(thread_state.functions, nullptr);
            delete std::exchange(thread_state.captures, nullptr);
        }
    } end;
}

} // namespace cudag::detail
