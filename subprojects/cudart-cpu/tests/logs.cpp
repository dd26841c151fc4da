// The log: what it says, how it is read, its limits.
#include "check.hpp"

#include <cudart_cpu/control.hpp>

#include <cstring>
#include <string>
#include <vector>

#if CUDART_VERSION >= 13000

namespace {

constexpr std::size_t whole_log = 25600;

std::string dump(cudaLogIterator* from, std::size_t capacity = whole_log) {
    std::vector<char> buffer(capacity, '\0');
    std::size_t size = capacity;
    CHECK_OK(cudaLogsDumpToMemory(from, buffer.data(), &size, 0));
    CHECK(std::strlen(buffer.data()) == size);
    return buffer.data();
}

cudaLogIterator current() {
    cudaLogIterator now = 0;
    CHECK_OK(cudaLogsCurrent(&now, 0));
    return now;
}

bool contains(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

void a_failing_call_leaves_its_reason_and_its_name() {
    cudaLogIterator from = current();
    CHECK(dump(&from).empty());
    CHECK_CODE(cudaErrorInvalidDevice, cudaSetDevice(3));
    const std::string text = dump(&from);
    CHECK(contains(text, "][CUDA][E] Invalid device number 3 provided"));
    CHECK(contains(text, "Returning 101 (CUDA_ERROR_INVALID_DEVICE) from cuSetDevice\n"));
    CHECK(dump(&from).empty());
}

void callbacks_hear_messages_until_unregistered() {
    std::vector<std::string> heard;
    cudaLogsCallbackHandle handle = nullptr;
    CHECK_OK(cudaLogsRegisterCallback(
        [](void* data, cudaLogLevel level, char* message, std::size_t length) {
            CHECK(level == cudaLogLevelError);
            static_cast<std::vector<std::string>*>(data)->emplace_back(message, length);
        },
        &heard, &handle));
    CHECK_CODE(cudaErrorInvalidDevice, cudaSetDevice(3));
    CHECK(heard.size() == 2 && contains(heard[0], "number 3"));
    CHECK_OK(cudaLogsUnregisterCallback(handle));
    CHECK_CODE(cudaErrorInvalidDevice, cudaSetDevice(3));
    CHECK(heard.size() == 2);
    CHECK_CODE(cudaErrorInvalidValue, cudaLogsUnregisterCallback(handle));
}

void the_log_keeps_the_newest_messages() {
    cudaLogIterator from = current();
    for (int device = 1000; device < 1200; ++device) {
        CHECK_CODE(cudaErrorInvalidDevice, cudaSetDevice(device));
    }
    const std::string all = dump(&from);
    CHECK(!contains(all, "number 1149 ") && contains(all, "number 1150 ") && contains(all, "number 1199 "));
    CHECK(contains(all, "Log buffer has rolled over"));
}

void a_small_buffer_gets_the_newest_messages() {
    cudaLogIterator from = current();
    CHECK_CODE(cudaErrorInvalidDevice, cudaSetDevice(1));
    CHECK_CODE(cudaErrorInvalidDevice, cudaSetDevice(2));
    const cudaLogIterator start = from;
    const std::string some = dump(&from, 200);
    CHECK(contains(some, "not large enough") && contains(some, "from cuSetDevice\n") && !contains(some, "number 1 "));
    cudaLogIterator again = start;
    char tiny[8];
    std::size_t size = sizeof tiny;
    CHECK_CODE(cudaErrorInvalidValue, cudaLogsDumpToMemory(&again, tiny, &size, 0));
    CHECK(size == 0);
}

void log_calls_are_never_chosen_to_fail() {
    cudart_cpu::fail_call(1, cudaErrorUnknown);
    current();
    CHECK_CODE(cudaErrorUnknown, cudaDeviceSynchronize());
}

void a_query_that_is_not_ready_is_no_message() {
    cudaLogIterator from = current();
    bool done = false;
    CHECK_OK(cudaLaunchHostFunc(
        nullptr,
        [](void* flag) {
            while (!__atomic_load_n(static_cast<bool*>(flag), __ATOMIC_ACQUIRE)) {
            }
        },
        &done));
    CHECK_CODE(cudaErrorNotReady, cudaStreamQuery(nullptr));
    __atomic_store_n(&done, true, __ATOMIC_RELEASE);
    CHECK_OK(cudaDeviceSynchronize());
    CHECK(dump(&from).empty());
}

} // namespace

int main() {
    a_failing_call_leaves_its_reason_and_its_name();
    callbacks_hear_messages_until_unregistered();
    the_log_keeps_the_newest_messages();
    a_small_buffer_gets_the_newest_messages();
    log_calls_are_never_chosen_to_fail();
    a_query_that_is_not_ready_is_no_message();
}

#else

int main() {
    return 77;
}

#endif
