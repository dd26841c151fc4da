// Whether a stream is as it should be after a capture, or a call, that failed.
#pragma once

#include "test.hpp"

/// Whether `stream` runs work as if nothing had gone wrong in it.
inline bool is_usable(cudag::StreamRef stream) {
    const auto cell = device({0});
    cudag::launch(stream, {}, store, cell.data(), 5);
    cudag::check(cudaStreamSynchronize(stream.get()));
    return read(cell) == std::vector{5};
}
