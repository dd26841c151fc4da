// The engine that gives CUDA several changes, all or none.
#include "exec/all_or_none.hpp"

#include "catch.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <vector>

using cudag::detail::AllOrNone;
using cudag::detail::Api;
using cudag::detail::NativeResult;

namespace {

constexpr std::size_t nobody = 99;

/// Changes that are noted; number `refused` fails.
struct Changes {
    std::size_t refused = nobody;
    NativeResult refusal{cudaErrorInvalidValue, "cuGraphExecKernelNodeSetParams", Api::driver};
    bool throws = false;
    std::vector<std::size_t> given = {};
    std::vector<std::size_t> taken_back = {};

    auto push(std::size_t count) {
        return AllOrNone(
                   [this](std::size_t change) {
                       if (change == refused && throws) throw std::runtime_error("no memory");
                       if (change == refused) return refusal;
                       given.push_back(change);
                       return NativeResult{cudaSuccess, ""};
                   },
                   [this](std::size_t change) { taken_back.push_back(change); })
            .push(count);
    }
};

using Numbers = std::vector<std::size_t>;

} // namespace

TEST_CASE("changes that CUDA accepts are given in order, and stay", "[exec]") {
    Changes changes;
    REQUIRE_FALSE(changes.push(3));
    REQUIRE(changes.given == Numbers{0, 1, 2});
    REQUIRE(changes.taken_back.empty());
}

TEST_CASE("no changes are no refusal", "[exec]") {
    Changes changes{.refused = 0};
    REQUIRE_FALSE(changes.push(0));
    REQUIRE(changes.given.empty());
    REQUIRE(changes.taken_back.empty());
}

TEST_CASE("after a refusal the changes before it are taken back, the last one first", "[exec]") {
    Changes changes{.refused = 2};
    const auto refusal = changes.push(4);
    REQUIRE(refusal);
    REQUIRE(refusal->change == 2);
    REQUIRE(refusal->result.status == cudaErrorInvalidValue);
    REQUIRE(refusal->result.api == Api::driver);
    REQUIRE(changes.given == Numbers{0, 1}); // nothing after the refused one
    REQUIRE(changes.taken_back == Numbers{1, 0});
}

TEST_CASE("a refusal of the first change takes nothing back", "[exec]") {
    Changes changes{.refused = 0};
    const auto refusal = changes.push(2);
    REQUIRE(refusal);
    REQUIRE(refusal->change == 0);
    REQUIRE(changes.taken_back.empty());
}

TEST_CASE("a refusal by the Runtime leaves no sticky error", "[exec]") {
    const cudaError_t status = cudaGraphDestroy(nullptr);
    REQUIRE(status != cudaSuccess);
    REQUIRE(cudaPeekAtLastError() == status);
    Changes changes{.refused = 1, .refusal = {status, "cudaGraphDestroy", Api::runtime}};
    REQUIRE(changes.push(2));
    REQUIRE(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("an exception takes the changes before it back, and is passed on", "[exec]") {
    Changes changes{.refused = 2, .throws = true};
    REQUIRE_THROWS_WITH(changes.push(3), "no memory");
    REQUIRE(changes.taken_back == Numbers{1, 0});
}
