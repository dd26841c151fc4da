// The error hierarchy, its category, and check().
#include <cudag/error.hpp>

#include "thrown.hpp"

#include <catch.hpp>

#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

namespace {

template <class E, class Base>
constexpr bool is_a_plain = std::is_base_of_v<Base, E> && std::is_convertible_v<E*, Base*> &&
                            std::is_nothrow_copy_constructible_v<E> && std::is_nothrow_copy_assignable_v<E>;

static_assert(is_a_plain<cudag::Error, std::system_error>);
static_assert(is_a_plain<cudag::GraphError, cudag::Error>);
static_assert(is_a_plain<cudag::InstantiateError, cudag::Error>);
static_assert(is_a_plain<cudag::UpdateError, cudag::Error>);

const cudag::ErrorDetails details{"cudaMalloc", "out of pages", {"upload", "blur"}, {"pipeline.cpp", "run", 42}};

/// CUDA's last error when it is clear; without a driver that is no success.
cudaError_t clear_last_error() {
    static_cast<void>(cudaGetLastError());
    return cudaPeekAtLastError();
}

/// Makes some call fail, so that CUDA has a last error; without a driver it is another one than with a device.
void leave_a_last_error() {
    static_cast<void>(cudaGraphCreate(nullptr, 0));
    REQUIRE(cudaPeekAtLastError() != cudaSuccess);
}

} // namespace

TEST_CASE("an error holds its code in the category of CUDA's codes", "[unit][error]") {
    const cudag::Error error(cudaErrorMemoryAllocation, "cudag: no memory");
    CHECK(error.code().value() == cudaErrorMemoryAllocation);
    CHECK(error.code().category() == cudag::cuda_category());
    CHECK(error.code() == std::error_code(cudaErrorMemoryAllocation, cudag::cuda_category()));
    CHECK(error.code() != std::error_code(cudaErrorMemoryAllocation, std::generic_category()));
}

TEST_CASE("the category speaks CUDA's words", "[unit][error]") {
    const std::error_category& category = cudag::cuda_category();
    CHECK(&category == &cudag::cuda_category());
    CHECK(category.name() == std::string("cuda"));
    CHECK(category.message(cudaErrorMemoryAllocation) == "out of memory");
    CHECK(category.message(cudaErrorInvalidValue) == cudaGetErrorString(cudaErrorInvalidValue));
    CHECK(category.message(4711) == "unrecognized error code");
}

TEST_CASE("what() is the text that was given, and nothing more", "[unit][error]") {
    const cudag::GraphError error(cudaErrorInvalidValue, "cudag: after: a node cannot come after itself");
    CHECK(error.what() == std::string("cudag: after: a node cannot come after itself"));
    CHECK(static_cast<const std::exception&>(error).what() == std::string(error.what()));
}

TEST_CASE("an error keeps its details", "[unit][error]") {
    const cudag::UpdateError error(cudaErrorInvalidValue, "text", details);
    CHECK(error.operation() == "cudaMalloc");
    CHECK(error.log() == "out of pages");
    CHECK(error.labels() == std::vector<std::string>{"upload", "blur"});
    CHECK(error.location().file == std::string("pipeline.cpp"));
    CHECK(error.location().function == std::string("run"));
    CHECK(error.location().line == 42);
}

TEST_CASE("an error without details has empty ones", "[unit][error]") {
    const cudag::Error error(cudaErrorUnknown, "text");
    CHECK(error.operation().empty());
    CHECK(error.log().empty());
    CHECK(error.labels().empty());
    CHECK(error.location().line == 0);
}

TEST_CASE("a copy of an error outlives the original", "[unit][error]") {
    cudag::Error copy(cudaErrorUnknown, "other");
    {
        const cudag::Error original(cudaErrorInvalidValue, "the original's text", details);
        copy = original;
    }
    CHECK(copy.what() == std::string("the original's text"));
    CHECK(copy.code().value() == cudaErrorInvalidValue);
    CHECK(copy.operation() == "cudaMalloc");
}

TEST_CASE("a moved-from error still answers", "[unit][error]") {
    cudag::Error error(cudaErrorInvalidValue, "text", details);
    const cudag::Error taken = std::move(error);
    CHECK(taken.what() == std::string("text"));
    CHECK(error.what() != nullptr);
    CHECK(error.labels().size() <= 2);
    error = taken;
    CHECK(error.what() == std::string("text"));
}

TEST_CASE("check() lets success pass and leaves CUDA's last error alone", "[unit][error]") {
    leave_a_last_error();
    CHECK_NOTHROW(cudag::check(cudaSuccess));
    CHECK(cudaGetLastError() != cudaSuccess);
}

TEST_CASE("check() throws the code with CUDA's name and text for it, and where the call stands", "[unit][error]") {
    const auto error = thrown<cudag::Error>([] { cudag::check(cudaErrorInvalidPitchValue); });
    const unsigned line = __LINE__ - 1;
    CHECK(error.code().value() == cudaErrorInvalidPitchValue);
    CHECK_THAT(error.what(), StartsWith("cudag: "));
    CHECK_THAT(error.what(), ContainsSubstring("error.cpp:" + std::to_string(line)));
    CHECK_THAT(error.what(), ContainsSubstring("cudaErrorInvalidPitchValue"));
    CHECK_THAT(error.what(), ContainsSubstring(cudaGetErrorString(cudaErrorInvalidPitchValue)));
    CHECK(error.location().line == line);
}

TEST_CASE("check() clears the last error that it reports", "[unit][error]") {
    const cudaError_t clear = clear_last_error();
    leave_a_last_error();
    CHECK_THROWS_AS(cudag::check(cudaPeekAtLastError()), cudag::Error);
    CHECK(cudaPeekAtLastError() == clear);
}

TEST_CASE("an error of a driver or a device that is missing, but not for cudag, is told as one of another runtime",
          "[unit][error]") {
    int devices = 0;
    const cudaError_t own = cudaGetDeviceCount(&devices);
    const cudaError_t clear = clear_last_error();
    for (const cudaError_t code : {cudaErrorInsufficientDriver, cudaErrorNoDevice}) {
        if (code == own) continue; // tests/no_device has the other remedies
        const auto error = thrown<cudag::Error>([&] { cudag::check(code); });
        CHECK(error.code().value() == code);
        CHECK_THAT(error.what(), ContainsSubstring(cudaGetErrorName(own)) &&
                                     ContainsSubstring("two CUDA runtimes in one process") &&
                                     !ContainsSubstring("install or update the driver") &&
                                     !ContainsSubstring("CUDA_VISIBLE_DEVICES"));
        if (own == cudaSuccess) CHECK_THAT(error.what(), EndsWith("link only the one that cudag_dep brings"));
        CHECK(cudaPeekAtLastError() == clear);
    }
}

TEST_CASE("errors that have a remedy name it", "[unit][error]") {
    const auto text = [](cudaError_t code) -> std::string {
        return thrown<cudag::Error>([&] { cudag::check(code); }).what();
    };
    CHECK_THAT(text(cudaErrorInvalidDeviceFunction), ContainsSubstring("__global__"));
    CHECK_THAT(text(cudaErrorNoKernelImageForDevice), ContainsSubstring("-arch"));
    CHECK_THAT(text(cudaErrorNotPermitted), ContainsSubstring("host node"));
}
