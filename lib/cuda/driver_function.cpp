// Fetching of the driver's functions by name.
#include "driver_function.hpp"

#include "compat.hpp"
#include "failure.hpp"

#include <cuda_runtime_api.h>

#include <fmt/format.h>

namespace cudag::detail {

namespace {

void* query_driver_function(const char* name, int since) {
    void* address = nullptr;
    checked(compat::driver_entry_point(name, static_cast<unsigned>(since), &address),
            "cudaGetDriverEntryPointByVersion");
    return address;
}

} // namespace

void* driver_function(const char* name, int since) {
    int version = 0;
    checked(cudaDriverGetVersion(&version), "cudaDriverGetVersion");
    return version >= since ? query_driver_function(name, since) : nullptr;
}

void* needed_driver_function(const char* name, const char* consequence) {
    void* const address = query_driver_function(name, oldest_version);
    if (address == nullptr)
        refuse<Error>(fmt::format("the CUDA driver has no {}{}", name, consequence), {}, cudaErrorInsufficientDriver);
    return address;
}

} // namespace cudag::detail
