// cuLogs*.
#include "driver_functions.hpp"
#include "runtime/log_reading.hpp"

namespace cudart_cpu::detail::driver {

CUresult logs_current(unsigned* next, unsigned) {
    return static_cast<CUresult>(log_api(
        "cuLogsCurrent", [&] { find_log_end(next); }, LastError::keep));
}

CUresult logs_dump_to_memory(unsigned* next, char* buffer, std::size_t* size, unsigned) {
    return static_cast<CUresult>(log_api(
        "cuLogsDumpToMemory", [&] { dump_log(next, buffer, size); }, LastError::keep));
}

} // namespace cudart_cpu::detail::driver
