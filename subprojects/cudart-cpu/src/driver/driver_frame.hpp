// The frame of the driver's functions, and those that are a function of the runtime under another name.
#pragma once

#include "runtime/call.hpp"
#include "runtime/contexts.hpp"
#include "runtime/driver_errors.hpp"
#include "stream/stream.hpp"

#include <cuda.h>

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

namespace cudart_cpu::detail::driver {

/// The driver's code for one of the runtime's: most have the same number.
inline cudaError_t driver_code(cudaError_t code) noexcept {
    switch (code) {
    case cudaErrorInvalidDeviceFunction:
        return cudaErrorInvalidResourceHandle;
    case cudaErrorInvalidSymbol:
        return cudaErrorSymbolNotFound;
    default:
        return driver_error_name(static_cast<int>(code)) != nullptr ? code : cudaErrorInvalidValue;
    }
}

/// Calls a function of the runtime as part of a driver's function. Throws Failure with its code and text.
template <class Body>
cudaError_t through(Body&& body) {
    WithinDriverCall within;
    const cudaError_t code = body();
    if (code != cudaSuccess && code != cudaErrorNotReady) throw Failure{driver_code(code), std::move(within.text)};
    return code;
}

template <class Body>
CUresult answer(const char* name, Body&& body) noexcept {
    return static_cast<CUresult>(driver_api(name, [&] {
        try {
            return body();
        } catch (Failure& failure) {
            failure.code = driver_code(failure.code);
            throw;
        }
    }));
}

/// For functions that need a context of the thread.
template <class Body>
CUresult answer_in_context(const char* name, Body&& body) noexcept {
    return answer(name, [&] {
        require_current_context();
        return body();
    });
}

/// Throws unless the thread has a context or the stream belongs to one.
inline void require_context_of(CUstream stream) {
    if (stream == nullptr || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD) require_current_context();
}

/// What a function needs.
enum class Needs { nothing, context };

/// The name of a function, as a template's argument.
template <std::size_t size>
struct Name {
    constexpr Name(const char (&name)[size]) {
        for (std::size_t i = 0; i < size; ++i)
            text[i] = name[i];
    }
    char text[size] = {};
};

/// Converts a parameter: the runtime's types are the driver's under other names, apart from addresses.
template <class To, class From>
To parameter_of_runtime(const From& value) noexcept {
    if constexpr (std::is_class_v<From>) {
        static_assert(sizeof(To) == sizeof(From) && std::is_trivially_copyable_v<To>);
        To converted;
        std::memcpy(&converted, &value, sizeof converted);
        return converted;
    } else {
        return (To)value; // NOLINT: of one of several kinds
    }
}

/// The runtime's function as the driver's: the same parameters in the same order.
template <Name name, class Signature, auto runtime, Needs needs>
struct Forward;

template <Name name, class... Params, class... Of, cudaError_t (*runtime)(Of...), Needs needs>
struct Forward<name, CUresult(CUDAAPI*)(Params...), runtime, needs> {
    static_assert(sizeof...(Params) == sizeof...(Of), "the functions have different parameters");

    static CUresult CUDAAPI call(Params... params) {
        return answer(name.text, [&] {
            if constexpr (needs == Needs::context) require_current_context();
            (require_context_of_parameter(params), ...);
            return through([&] { return runtime(parameter_of_runtime<Of>(params)...); });
        });
    }

  private:
    template <class Param>
    static void require_context_of_parameter([[maybe_unused]] const Param& param) {
        if constexpr (std::is_same_v<Param, CUstream>) require_context_of(param);
    }
};

/// The variant of a function for code compiled for per-thread default streams.
template <auto function>
struct PerThread;

template <class... Params, CUresult(CUDAAPI* function)(Params...)>
struct PerThread<function> {
    static CUresult CUDAAPI call(Params... params) {
        const PerThreadDefault here;
        return function(params...);
    }
};

} // namespace cudart_cpu::detail::driver
