// Reads CUDA's log buffer: lines like "[time][thread][CUDA][E] text", ended by "Returning <code> (<NAME>) from <call>".
#include "cuda_log.hpp"

#include <cudag/detail/cuda_compat.hpp>

#if CUDAG_HAS_CUDA_LOGS

#include <fmt/format.h>

#include <pthread.h>

#include <algorithm>
#include <string_view>

namespace cudag::detail {

namespace {

/// The text of new lines in CUDA's log; CUDA keeps 100.
std::string new_lines() {
    constexpr std::size_t limit = 25600; // the most that CUDA hands out
    constexpr std::size_t slack = 256;   // driver 580 writes up to 96 bytes past the size it is given
    thread_local cudaLogIterator seen = 0;
    std::string text(limit + slack, '\0');
    std::size_t size = limit;
    const cudaError_t earlier = cudaPeekAtLastError();
    if (cudaLogsDumpToMemory(&seen, text.data(), &size, 0) != cudaSuccess) {
        size = 0;
        if (earlier == cudaSuccess) static_cast<void>(cudaGetLastError());
    }
    text.resize(size);
    return text;
}

} // namespace

std::string take_cuda_log(cudaError_t status) {
    const std::string text = new_lines();
    const std::string thread = fmt::format("][{}][CUDA][E] ", pthread_self());
    const std::string returning = "Returning ";
    const std::string this_failure = fmt::format("{}{} ", returning, static_cast<int>(status));
    std::string causes; // of the failure that is being read
    std::string latest; // of the latest failure that returned `status`, and whatever came after it
    std::string_view rest = text;
    while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        const std::size_t prefix = line.find(thread);
        if (prefix == std::string_view::npos) continue;
        const std::string_view message = line.substr(prefix + thread.size());
        if (message.starts_with(returning)) {
            latest = message.starts_with(this_failure) ? causes : std::string();
            causes.clear();
        } else {
            if (!causes.empty()) causes += "; ";
            causes += message;
        }
    }
    return causes.empty() ? latest : causes; // errors of the runtime's own end without a "Returning" line
}

} // namespace cudag::detail

#else

namespace cudag::detail {

std::string take_cuda_log(cudaError_t) {
    return {};
}

} // namespace cudag::detail

#endif
