// verify(): the values that it compares, with and without tolerances, and the writers that it names.
#include <cudag/verify.hpp>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "test.hpp"

using Catch::Matchers::ContainsSubstring;
using cudag::PinnedBuffer;
using cudag::Stream;
using cudag::Verification;
using cudag::VerifyCause;

namespace {

/// Compares a function that fills `x` with `recorded` in the capture, and with `eager` in the eager run.
Verification verify_fill(float recorded, float eager, double tolerance) {
    const auto x = device({0.0f});
    const Stream stream;
    int calls = 0;
    const auto fill = [&](cudaStream_t s) { cudag::memset_async(s, x, ++calls == 2 ? eager : recorded); };
    return cudag::verify(stream, fill, {.memory = {{x, tolerance}}});
}

template <class Element>
std::string text_of_host_value(const Element& value) {
    const auto x = device({0});
    PinnedBuffer<Element> y(1);
    y[0] = value;
    const Stream stream;
    const Verification result = cudag::verify(stream,
                                              [&](cudaStream_t s) {
                                                  cudag::memset_async(s, x, 1);
                                                  y[0] = Element{};
                                              },
                                              {.memory = {y}, .launches = 1});
    return result.differences.at(0).actual;
}

struct Three {
    std::uint32_t a, b, c;
};
struct Five {
    std::uint32_t a, b, c, d, e;
};

} // namespace

TEST_CASE("a tolerance is relative to the value of the eager run", "[verify]") {
    CHECK(!verify_fill(110.5f, 100, 0.1).equal());
    CHECK(verify_fill(100, 110.5f, 0.1).equal());
    CHECK(verify_fill(110.5f, 100, 0.1).cause == VerifyCause::recorded);
}

TEST_CASE("within a tolerance, any NaN equals any other, and no number", "[verify]") {
    const auto nan = std::bit_cast<float>(0x7FC00000U), other = std::bit_cast<float>(0x7FC12345U);
    CHECK(verify_fill(nan, other, 0.1).equal());
    CHECK(!verify_fill(nan, other, 0).equal());
    CHECK(!verify_fill(nan, 1, 0.1).equal());
    CHECK(!verify_fill(1, nan, 0.1).equal());
}

TEST_CASE("a tolerance ends with its range", "[verify]") {
    const auto x = device({0.0f, 0.0f});
    const Stream stream;
    float value = 1;
    const Verification result =
        cudag::verify(stream, [&](cudaStream_t s) { cudag::memset_async(s, x, value += 0.01f); },
                      {.memory = {{x.span().first(1), 0.5}}});
    REQUIRE(result.differences.size() == 1);
    CHECK(result.differences[0].element == 1);
    CHECK(result.differences[0].elements == 1);
}

TEST_CASE("a number beyond its tolerance is one difference, whichever of its bytes differ", "[verify]") {
    const auto x = device({1.0f, 1.0f});
    const Stream stream;
    float value = std::bit_cast<float>(0x40404040U);
    const Verification result = cudag::verify(stream,
                                              [&](cudaStream_t s) {
                                                  cudag::memset_async(s, x.span().last(1), value);
                                                  value = std::bit_cast<float>(0x41404140U);
                                              },
                                              {.memory = {{x, 0.001}}});
    REQUIRE(result.differences.size() == 1);
    CHECK(result.differences[0].elements == 1);
}

TEST_CASE("the last writer with a difference is named, also among kernels with raw pointers", "[verify]") {
    const auto x = device({1}), y = device({2});
    const Stream stream;
    int value = 0;
    const Verification result = cudag::verify(stream,
                                              [&](cudaStream_t s) {
                                                  cudag::launch(s, {}, store, x.data(), 3);
                                                  cudag::launch(s, {}, add, x.data(), y.data(), ++value);
                                              },
                                              {.memory = {x, y}});
    REQUIRE(result.differences.size() == 1);
    CHECK_THAT(result.differences[0].node, ContainsSubstring("add"));
}

TEST_CASE("a difference names the argument by which it was written", "[verify]") {
    const auto x = device({1.0f}), y = device({0.0f});
    const Stream stream;
    float factor = 0;
    const Verification result = cudag::verify(
        stream, [&](cudaStream_t s) { cudag::launch(s, {}, saxpy, 1, ++factor, cudag::in(x), cudag::out(y)); });
    REQUIRE(result.differences.size() == 1);
    CHECK(result.differences[0].argument == 3);
}

TEST_CASE("objects are shown by their first 16 bytes", "[verify]") {
    CHECK(text_of_host_value(Three{1, 2, 3}) == "0x010000000200000003000000");
    CHECK(text_of_host_value(Five{1, 2, 3, 4, 5}) == "0x01000000020000000300000004000000...");
}
