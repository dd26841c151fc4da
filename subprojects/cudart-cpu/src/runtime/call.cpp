// The common beginning and end of every exported function.
#include "call.hpp"

#include "contexts.hpp"
#include "device_model.hpp"
#include "driver_errors.hpp"
#include "driver_names.hpp"
#include "environment.hpp"
#include "log.hpp"
#include "text.hpp"

#include <pthread.h>

#include <atomic>
#include <exception>
#include <new>

namespace cudart_cpu::detail {

namespace {

std::atomic<bool> forked_child{false};

thread_local cudaError_t last_error = cudaSuccess;
thread_local bool in_host_function = false;
thread_local bool context_bound = false;
thread_local bool has_waited = false;
thread_local WithinDriverCall* within = nullptr;
std::atomic<bool> driver_initialised{false};
/// Whether some call has returned the error of the failed kernel.
std::atomic<bool> failure_told{false};
std::atomic<bool> used{false};

/// A child of fork() contains only the thread that called it. CUDA refuses its calls if the parent has used CUDA
/// before.
void note_child() noexcept {
    forked_child.store(used.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

[[maybe_unused]] const int child_is_noted = pthread_atfork(nullptr, nullptr, note_child);

/// Logs a returned code. Codes of the runtime alone get no such line: no function of the driver returned them.
void log_returned(const char* name, cudaError_t code) noexcept {
    const char* code_name = driver_error_name(static_cast<int>(code));
    if (code_name == nullptr) {
        return;
    }
    try {
        log_error(text("Returning ", static_cast<int>(code), " (", code_name, ") from ", driver_function_name(name)));
    } catch (const std::bad_alloc&) {
        // The caller still gets the code.
    }
}

} // namespace

void fail(cudaError_t code, std::string text) {
    throw Failure{code, std::move(text)};
}

void require_pointer(const void* pointer, const char* what) {
    if (pointer == nullptr) {
        fail(cudaErrorInvalidValue, text(what, " cannot be NULL"));
    }
}

void bind_context() noexcept {
    if (context_bound || within != nullptr) {
        return;
    }
    context_bound = true;
    settle_current_device();
    note_primary_use(current_device());
    used.store(true, std::memory_order_relaxed);
    initialise_driver();
}

void unbind_context() noexcept {
    context_bound = false;
}

WithinDriverCall::WithinDriverCall() noexcept : outer_(std::exchange(within, this)) {}

WithinDriverCall::~WithinDriverCall() {
    within = outer_;
}

bool is_within_driver_call() noexcept {
    return within != nullptr;
}

void initialise_driver() noexcept {
    driver_initialised.store(true, std::memory_order_relaxed);
}

void require_initialised_driver() {
    if (!driver_initialised.load(std::memory_order_relaxed))
        fail(cudaErrorInitializationError, "the driver is not initialised: call cuInit(0) first");
}

bool is_forked_child() noexcept {
    return forked_child.load(std::memory_order_relaxed);
}

bool has_context() noexcept {
    return context_bound;
}

void refuse_in_forked_child() {
    if (is_forked_child()) {
        fail(cudaErrorInitializationError, {});
    }
}

void refuse_inside_host_function() {
    if (in_host_function) {
        fail(cudaErrorNotPermitted, "CUDA driver does not allow certain callbacks to invoke its APIs");
    }
}

void refuse_after_kernel_failure() {
    const cudaError_t code = kernel_failure();
    if (code == cudaSuccess) [[likely]]
        return;
    failure_told.store(true, std::memory_order_relaxed);
    fail(code, {});
}

void forget_kernel_failure() noexcept {
    clear_kernel_failure();
    failure_told.store(false, std::memory_order_relaxed);
}

void note_wait() noexcept {
    has_waited = true;
}

void begin_waits() noexcept {
    has_waited = false;
}

void refuse_if_awaited_failed() {
    if (has_waited) refuse_after_kernel_failure();
}

/// Returns a kernel's error once a call has returned it; it stays.
cudaError_t told_failure() noexcept {
    return failure_told.load(std::memory_order_relaxed) ? kernel_failure() : cudaSuccess;
}

cudaError_t end_failed_call(const char* name, LastError remember, cudaError_t code,
                            const std::string& message) noexcept {
    if (within != nullptr) {
        within->text = message;
        return code;
    }
    // cudaErrorNotReady reports pending work: it is no failure.
    if (code == cudaErrorNotReady) {
        return code;
    }
    if (remember == LastError::set) {
        last_error = code;
    }
    if (is_forked_child()) {
        return code; // another thread of the parent may have held the log's lock
    }
    if (!message.empty()) {
        log_error(message);
    }
    log_returned(name, code);
    return code;
}

cudaError_t end_thrown_call(const char* name, LastError remember) noexcept {
    try {
        throw;
    } catch (const Failure& failure) {
        return end_failed_call(name, remember, failure.code, failure.text);
    } catch (const std::bad_alloc&) {
        return end_failed_call(name, remember, cudaErrorMemoryAllocation, {});
    } catch (const std::exception& error) {
        return end_failed_call(name, remember, cudaErrorUnknown, error.what());
    }
}

void run_host_function(cudaHostFn_t function, void* user_data) noexcept {
    const bool nested = std::exchange(in_host_function, true);
    function(user_data);
    in_host_function = nested;
}

} // namespace cudart_cpu::detail

using cudart_cpu::detail::last_error;

CUDART_CPU_API cudaError_t cudaGetLastError() {
    const cudaError_t code = std::exchange(last_error, cudaSuccess);
    return code == cudaSuccess ? cudart_cpu::detail::told_failure() : code;
}

CUDART_CPU_API cudaError_t cudaPeekAtLastError() {
    return last_error == cudaSuccess ? cudart_cpu::detail::told_failure() : last_error;
}
