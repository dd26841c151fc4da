// Sizes rounded to buckets, and the limits of buckets.
#include <cudag/bucket.hpp>

#include <limits>
#include <stdexcept>

#include "test.hpp"

using cudag::Bucket;
using cudag::GraphError;

namespace {

constexpr std::size_t most = std::numeric_limits<std::size_t>::max();

std::vector<std::size_t> rounded(const Bucket& bucket, std::initializer_list<std::size_t> sizes) {
    std::vector<std::size_t> result;
    for (const std::size_t size : sizes)
        result.push_back(bucket.round_up(size));
    return result;
}

using Sizes = std::vector<std::size_t>;

} // namespace

TEST_CASE("powers of two are the next one, at least the smallest", "[capture][bucket]") {
    CHECK(rounded(Bucket::powers_of_two(), {1, 2, 3, 4, 5, 1023, 1024, 1025}) ==
          Sizes{1, 2, 4, 4, 8, 1024, 1024, 2048});
    CHECK(rounded(Bucket::powers_of_two(8), {1, 8, 9}) == Sizes{8, 8, 16});
}

TEST_CASE("the largest bucket is one, also if it is no power of two", "[capture][bucket]") {
    const Bucket bucket = Bucket::powers_of_two(1, 100);
    CHECK(rounded(bucket, {63, 64, 65, 100}) == Sizes{64, 64, 100, 100});
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(bucket.round_up(101)); }).what(),
               StartsWith("cudag: Bucket: a size of 101 items is above the largest bucket, 100; "));
    CHECK(Bucket::powers_of_two().round_up(most / 2 + 2) == most);
    CHECK(Bucket::powers_of_two().round_up(most / 2 + 1) == most / 2 + 1);
    CHECK(Bucket::powers_of_two(4, 4).round_up(1) == 4);
}

TEST_CASE("a list of sizes may stand in any order", "[capture][bucket]") {
    const Bucket bucket = {12, 1, 4, 4};
    CHECK(rounded(bucket, {1, 2, 4, 5, 12}) == Sizes{1, 4, 4, 12, 12});
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(bucket.round_up(13)); }).what(),
               ContainsSubstring("a size of 13 items is above the largest bucket, 12"));
}

TEST_CASE("a function rounds sizes above 0, and must not round down", "[capture][bucket]") {
    int calls = 0;
    const Bucket bucket = [&](std::size_t size) {
        ++calls;
        if (size == 7) throw std::runtime_error("seven");
        return size == 5 ? 3 : (size + 3) / 4 * 4;
    };
    CHECK(rounded(bucket, {0, 1, 4, 6}) == Sizes{0, 4, 4, 8});
    CHECK(calls == 3);
    CHECK_THAT(refused<GraphError>([&] { static_cast<void>(bucket.round_up(5)); }).what(),
               StartsWith("cudag: Bucket: the function returned 3 for a size of 5 items; "));
    CHECK_THROWS_AS(bucket.round_up(7), std::runtime_error);
}

TEST_CASE("without sizes a bucket rounds nothing", "[capture][bucket]") {
    CHECK_FALSE(Bucket());
    CHECK(Bucket().round_up(5) == 5);
    CHECK(Bucket{3});
    CHECK(Bucket::powers_of_two());
    const Bucket copy = Bucket{3};
    CHECK(copy.round_up(1) == 3);
    CHECK(copy.round_up(0) == 0);
}

TEST_CASE("buckets without sense are refused by name", "[capture][bucket]") {
    const auto why = [](CallRef<> make) { return std::string(refused<GraphError>(make).what()); };
    CHECK_THAT(why([] { static_cast<void>(Bucket(Sizes{})); }), ContainsSubstring("the list has no sizes"));
    CHECK_THAT(why([] { static_cast<void>(Bucket{4, 0}); }), ContainsSubstring("the list has a size of 0"));
    CHECK_THAT(why([] { static_cast<void>(Bucket::powers_of_two(6)); }),
               ContainsSubstring("the smallest bucket, 6, is no power of two"));
    CHECK_THAT(why([] { static_cast<void>(Bucket::powers_of_two(0)); }),
               ContainsSubstring("the smallest bucket, 0, is no power of two"));
    CHECK_THAT(why([] { static_cast<void>(Bucket::powers_of_two(16, 15)); }),
               ContainsSubstring("the largest bucket, 15, is below the smallest, 16"));
}
