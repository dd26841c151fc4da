// What cudag fetches from drivers that have more than the CPU runtime's; a program of its own, as it happens once.
#include "cuda/driver.hpp"
#include "cuda/version.hpp"

#include "catch.hpp"

#include <cudart_cpu/control.hpp>

#include <map>
#include <string>

#include <dlfcn.h>

namespace {

/// With which version each function was asked for.
std::map<std::string, unsigned> versions;

/// What the CPU runtime lacks has the address of its name here.
const std::map<std::string, unsigned> newer{{"cuFuncGetParamCount", 13020},
                                            {"cuCtxFromGreenCtx", cudag::detail::oldest_version},
                                            {"cuDevicePrimaryCtxGetState", cudag::detail::oldest_version},
                                            {"cuDevicePrimaryCtxRetain", cudag::detail::oldest_version},
                                            {"cuDevicePrimaryCtxRelease", cudag::detail::oldest_version}};

template <class F>
const void* address_of(F* function) {
    return reinterpret_cast<const void*>(function);
}

} // namespace

#if CUDART_VERSION >= 12050 // before, cudag calls cudaGetDriverEntryPoint

/// Stands before the CPU runtime's.
extern "C" cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                                                  unsigned long long flags,
                                                                  cudaDriverEntryPointQueryResult* status) {
    versions[symbol] = version;
    const auto found = newer.find(symbol);
    if (found == newer.end()) {
        const auto next = reinterpret_cast<decltype(&cudaGetDriverEntryPointByVersion)>(
            dlsym(RTLD_NEXT, "cudaGetDriverEntryPointByVersion"));
        return next(symbol, function, version, flags, status);
    }
    *function = const_cast<unsigned*>(&found->second);
    *status = cudaDriverEntryPointSuccess;
    return cudaSuccess;
}

#endif

TEST_CASE("what newer drivers have is fetched from a driver of the version that brought it") {
    if (CUDART_VERSION < 12050) {
        WARN("skipped: it needs headers of CUDA 12.5");
        return;
    }
    cudart_cpu::set_driver_version(13020);
    const cudag::detail::Driver& driver = cudag::detail::driver();
    for (const auto& [name, since] : newer) {
        CAPTURE(name);
        CHECK(versions.at(name) == since);
    }
    CHECK(address_of(driver.func_get_param_count) == &newer.at("cuFuncGetParamCount"));
    CHECK(address_of(driver.ctx_from_green_ctx) == &newer.at("cuCtxFromGreenCtx"));
    CHECK(address_of(driver.primary_ctx_get_state) == &newer.at("cuDevicePrimaryCtxGetState"));
    CHECK(address_of(driver.primary_ctx_retain) == &newer.at("cuDevicePrimaryCtxRetain"));
    CHECK(address_of(driver.primary_ctx_release) == &newer.at("cuDevicePrimaryCtxRelease"));
}
