// What cudag reads in CUDA's log, of one thread or of all.
#include "cuda/cuda_log.hpp"

#include "catch.hpp"

using cudag::detail::causes_in;
using cudag::detail::failures_in;
using cudag::detail::LoggedFailure;

namespace {

/// As thread 11 sees it, beside 22.
constexpr const char* two_threads =
    "[09:00:00.001][11][CUDA][E] the size is 0\n"
    "[09:00:00.002][22][CUDA][E] the stream captures\n"
    "[09:00:00.003][11][CUDA][E] so is the pitch\n"
    "[09:00:00.004][11][CUDA][E] Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemAlloc_v2\n"
    "[09:00:00.005][22][CUDA][E] Returning 900 (CUDA_ERROR_STREAM) from cuStreamSynchronize\n";

} // namespace

TEST_CASE("the causes of a failure are the lines of its thread before it returned", "[cuda][log]") {
    CHECK(causes_in(two_threads, "11", cudaErrorInvalidValue) == "the size is 0; so is the pitch");
    CHECK(causes_in(two_threads, "22", cudaErrorStreamCaptureUnsupported) == "the stream captures");
    CHECK(causes_in(two_threads, "33", cudaErrorInvalidValue).empty());
    CHECK(causes_in("", "11", cudaErrorInvalidValue).empty());
}

TEST_CASE("a failure that returned something else has other causes", "[cuda][log]") {
    CHECK(causes_in(two_threads, "11", cudaErrorStreamCaptureUnsupported).empty());
    CHECK(causes_in("[t][11][CUDA][E] ten\n[t][11][CUDA][E] Returning 10 (TEN) from f\n", "11", cudaErrorInvalidValue)
              .empty()); // not the 1 that it begins with
}

TEST_CASE("of failures with one code the latest is meant", "[cuda][log]") {
    const std::string twice = "[t][11][CUDA][E] old\n[t][11][CUDA][E] Returning 1 (ONE) from f\n"
                              "[t][11][CUDA][E] new\n[t][11][CUDA][E] Returning 1 (ONE) from f\n";
    CHECK(causes_in(twice, "11", cudaErrorInvalidValue) == "new");
    CHECK(causes_in(twice + "[t][11][CUDA][E] two\n[t][11][CUDA][E] Returning 2 (TWO) from f\n", "11",
                    cudaErrorInvalidValue)
              .empty());
}

TEST_CASE("the end of a kernel's parameters, which cudag looks for, is no failure", "[cuda][log]") {
    const std::string end = "[t][11][CUDA][E] paramIndex 1 outside of kernel parameter count 1\n"
                            "[t][11][CUDA][E] Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuFuncGetParamInfo\n";
    CHECK(causes_in(end, "11", cudaErrorInvalidValue).empty());
    CHECK(failures_in(end, "11").empty());
    const std::string own = "[t][11][CUDA][E] own\n";
    CHECK(causes_in(own + end, "11", cudaErrorInvalidValue) == "own");
    CHECK(causes_in(end + own + end + end, "11", cudaErrorInvalidValue) == "own");
    const std::string failure = "[t][11][CUDA][E] size\n[t][11][CUDA][E] Returning 1 (ONE) from f\n";
    CHECK(causes_in(end + failure + end, "11", cudaErrorInvalidValue) == "size");
    const std::vector<LoggedFailure> found = failures_in(end + own + end + failure + end, "11");
    REQUIRE(found.size() == 1);
    CHECK(found[0].causes == "own; size");
    const std::string other = "[t][11][CUDA][E] handle\n"
                              "[t][11][CUDA][E] Returning 400 (CUDA_ERROR_INVALID_HANDLE) from cuFuncGetParamInfo\n";
    CHECK(causes_in(other, "11", cudaErrorInvalidResourceHandle) == "handle");
}

TEST_CASE("causes that no line returns are those of the runtime's own end", "[cuda][log]") {
    CHECK(causes_in("[t][11][CUDA][E] old\n[t][11][CUDA][E] Returning 1 (ONE) from f\n[t][11][CUDA][E] own", "11",
                    cudaErrorInvalidValue) == "own");
}

TEST_CASE("lines of another kind, and texts in brackets, are no errors of CUDA", "[cuda][log]") {
    CHECK(causes_in("[t][11][CUDA][W] only a warning\nplain text\n\n[t][11][CUDA][E] an [error][of] its own\n", "11",
                    cudaErrorInvalidValue) == "an [error][of] its own");
}

TEST_CASE("failures of all threads come in the order in which they returned", "[cuda][log]") {
    const std::vector<LoggedFailure> found = failures_in(two_threads, "11");
    REQUIRE(found.size() == 2);
    CHECK(found[0].code == cudaErrorInvalidValue);
    CHECK(found[0].call == "cuMemAlloc_v2");
    CHECK(found[0].causes == "the size is 0; so is the pitch");
    CHECK(found[0].on_this_thread);
    CHECK(found[1].code == cudaErrorStreamCaptureUnsupported);
    CHECK(found[1].call == "cuStreamSynchronize");
    CHECK(found[1].causes == "the stream captures");
    CHECK_FALSE(found[1].on_this_thread);
}

TEST_CASE("a failure that no line returns has no code and no call, and stands last", "[cuda][log]") {
    const std::vector<LoggedFailure> found =
        failures_in("[t][22][CUDA][E] left\n[t][11][CUDA][E] Returning 2 (TWO)\n", "22");
    REQUIRE(found.size() == 2);
    CHECK(found[0].code == cudaErrorMemoryAllocation);
    CHECK(found[0].call.empty());
    CHECK(found[0].causes.empty());
    CHECK(found[1].code == cudaSuccess);
    CHECK(found[1].causes == "left");
    CHECK(found[1].on_this_thread);
}

TEST_CASE("a failure that returned no number has no code", "[cuda][log]") {
    const std::vector<LoggedFailure> found = failures_in("[t][11][CUDA][E] Returning (SOMETHING) from f\n", "11");
    REQUIRE(found.size() == 1);
    CHECK(found[0].code == cudaSuccess);
    CHECK(found[0].call == "f");
}
