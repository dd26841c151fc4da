// Calls that find no memory.
#pragma once

#include "allocated_bytes.hpp"

#include <catch.hpp>
#include <cudag/error.hpp>

#include <cstddef>
#include <new>
#include <optional>

/// Calls `work` with the n-th allocation failing. Nothing if there is no n-th; else whether the call failed, for want
/// of memory.
template <class Work>
std::optional<bool> fails_without_allocation(std::size_t n, Work&& work) {
    bool failed = false;
    fail_allocation(n);
    try {
        work();
    } catch (const std::bad_alloc&) {
        failed = true;
    } catch (const cudag::Error& error) {
        fail_allocation(0);
        CHECK(error.code().value() == cudaErrorMemoryAllocation);
        failed = true;
    }
    return fail_allocation(0) ? std::nullopt : std::optional(failed);
}
