// cuBLAS, captured.
#include <stdexcept>
#include <string>

#include <catch.hpp>

#include "blas.hpp"
#include "memory.hpp"

using cudag::capture;
using cudag::CaptureError;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::NodeKind;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

struct Chain {
    Stream stream;
    Blas blas{stream};
    DeviceBuffer<float> workspace{std::size_t{8} << 20U};
    DeviceBuffer<float> a{cells};
    DeviceBuffer<float> b{cells};
    DeviceBuffer<float> ab{cells};
    DeviceBuffer<float> abb{cells};

    Chain() { require(cublasSetWorkspace(blas.handle, workspace.data(), workspace.size_bytes())); }

    void set(unsigned seed) const {
        write(a, numbers(cells, seed));
        write(b, numbers(cells, seed + 1));
    }
    void enqueue() const {
        multiply(blas, a, b, ab);
        multiply(blas, ab, b, abb);
    }
    [[nodiscard]] std::vector<float> eager() const {
        enqueue();
        stream.synchronize();
        return read(abb);
    }
};

} // namespace

TEST_CASE("a captured cuBLAS chain replays with changed inputs as it runs eagerly", "[libraries]") {
    const Chain chain;
    chain.set(1);
    const Graph graph = capture(chain.stream, [&](StreamCapture& c) {
        c.retain(chain.workspace);
        c.step("gemm 1", [&] { multiply(chain.blas, chain.a, chain.b, chain.ab); });
        c.step("gemm 2", [&] { multiply(chain.blas, chain.ab, chain.b, chain.abb); });
    });
    Exec exec = graph.instantiate();
    for (const unsigned seed : {1U, 20U, 300U}) {
        chain.set(seed);
        const std::vector<float> expected = chain.eager();
        write(chain.abb, std::vector<float>(cells, -1));
        exec.launch(chain.stream);
        chain.stream.synchronize();
        CHECK(read(chain.abb) == expected);
    }
}

TEST_CASE("a captured cuBLAS chain runs on other buffers that it is bound to as it does eagerly", "[libraries][bind]") {
    const Chain chain;
    chain.set(1);
    const Graph graph = capture(chain.stream, [&](StreamCapture& c) {
        c.retain(chain.workspace);
        chain.enqueue();
    });
    const auto a = graph.parameter(chain.a, {.in_objects = true});
    const auto b = graph.parameter(chain.b, {.in_objects = true});
    const auto abb = graph.parameter(chain.abb, {.in_objects = true});
    Exec exec = graph.instantiate();
    const std::vector<float> untouched(cells, -1);
    for (const unsigned seed : {20U, 300U}) {
        chain.set(seed);
        const std::vector<float> expected = chain.eager();
        const DeviceBuffer<float> other_a(cells), other_b(cells), other_abb(cells);
        write(other_a, read(chain.a));
        write(other_b, read(chain.b));
        chain.set(1);
        write(chain.abb, untouched);
        CHECK(exec.bind({{a, other_a}, {b, other_b}, {abb, other_abb}}) >= 2);
        exec.launch(chain.stream);
        chain.stream.synchronize();
        CHECK(read(other_abb) == expected);
        CHECK(read(chain.abb) == untouched);
    }
}

TEST_CASE("kernels of cuBLAS are opaque but have their label, function name and grid", "[libraries]") {
    const Chain chain;
    const Graph graph = capture(chain.stream, [&](StreamCapture& c) { c.step("gemms", [&] { chain.enqueue(); }); });
    REQUIRE(graph.node_count() >= 2);
    std::size_t kernels = 0;
    for (const cudag::Node& node : graph.nodes()) {
        CHECK(node.label() == "gemms");
        if (node.kind() != NodeKind::kernel) continue;
        ++kernels;
        const cudag::KernelInfo kernel = node.kernel_info();
        CHECK_FALSE(kernel.name.empty());
        CHECK(kernel.config.grid.x * kernel.config.grid.y * kernel.config.grid.z > 0);
        CHECK(kernel.config.block.x >= 32);
        CHECK_FALSE(kernel.arguments.empty());
    }
    CHECK(kernels >= 2);
}

TEST_CASE("a captured cuBLAS call without a workspace of the user's has alloc and free nodes", "[libraries]") {
    const Stream stream;
    const Blas blas(stream);
    const DeviceBuffer<float> a(cells);
    const DeviceBuffer<float> b(cells);
    const DeviceBuffer<float> product(cells);
    write(a, numbers(cells, 5));
    write(b, numbers(cells, 6));
    const Graph graph = capture(stream, [&](cudaStream_t) { multiply(blas, a, b, product); });
    multiply(blas, a, b, product);
    stream.synchronize();
    const std::vector<float> expected = read(product);
    Exec exec = graph.instantiate();
    for (int replay = 0; replay < 3; ++replay) {
        write(product, std::vector<float>(cells, -1));
        exec.launch(stream);
        stream.synchronize();
        CHECK(read(product) == expected);
    }
}

TEST_CASE("a cuBLAS call that synchronises is named by its step", "[libraries]") {
    const Chain chain;
    chain.set(1);
    float dot = 0;
    try {
        static_cast<void>(capture(chain.stream, [&](StreamCapture& c) {
            c.step("gemm", [&] { multiply(chain.blas, chain.a, chain.b, chain.ab); });
            c.step("dot to the host",
                   [&] { cublasSdot(chain.blas.handle, side, chain.a.data(), 1, chain.ab.data(), 1, &dot); });
            c.step("never reached", [] { FAIL("the step before has broken the capture"); });
        }));
        FAIL("the capture should have been broken");
    } catch (const CaptureError& error) {
        INFO(error.what());
        CHECK(error.labels() == std::vector<std::string>{"dot to the host"});
        CHECK(error.code().value() == cudaErrorStreamCaptureUnsupported);
        CHECK_FALSE(error.operation().empty());
    }
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    chain.set(2);
    CHECK(chain.eager() == chain.eager());
}
