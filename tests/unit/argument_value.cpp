// What becomes of an argument that is accepted: its value, and what is kept alive for it.
#include <cudag/detail/argument.hpp>
#include <cudag/error.hpp>

#include "thrown.hpp"

#include <catch.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

namespace {

using cudag::detail::ArgumentSite;
using cudag::detail::CallEffects;

const cudag::detail::CallSite memset_call; // knows neither a kernel nor a node
const ArgumentSite site{memset_call, 3};

template <class P, class A>
P converted(const A& argument) {
    CallEffects effects;
    const P result = cudag::detail::to_parameter<P>(argument, effects, site);
    CHECK(effects.owners.empty());
    CHECK(effects.bindings.empty());
    return result;
}

template <class P, class A>
std::string refusal(const A& argument) {
    const auto error = thrown<cudag::GraphError>([&] { static_cast<void>(converted<P>(argument)); });
    CHECK(error.code().value() == cudaErrorInvalidValue);
    return error.what();
}

template <class T>
constexpr T lowest = std::numeric_limits<T>::lowest();
template <class T>
constexpr T highest = std::numeric_limits<T>::max();

struct Point {
    float x, y;
};
struct Pixel {
    int x, y;
    operator Point() const { return {static_cast<float>(x), static_cast<float>(y)}; }
};

} // namespace

TEST_CASE("an integer that fits keeps its value in any integer type", "[unit][argument]") {
    CHECK(converted<std::int8_t>(std::int64_t{-128}) == -128);
    CHECK(converted<std::uint8_t>(255) == 255);
    CHECK(converted<int>(std::size_t{2147483647}) == highest<int>);
    CHECK(converted<int>(std::int64_t{lowest<int>}) == lowest<int>);
    CHECK(converted<unsigned>(std::int64_t{4294967295}) == highest<unsigned>);
    CHECK(converted<std::uint64_t>(highest<std::int64_t>) == 9223372036854775807U);
    CHECK(converted<std::int64_t>(std::uint64_t{1} << 62U) == std::int64_t{1} << 62);
}

TEST_CASE("an integer that does not fit is refused with its value and the parameter's type", "[unit][argument]") {
    CHECK(refusal<unsigned char>(256) == "cudag: memset: argument 3: 256 does not fit the parameter type unsigned "
                                         "char; pass a value that it holds exactly");
    CHECK_THAT(refusal<unsigned>(-1),
               ContainsSubstring("argument 3: -1 does not fit the parameter type unsigned int;"));
    CHECK_THAT(refusal<int>(std::size_t{2147483648}),
               ContainsSubstring("2147483648 does not fit the parameter type int;"));
    CHECK_THAT(refusal<signed char>(128), ContainsSubstring("128 does not fit the parameter type signed char;"));
    CHECK_THAT(refusal<int>(lowest<std::int64_t>), ContainsSubstring("-9223372036854775808 does not fit"));
    CHECK_THAT(refusal<std::int64_t>(highest<std::uint64_t>), ContainsSubstring("18446744073709551615 does not fit"));
    CHECK_THAT(refusal<std::uint64_t>(lowest<std::int64_t>), ContainsSubstring("-9223372036854775808 does not fit"));
    CHECK_THAT(refusal<unsigned>(static_cast<signed char>(-7)), ContainsSubstring("-7 does not fit"));
}

TEST_CASE("an integer becomes a floating-point value only if that holds it exactly", "[unit][argument]") {
    CHECK(converted<float>(16777216) == 16777216.0f);
    CHECK(converted<float>(-16777216) == -16777216.0f);
    CHECK(converted<float>(std::uint64_t{1} << 63U) == std::ldexp(1.0f, 63));
    CHECK(converted<double>(highest<std::int32_t>) == 2147483647.0);
    CHECK(converted<double>(std::int64_t{1} << 53) == 9007199254740992.0);

    CHECK_THAT(refusal<float>(16777217), ContainsSubstring("16777217 does not fit the parameter type float;"));
    CHECK_THAT(refusal<float>(-16777217), ContainsSubstring("-16777217 does not fit the parameter type float;"));
    CHECK_THAT(refusal<float>(highest<std::uint64_t>), ContainsSubstring("18446744073709551615"));
    CHECK_THAT(refusal<double>((std::int64_t{1} << 53) + 1), ContainsSubstring("9007199254740993"));
    CHECK_THAT(refusal<double>(highest<std::int64_t>), ContainsSubstring("does not fit the parameter type double;"));
}

TEST_CASE("a floating-point value widens exactly", "[unit][argument]") {
    CHECK(converted<double>(0.1f) == static_cast<double>(0.1f));
    CHECK(std::isnan(converted<double>(std::numeric_limits<float>::quiet_NaN())));
    CHECK(std::isinf(converted<double>(std::numeric_limits<float>::infinity())));
    CHECK(std::signbit(converted<float>(-0.0f)));
}

TEST_CASE("a refusal says where the call stands", "[unit][argument]") {
    const cudag::detail::CallSite call{nullptr, nullptr, {"pipeline.cpp", "run", 42}};
    CallEffects effects;
    const auto error = thrown<cudag::GraphError>([&] {
        static_cast<void>(cudag::detail::to_parameter<unsigned char>(1000, effects, {call, 1}));
    });
    CHECK_THAT(error.what(), StartsWith("cudag: memset at pipeline.cpp:42: argument 1: 1000 "));
    CHECK(error.location().line == 42);
}

TEST_CASE("pointers, objects and null become what they stand for", "[unit][argument]") {
    float memory[4] = {};
    CHECK(converted<const float*>(static_cast<float*>(memory)) == memory);
    CHECK(converted<void*>(static_cast<float*>(memory)) == memory);
    CHECK(converted<float*>(nullptr) == nullptr);
    CHECK(converted<Point>(Pixel{3, 4}).y == 4.0f);
    CHECK(converted<bool>(true));
}

TEST_CASE("views and raw pointers keep nothing alive", "[unit][argument]") {
    float memory[4] = {};
    const cudag::DeviceSpan<float> span(memory, 4);
    CHECK(converted<const float*>(span) == memory);
    CHECK(converted<cudag::DeviceSpan<const float>>(span).size() == 4);
}

TEST_CASE("a shared_ptr is kept under its argument's position", "[unit][argument]") {
    const auto value = std::make_shared<float>(1.0f);
    CallEffects effects;
    CHECK(cudag::detail::to_parameter<const float*>(value, effects, site) == value.get());
    REQUIRE(effects.owners.size() == 1);
    CHECK(effects.owners[0].argument == 3);
    CHECK(effects.owners[0].object.get() == value.get());
    CHECK(value.use_count() == 2);
}

TEST_CASE("a shared_ptr to volatile memory is kept like any other", "[unit][argument]") {
    const auto shared = std::make_shared<volatile int>(7);
    CallEffects effects;
    CHECK(cudag::detail::to_parameter<volatile int*>(shared, effects, site) == shared.get());
    CHECK(effects.owners.size() == 1);
    CHECK(shared.use_count() == 2);
}

TEST_CASE("a null shared_ptr is a null pointer", "[unit][argument]") {
    CHECK(converted<float*>(std::shared_ptr<float>()) == nullptr);
    CHECK(converted<float*>(std::shared_ptr<cudag::DeviceBuffer<float>>()) == nullptr);
}
