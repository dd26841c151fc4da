// cudaHostRegister: pins memory of the program's own.
#include "capture/capture_rules.hpp"
#include "memory/allocations.hpp"
#include "runtime/call.hpp"
#include "runtime/text.hpp"
#include "stream/stream.hpp"

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
    return api("cudaHostRegister", [&] {
        constexpr unsigned known =
            cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
        require_pointer(pointer, "ptr");
        if (bytes == 0) fail(cudaErrorInvalidValue, "size must not be 0");
        if ((flags & ~known) != 0) fail(cudaErrorInvalidValue, text("host registration flags ", flags, " are unknown"));
        if ((flags & cudaHostRegisterReadOnly) != 0)
            fail(cudaErrorNotSupported, "cudaDevAttrHostRegisterReadOnlySupported is 0");
        if ((flags & cudaHostRegisterIoMemory) != 0)
            fail(cudaErrorNotSupported, "cudart-cpu registers no memory of other devices");
        refuse_unsafe_call();
        register_memory(pointer, bytes, flags);
    });
}

CUDART_CPU_API cudaError_t cudaHostUnregister(void* pointer) {
    return api("cudaHostUnregister", [&] {
        require_pointer(pointer, "ptr");
        require_registered(pointer);
        refuse_unsafe_call();
        wait_for_all_devices();
        unregister_memory(pointer);
    });
}
