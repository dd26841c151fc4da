// docs/pools.md: graphs that share the memory of a pool, in a stated order.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>
#include <cudag/pool_order.hpp>

#include <cstddef>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <utility>

namespace pages {

namespace {

void order() {
    constexpr int n = 1 << 18;
    const cudag::Stream stream;
    // order begins
    cudag::CapturePool pool("activations");
    const auto step = [&](const char* name) {
        return cudag::capture(stream,
                              [&](cudag::StreamCapture& c) {
                                  const auto scratch = pool.allocate<float>(n);
                                  c.retain(pool); // later captures may use the memory again
                                  cudag::launch(c.stream(), cudag::grid_1d(n, 256), scale, n, 2.0f, scratch.data());
                              })
            .name(name);
    };
    cudag::Graph prefill = step("prefill"), decode = step("decode"), sample = step("sample");
    std::printf("three graphs share %zu KiB\n", pool.reserved_bytes() / 1024);

    const cudag::PoolOrder order(pool, {prefill, decode, sample}, {.checked = true});
    cudag::Exec first = prefill.instantiate(), second = decode.instantiate(), third = sample.instantiate();
    first.launch(stream);
    second.launch(stream);
    third.launch(stream);
    first.launch(stream); // the next round
    try {
        third.launch(stream);
    } catch (const cudag::Error& error) {
        std::puts(error.what());
    }
    // order ends
    if (order.launches() != 4) throw std::runtime_error("a launch out of the order has run");
    stream.synchronize();
}

void freed() {
    constexpr int n = 1 << 10;
    const cudag::Stream stream;
    // freed begins
    cudag::CapturePool pool("activations");
    std::optional<cudag::DeviceBuffer<float>> weights(n);
    cudag::GraphBuilder b;
    b.kernel(cudag::grid_1d(n, 256), scale, n, 2.0f, weights->data()).label("project"); // borrows them
    b.retain(pool);
    cudag::Graph decode = std::move(b).build().name("decode");
    cudag::Exec exec = decode.instantiate();
    const cudag::PoolOrder order(pool, {decode}, {.checked = true});
    weights.reset();
    try {
        exec.launch(stream);
    } catch (const cudag::Error& error) {
        std::puts(error.what());
    }
    // freed ends
    if (order.launches() != 0) throw std::runtime_error("a launch with freed memory has run");
}

} // namespace

void pools() {
    order();
    freed();
}

} // namespace pages
