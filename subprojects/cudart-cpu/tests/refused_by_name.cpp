// What this runtime does not have is refused with a line that names it; tables of NVIDIA's are refused without one.
#include "check.hpp"

#include <string>

namespace {

/// The lines that `call` adds to the log.
template <class Call>
std::string log_of(Call&& call) {
#if CUDART_VERSION >= 13000
    cudaLogIterator begin{};
    CHECK_OK(cudaLogsCurrent(&begin, 0));
    call();
    static char text[25600];
    std::size_t size = sizeof text;
    static_cast<void>(cudaLogsDumpToMemory(&begin, text, &size, 0));
    return {text, size};
#else
    call();
    return {};
#endif
}

void check_refused(const char* name, cudaError_t (*call)()) {
    const std::string log = log_of([=] {
        CHECK_CODE(cudaErrorNotSupported, call());
        CHECK_CODE(cudaErrorNotSupported, cudaGetLastError());
    });
#if CUDART_VERSION >= 13000
    if (log.find(name) == std::string::npos) std::fprintf(stderr, "%s: the log says: %s\n", name, log.c_str());
    CHECK(log.find(name) != std::string::npos);
#else
    static_cast<void>(name);
#endif
}

} // namespace

int main() {
    check_refused("cudaIpcGetMemHandle", [] {
        cudaIpcMemHandle_t handle{};
        return cudaIpcGetMemHandle(&handle, nullptr);
    });
    check_refused("cudaIpcOpenMemHandle", [] {
        void* memory = nullptr;
        return cudaIpcOpenMemHandle(&memory, {}, 0);
    });
    check_refused("cudaIpcCloseMemHandle", [] { return cudaIpcCloseMemHandle(nullptr); });
    check_refused("cudaIpcGetEventHandle", [] {
        cudaIpcEventHandle_t handle{};
        return cudaIpcGetEventHandle(&handle, nullptr);
    });
    check_refused("cudaIpcOpenEventHandle", [] {
        cudaEvent_t event = nullptr;
        return cudaIpcOpenEventHandle(&event, {});
    });
    check_refused("cudaMemPoolExportPointer", [] {
        cudaMemPoolPtrExportData data{};
        return cudaMemPoolExportPointer(&data, nullptr);
    });
    check_refused("cudaImportExternalMemory", [] {
        cudaExternalMemory_t memory = nullptr;
        return cudaImportExternalMemory(&memory, nullptr);
    });
    const std::string log = log_of([] {
        const void* table = &table;
        const cudaUUID_t id{};
        CHECK_CODE(cudaErrorNotSupported, cudaGetExportTable(&table, &id));
        CHECK(table == nullptr);
        CHECK_OK(cudaGetLastError());
    });
    CHECK(log.empty());
    int device = -1;
    CHECK_OK(cudaDeviceGetAttribute(&device, cudaDevAttrIpcEventSupport, 0));
    CHECK(device == 0);
}
