// cudaGetDriverEntryPoint, cudaGetDriverEntryPointByVersion and cuGetProcAddress.
#include "driver_frame.hpp"
#include "driver_functions.hpp"
#include "driver_table.hpp"
#include "runtime/call.hpp"
#include "runtime/driver_version.hpp"
#include "runtime/text.hpp"

#include <algorithm>

namespace cudart_cpu::detail {

namespace {

void look_up(const char* symbol, void** address, unsigned version, unsigned long long flags,
             cudaDriverEntryPointQueryResult* status) {
    require_pointer(symbol, "symbol");
    require_pointer(address, "funcPtr");
    if (flags > cudaEnablePerThreadDefaultStream)
        fail(cudaErrorInvalidValue, text("flags ", flags,
                                         " are none of cudaEnableDefault (0), cudaEnableLegacyStream "
                                         "(1) and cudaEnablePerThreadDefaultStream (2)"));
    const auto here = static_cast<unsigned>(driver_version());
    if (version > here)
        fail(cudaErrorInvalidValue, text("CUDA version ", version, " is later than the driver's ", here));
    const bool per_thread =
        flags == cudaEnablePerThreadDefaultStream || (flags == cudaEnableDefault && is_null_per_thread());
    const driver::FoundEntry found = driver::find_entry(
        symbol, version, per_thread ? driver::DefaultStream::per_thread : driver::DefaultStream::legacy);
    *address = found.address;
    if (status == nullptr) return;
    switch (found.result) {
    case driver::Lookup::found:
        *status = cudaDriverEntryPointSuccess;
        return;
    case driver::Lookup::version_too_old:
        *status = cudaDriverEntryPointVersionNotSufficent;
        return;
    case driver::Lookup::missing:
        *status = cudaDriverEntryPointSymbolNotFound;
        return;
    }
}

} // namespace

namespace driver {

static_assert(CU_GET_PROC_ADDRESS_DEFAULT == int{cudaEnableDefault});
static_assert(CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM == int{cudaEnablePerThreadDefaultStream});

CUresult get_proc_address(const char* symbol, void** function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* status) {
    return static_cast<CUresult>(driver_api_anytime("cuGetProcAddress_v2", [&] {
        if (version < 0) fail(cudaErrorInvalidValue, text("CUDA version ", version, " does not exist"));
        auto found = cudaDriverEntryPointSymbolNotFound;
        look_up(symbol, function, static_cast<unsigned>(version), flags, &found);
        if (status != nullptr) *status = static_cast<CUdriverProcAddressQueryResult>(found);
        if (found != cudaDriverEntryPointSuccess)
            fail(cudaErrorSymbolNotFound, text("cudart-cpu's driver has no ", symbol, " of CUDA ", version));
    }));
}

CUresult get_proc_address_v1(const char* symbol, void** function, int version, cuuint64_t flags) {
    return get_proc_address(symbol, function, version, flags, nullptr);
}

} // namespace driver

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t CUDARTAPI cudaGetDriverEntryPoint(const char* symbol, void** funcPtr,
                                                             unsigned long long flags,
                                                             enum cudaDriverEntryPointQueryResult* driverStatus) {
    return api_in_forked_child("cudaGetDriverEntryPoint", [&] {
        const int version = std::min(CUDA_VERSION, driver_version());
        initialise_driver();
        look_up(symbol, funcPtr, static_cast<unsigned>(version), flags, driverStatus);
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI
cudaGetDriverEntryPointByVersion(const char* symbol, void** funcPtr, unsigned int cudaVersion, unsigned long long flags,
                                 enum cudaDriverEntryPointQueryResult* driverStatus) {
    return api_in_forked_child("cudaGetDriverEntryPointByVersion", [&] {
        initialise_driver();
        look_up(symbol, funcPtr, cudaVersion, flags, driverStatus);
    });
}
