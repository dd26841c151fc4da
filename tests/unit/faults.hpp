// Makes every runtime call inside an operation fail, one after the other.
#pragma once

#include <cudag/error.hpp>

#include <catch.hpp>
#include <cudart_cpu/control.hpp>

#include <cstdint>
#include <type_traits>

/// How many of an operation's calls failed with an Error, and how many were ignored.
struct Faults {
    unsigned thrown = 0;
    unsigned ignored = 0;
};

namespace detail {

struct Nothing {
    void operator()() const {}
};

/// Runs `operation`; what it returns dies after the fault is disarmed. How many calls it made.
template <class Operation>
std::uint64_t run_with_fault(std::uint64_t call, cudaError_t code, Operation& operation) {
    const std::uint64_t before = cudart_cpu::call_count();
    const auto made = [&] {
        cudart_cpu::fail_call(0, cudaSuccess);
        return cudart_cpu::call_count() - before;
    };
    cudart_cpu::fail_call(call, code);
    if constexpr (std::is_void_v<std::invoke_result_t<Operation&>>) {
        operation();
        return made();
    } else {
        [[maybe_unused]] const auto result = operation();
        return made();
    }
}

inline void check_injected(const cudag::Error& error, cudaError_t code) {
    CAPTURE(error.what());
    CHECK(error.code().value() == code);
    CHECK_THAT(error.operation(), StartsWith("cu"));
    CHECK_THAT(error.what(), StartsWith("cudag: ") && ContainsSubstring(error.operation()));
    CHECK_THAT(error.log(), ContainsSubstring("fault injected"));
}

} // namespace detail

/// Runs `operation` again and again, the n-th time with its n-th runtime call failing, until it has no n-th call and so
/// succeeds undisturbed. Every failure must be one Error that names its call and holds CUDA's log, or no error at all,
/// and leave CUDA's last error clear. `prepare` goes before each run, `verify` after each failed call.
template <class Operation, class Verify = detail::Nothing, class Prepare = detail::Nothing>
Faults for_every_call_failing(Operation&& operation, Verify&& verify = {}, Prepare&& prepare = {},
                              cudaError_t code = cudaErrorMemoryAllocation) {
    Faults faults;
    for (std::uint64_t call = 1;; ++call) {
        prepare();
        CAPTURE(call);
        const std::uint64_t before = cudart_cpu::call_count();
        try {
            if (detail::run_with_fault(call, code, operation) < call) return faults;
            ++faults.ignored;
        } catch (const cudag::Error& error) {
            cudart_cpu::fail_call(0, cudaSuccess);
            if (cudart_cpu::call_count() - before < call) throw; // not on account of the fault
            ++faults.thrown;
            detail::check_injected(error, code);
        }
        CHECK(cudaGetLastError() == cudaSuccess);
        verify();
    }
}
