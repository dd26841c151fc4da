// The deleter of values stored by copied(): a footprint recognises them behind an owner.
#pragma once

#include <cudag/config.hpp>

#include <cstddef>

namespace cudag::detail {

struct CUDAG_EXPORT HostCopyRelease {
    void operator()(const void* copy) const noexcept { destroy(copy); }

    const void* data;
    std::size_t bytes;
    void (*destroy)(const void* copy) noexcept;
};

} // namespace cudag::detail
