// cuBLAS and CUB in the steps of programs with breaks, and in padded calls.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <catch.hpp>

#include "blas.hpp"
#include "cub_sum.hpp"
#include "memory.hpp"

using cudag::CaptureCache;
using cudag::check;
using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::Stream;

namespace {

/// Two products; between them the host looks at the sum of the first one, and scales that.
struct Program {
    Stream stream;
    Blas blas{stream};
    DeviceBuffer<float> workspace{std::size_t{8} << 20U};
    DeviceBuffer<float> a{cells}, b{cells}, ab{cells}, abb{cells}, total{1};
    std::size_t bytes = 0; ///< of CUB's temporary storage
    DeviceBuffer<char> temporary{storage()};
    unsigned looks = 0;

    Program() { require(cublasSetWorkspace(blas.handle, workspace.data(), workspace.size_bytes())); }

    std::size_t storage() {
        check(cub_sum(nullptr, bytes, ab.data(), total.data(), static_cast<int>(cells), stream.get()));
        return bytes;
    }
    void set(unsigned seed) const {
        write(a, numbers(cells, seed));
        write(b, numbers(cells, seed + 1));
    }
    void sum(const DeviceBuffer<float>& of) {
        check(cub_sum(temporary.data(), bytes, of.data(), total.data(), static_cast<int>(cells), stream.get()));
    }
    void look() {
        ++looks;
        stream.synchronize();
        const float factor = read(total).front() > 0 ? 0.5f : 0.25f;
        require(cublasSscal(blas.handle, static_cast<int>(cells), &factor, ab.data(), 1));
    }
    void first() {
        multiply(blas, a, b, ab);
        sum(ab);
    }
    void second() { multiply(blas, ab, b, abb); }
    void last() { sum(abb); }

    /// The products and the sum after `run()`.
    template <class Run>
    std::vector<float> results(unsigned seed, const Run& run) {
        set(seed);
        write(abb, std::vector<float>(cells, -1));
        run();
        stream.synchronize();
        std::vector<float> found = read(abb);
        found.push_back(read(total).front());
        return found;
    }
    std::vector<float> eager_results(unsigned seed) {
        return results(seed, [&] {
            first();
            look();
            second();
            last();
        });
    }
};

} // namespace

TEST_CASE("cuBLAS and CUB run in the segments of a program as they do eagerly", "[libraries][segments]") {
    Program p;
    const bool shares = GENERATE(false, true);
    CAPTURE(shares);
    cudag::SegmentedGraph program = cudag::capture_segments(p.stream,
                                                            [&](cudag::StreamCapture& c) {
                                                                c.retain(p.workspace, p.temporary);
                                                                c.step("product", [&] { p.first(); });
                                                                c.eager("look", [&] { p.look(); });
                                                                c.step("second product", [&] { p.second(); });
                                                                c.step("sum", [&] { p.last(); });
                                                            },
                                                            {}, {.share_execs = shares});
    CHECK(program.segment_count() == 2);
    for (const unsigned seed : {1U, 20U, 300U}) {
        const std::vector<float> expected = p.eager_results(seed);
        CHECK(p.results(seed, [&] { program.launch(p.stream); }) == expected);
    }
    CHECK(p.looks == 6);
    CHECK(program.replays() == 3);
    CHECK(program.memory().buffers >= p.workspace.size_bytes());
    bool crosses = false; // the product lives across the break
    for (const cudag::CrossingBuffer& buffer : program.report().crossing)
        crosses = crosses || buffer.data == p.ab.data();
    CHECK(crosses);
}

TEST_CASE("a cache learns the break of a step that allocates CUB's storage", "[libraries][segments]") {
    Program p;
    CaptureCache cache({.warm_up = 1, .learn_breaks = true});
    const auto run = [&] {
        return cache.run(p.stream, "program", [&](cudag::Steps& steps) {
            steps.step("product", [&] { p.first(); });
            steps.eager("look", [&] { p.look(); });
            steps.step("second product", [&] { p.second(); });
            steps.step("sum", [&] {
                const DeviceBuffer<char> storage(p.bytes); // breaks a capture
                check(cub_sum(storage.data(), p.bytes, p.abb.data(), p.total.data(), static_cast<int>(cells),
                              p.stream.get()));
            });
        });
    };
    cudag::RunKind kind{};
    for (const unsigned seed : {1U, 20U, 300U, 4000U, 50000U, 6U}) {
        const std::vector<float> expected = p.eager_results(seed);
        CHECK(p.results(seed, [&] { kind = run(); }) == expected);
    }
    CHECK(kind == cudag::RunKind::replayed);
    const cudag::CaptureCacheReport report = cache.report();
    REQUIRE(report.keys.size() == 1);
    CHECK(report.keys[0].segments == 2);
    REQUIRE(report.keys[0].breaks.size() == 2);
    CHECK(report.keys[0].breaks[0].reason.empty());
    CHECK(report.keys[0].breaks[1].label == "sum");
    CHECK_THAT(report.keys[0].breaks[1].reason, ContainsSubstring("cudaMalloc"));
}

TEST_CASE("products of cuBLAS in buckets are those of the given columns", "[libraries][bucket]") {
    Program p;
    p.set(7);
    cudag::GraphedFunction product(
        [&](cudaStream_t s, DeviceSpan<float> columns) {
            require(cublasSetStream(p.blas.handle, s));
            require(cublasSetWorkspace(p.blas.handle, p.workspace.data(), p.workspace.size_bytes()));
            multiply(p.blas, p.a.data(), columns.data(), p.abb.data(), static_cast<int>(columns.size()) / side);
            return p.abb.span().first(columns.size());
        },
        {.bucket = cudag::Bucket::powers_of_two(8, 64), .item_elements = {side}});
    product.prepare(p.stream, {8, 64});
    for (const int columns : {5, 8, 33, 64, 1}) {
        CAPTURE(columns);
        const std::vector<float> given = numbers(static_cast<std::size_t>(columns) * side, 9);
        const DeviceSpan<float> output = product.forward(p.stream, given);
        REQUIRE(output.size() == given.size());
        std::vector<float> found(given.size());
        cudag::memcpy_async(p.stream, found, output);
        p.stream.synchronize();
        const std::vector<float> a = read(p.a);
        double most = 0;
        for (int column = 0; column < columns; ++column)
            for (int row = 0; row < side; ++row) {
                double sum = 0;
                for (int i = 0; i < side; ++i)
                    sum += static_cast<double>(a[static_cast<std::size_t>(i * side + row)]) *
                           static_cast<double>(given[static_cast<std::size_t>(column * side + i)]);
                const double difference =
                    sum - static_cast<double>(found[static_cast<std::size_t>(column * side + row)]);
                most = std::max(most, std::abs(difference));
            }
        CHECK(most < 1e-2); // TF32 is off: sums of 96 products of numbers below 2
    }
    CHECK(product.captures() == 2);
    CHECK(product.eager_runs() == 0);
}
