// The frame of every exported function: counting, fault injection, error codes, the last error, the log.
#pragma once

#include "fault.hpp"
#include "kernel_failure.hpp"
#include "process_modules.hpp"

#include <cuda_runtime_api.h>

#include <string>
#include <type_traits>
#include <utility>

/// Marks a function of the CUDA API as part of the library's ABI.
#define CUDART_CPU_API extern "C" __attribute__((visibility("default")))

namespace cudart_cpu::detail {

/// Thrown inside an entry point: becomes its return code, the thread's last error, and a line in the log.
struct Failure {
    cudaError_t code;
    std::string text;
};

/// Throws Failure. `text` is the driver's line in the log; if empty, the log only has the line of the returned code.
[[noreturn]] void fail(cudaError_t code, std::string text);

/// Throws cudaErrorInvalidValue unless `pointer` is set; `what` names the parameter.
void require_pointer(const void* pointer, const char* what);

/// Whether a failing call sets the last error: the runtime's functions do, the driver's do not.
enum class LastError { set, keep };

/// Throws cudaErrorInitializationError in a child of fork() whose parent has used CUDA.
void refuse_in_forked_child();
/// Throws cudaErrorNotPermitted if the thread is inside a host function.
void refuse_inside_host_function();

/// Throws the error of a failed kernel: CUDA does nothing more after one.
void refuse_after_kernel_failure();
/// Lets later calls succeed again.
void forget_kernel_failure() noexcept;
/// Records that this thread's call waits for work or finds that it has ended: then the call reports its failure.
void note_wait() noexcept;
void begin_waits() noexcept;
/// Throws the error of a failed kernel if the call has waited.
void refuse_if_awaited_failed();

/// During its life, this thread's calls of the runtime's functions are part of a call of the driver. They are not
/// counted, bind no context and record no failure: the driver's call does that.
class WithinDriverCall {
  public:
    WithinDriverCall() noexcept;
    WithinDriverCall(const WithinDriverCall&) = delete;
    WithinDriverCall& operator=(const WithinDriverCall&) = delete;
    ~WithinDriverCall();

    /// The log's line of the last failed call.
    std::string text;

  private:
    WithinDriverCall* outer_;
};
[[nodiscard]] bool is_within_driver_call() noexcept;

/// Records a failed call (log, and last error if asked); returns `code`.
cudaError_t end_failed_call(const char* name, LastError last_error, cudaError_t code, const std::string& text) noexcept;

/// Inside a catch block: turns the exception in flight into a recorded failure.
cudaError_t end_thrown_call(const char* name, LastError last_error) noexcept;

template <class Body>
cudaError_t call(const char* name, LastError last_error, Body&& body) noexcept {
    try {
        if (!is_within_driver_call()) count_call();
        if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
            std::forward<Body>(body)();
            return cudaSuccess;
        } else {
            const cudaError_t code = std::forward<Body>(body)();
            return code == cudaSuccess ? code : end_failed_call(name, last_error, code, {});
        }
    } catch (...) {
        return end_thrown_call(name, last_error);
    }
}

/// Binds a context to the thread, as most runtime calls do. The driver's functions need one.
void bind_context() noexcept;
/// Takes the context from the thread again.
void unbind_context() noexcept;
[[nodiscard]] bool has_context() noexcept;

/// Runs one function of the runtime API. `body` returns cudaError_t or void, and may throw Failure or std::bad_alloc.
template <class Body>
cudaError_t api(const char* name, Body&& body) noexcept {
    return call(name, LastError::set, [&] {
        require_only_runtime();
        refuse_in_forked_child();
        refuse_inside_host_function();
        bind_context();
        refuse_after_kernel_failure();
        begin_waits();
        if constexpr (std::is_void_v<std::invoke_result_t<Body>>) {
            std::forward<Body>(body)();
            refuse_if_awaited_failed();
        } else {
            const cudaError_t code = std::forward<Body>(body)();
            if (code == cudaSuccess) refuse_if_awaited_failed();
            return code;
        }
    });
}

/// Runs one of the few runtime functions that bind no context.
template <class Body>
cudaError_t api_without_context(const char* name, Body&& body) noexcept {
    return call(name, LastError::set, [&] {
        require_only_runtime();
        refuse_in_forked_child();
        refuse_inside_host_function();
        return std::forward<Body>(body)();
    });
}

/// Runs a runtime function permitted in a child of fork() and next to another runtime, such as lookups of the log's
/// functions. Takes no lock, since another thread of the parent may have held it.
template <class Body>
cudaError_t api_in_forked_child(const char* name, Body&& body) noexcept {
    return call(name, LastError::set, [&] {
        refuse_inside_host_function();
        return std::forward<Body>(body)();
    });
}

/// Runs a runtime function that host functions may call, too.
template <class Body>
cudaError_t api_anywhere(const char* name, Body&& body) noexcept {
    return call(name, LastError::set, [&] {
        require_only_runtime();
        return std::forward<Body>(body)();
    });
}

/// Lets the driver's functions be called: cuInit does, and every function of the runtime that binds a context.
void initialise_driver() noexcept;
/// Throws cudaErrorInitializationError, the driver's CUDA_ERROR_NOT_INITIALIZED, before that.
void require_initialised_driver();

/// Runs a function of the driver API that may come before cuInit.
template <class Body>
cudaError_t driver_api_anytime(const char* name, Body&& body) noexcept {
    return call(name, LastError::keep, [&] {
        require_only_runtime();
        return std::forward<Body>(body)();
    });
}

/// Runs a function of the driver API. CUresult has the same numbers: cast the result.
template <class Body>
cudaError_t driver_api(const char* name, Body&& body) noexcept {
    return call(name, LastError::keep, [&] {
        require_only_runtime();
        refuse_in_forked_child();
        refuse_inside_host_function();
        require_initialised_driver();
        return std::forward<Body>(body)();
    });
}

/// Calls a user's host function or destructor; CUDA calls made from inside it are refused with cudaErrorNotPermitted.
void run_host_function(cudaHostFn_t function, void* user_data) noexcept;

} // namespace cudart_cpu::detail
