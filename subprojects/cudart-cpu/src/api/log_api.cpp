// cudaLogs*. As on a GPU, flags other than 0 are ignored.
#include "runtime/cuda_versions.hpp"
#include "runtime/log_reading.hpp"

#include <cstdio>

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t cudaLogsRegisterCallback(cudaLogsCallback_t callback, void* user_data,
                                                    cudaLogsCallbackHandle* callback_out) {
    return log_api("cudaLogsRegisterCallback", [&] {
        require_pointer(reinterpret_cast<const void*>(callback), "callbackFunc");
        const std::uintptr_t handle = Log::instance().add_callback(
            [=](std::string message) { callback(user_data, cudaLogLevelError, message.data(), message.size()); });
        if (callback_out != nullptr) {
            *callback_out = reinterpret_cast<cudaLogsCallbackHandle>(handle);
        }
    });
}

CUDART_CPU_API cudaError_t cudaLogsUnregisterCallback(cudaLogsCallbackHandle callback) {
    return log_api("cudaLogsUnregisterCallback", [&] {
        require_pointer(callback, "Callback handle");
        if (!Log::instance().remove_callback(reinterpret_cast<std::uintptr_t>(callback))) {
            fail(cudaErrorInvalidValue, "callback is not registered");
        }
    });
}

CUDART_CPU_API cudaError_t cudaLogsCurrent(cudaLogIterator* iterator_out, unsigned) {
    return log_api("cudaLogsCurrent", [&] { find_log_end(iterator_out); });
}

CUDART_CPU_API cudaError_t cudaLogsDumpToFile(cudaLogIterator* iterator, const char* path, unsigned) {
    return log_api("cudaLogsDumpToFile", [&] {
        require_pointer(path, "pathToFile");
        const Log::Lines lines = read_log(iterator);
        std::FILE* file = std::fopen(path, "w");
        if (file == nullptr) {
            fail(cudaErrorInvalidValue, std::string("cannot write ") + path);
        }
        if (lines.lost_some) {
            std::fputs(lost_note, file);
        }
        for (const std::string& line : lines.text) {
            std::fputs(line.c_str(), file);
        }
        if (std::fclose(file) != 0) {
            fail(cudaErrorInvalidValue, std::string("cannot write ") + path);
        }
        advance_log(iterator, lines);
    });
}

CUDART_CPU_API cudaError_t cudaLogsDumpToMemory(cudaLogIterator* iterator, char* buffer, std::size_t* size, unsigned) {
    return log_api("cudaLogsDumpToMemory", [&] { dump_log(iterator, buffer, size); });
}
