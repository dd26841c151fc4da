// cuFFT, captured.
#include <stdexcept>
#include <string>

#include <catch.hpp>
#include <cufft.h>

#include "memory.hpp"

using cudag::capture;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Stream;

namespace {

void require(cufftResult result) {
    if (result != CUFFT_SUCCESS) throw std::runtime_error("cuFFT: " + std::to_string(static_cast<int>(result)));
}

/// Complex numbers, forth and back again, in a stream.
struct Transform {
    static constexpr int length = 1000; // no power of two, so that it takes several kernels

    explicit Transform(const Stream& stream) {
        require(cufftPlan1d(&plan, length, CUFFT_C2C, 1));
        require(cufftSetStream(plan, stream.get()));
    }
    ~Transform() { cufftDestroy(plan); }
    Transform(const Transform&) = delete;
    Transform& operator=(const Transform&) = delete;

    void enqueue() const {
        auto* in = reinterpret_cast<cufftComplex*>(signal.data());
        auto* out = reinterpret_cast<cufftComplex*>(spectrum.data());
        require(cufftExecC2C(plan, in, out, CUFFT_FORWARD));
        require(cufftExecC2C(plan, out, out, CUFFT_INVERSE));
    }

    cufftHandle plan = 0;
    DeviceBuffer<float> signal{2 * length};
    DeviceBuffer<float> spectrum{2 * length};
};

} // namespace

TEST_CASE("a captured cuFFT plan replays with changed inputs as it runs eagerly", "[libraries]") {
    const Stream stream;
    const Transform transform(stream);
    Exec exec = capture(stream, [&](cudaStream_t) { transform.enqueue(); }).instantiate();
    for (const unsigned seed : {1U, 20U, 300U}) {
        write(transform.signal, numbers(transform.signal.size(), seed));
        transform.enqueue();
        stream.synchronize();
        const std::vector<float> expected = read(transform.spectrum);
        write(transform.spectrum, std::vector<float>(transform.spectrum.size(), -1));
        exec.launch(stream);
        stream.synchronize();
        CHECK(read(transform.spectrum) == expected);
    }
}

TEST_CASE("a captured cuFFT plan runs on other buffers that it is bound to", "[libraries][bind]") {
    const Stream stream;
    const Transform transform(stream);
    transform.enqueue();
    stream.synchronize();
    const cudag::Graph graph = capture(stream, [&](cudaStream_t) { transform.enqueue(); });
    const auto signal = graph.parameter(transform.signal, {.in_objects = true});
    const auto spectrum = graph.parameter(transform.spectrum, {.in_objects = true});
    Exec exec = graph.instantiate();
    const std::vector<float> untouched(transform.spectrum.size(), -1);
    for (const unsigned seed : {20U, 300U}) {
        const DeviceBuffer<float> other_signal(transform.signal.size()), other_spectrum(transform.spectrum.size());
        write(transform.signal, numbers(transform.signal.size(), seed));
        write(other_signal, numbers(transform.signal.size(), seed));
        transform.enqueue();
        stream.synchronize();
        const std::vector<float> expected = read(transform.spectrum);
        write(transform.signal, untouched);
        write(transform.spectrum, untouched);
        CHECK(exec.bind({{signal, other_signal}, {spectrum, other_spectrum}}) >= 2);
        exec.launch(stream);
        stream.synchronize();
        CHECK(read(other_spectrum) == expected);
        CHECK(read(transform.spectrum) == untouched);
    }
}
