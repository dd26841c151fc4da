// The version of the driver that this runtime claims to have.
#include "driver_version.hpp"

#include "call.hpp"
#include "environment.hpp"
#include "text.hpp"

#include <cudart_cpu/control.hpp>

#include <atomic>

namespace cudart_cpu {

namespace {

int default_version() {
    const auto asked = static_cast<int>(detail::number_from_environment("CUDART_CPU_DRIVER"));
    return asked != 0 ? asked : CUDART_VERSION;
}

std::atomic<int>& version() {
    static std::atomic<int> claimed{default_version()};
    return claimed;
}

} // namespace

void set_driver_version(int version_number) {
    version() = version_number != 0 ? version_number : default_version();
}

namespace detail {

int driver_version() noexcept {
    return version();
}

void require_driver(int since) {
    if (driver_version() < since)
        fail(cudaErrorCallRequiresNewerDriver,
             text("this call needs a driver of CUDA ", since / 1000, '.', since % 1000 / 10, "; this one is of ",
                  driver_version() / 1000, '.', driver_version() % 1000 / 10));
}

} // namespace detail

} // namespace cudart_cpu
