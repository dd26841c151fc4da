// The list that has room for its first elements in itself.
#include <cudag/detail/few_of.hpp>

#include "catch.hpp"

#include <array>
#include <memory>
#include <utility>
#include <vector>

using cudag::detail::FewOf;

namespace {

using Shared = std::shared_ptr<int>;
using List = FewOf<Shared, 2>;

/// A list of the numbers from 0 on, and those that watch its elements.
struct Watched {
    explicit Watched(int count) {
        for (int i = 0; i < count; ++i) {
            list.push_back(std::make_shared<int>(i));
            watching.push_back(list[static_cast<std::size_t>(i)]);
        }
    }
    [[nodiscard]] long uses() const {
        long sum = 0;
        for (const auto& one : watching)
            sum += one.use_count();
        return sum;
    }

    List list;
    std::vector<std::weak_ptr<int>> watching;
};

std::vector<int> numbers(const List& list) {
    std::vector<int> all;
    for (const Shared& one : list)
        all.push_back(*one);
    return all;
}

const std::array counts{0, 1, 2, 3, 4, 5, 9}; // few, as many as there is room for, more, and much more

} // namespace

TEST_CASE("a list of few keeps the order of its elements as it outgrows itself") {
    for (const int count : counts) {
        CAPTURE(count);
        const Watched made(count);
        std::vector<int> expected;
        for (int i = 0; i < count; ++i)
            expected.push_back(i);
        CHECK(numbers(made.list) == expected);
        CHECK(made.list.empty() == (count == 0));
        CHECK(made.uses() == count);
    }
}

TEST_CASE("a list of few takes an element of its own, also as it outgrows itself") {
    for (const int count : {1, 2, 4, 8}) {
        CAPTURE(count);
        Watched made(count);
        made.list.push_back(made.list.front());
        CHECK(*made.list[made.list.size() - 1] == 0);
        CHECK(made.list.front().use_count() == 2);
    }
}

TEST_CASE("a list of few that is moved leaves an empty one that can be used") {
    for (const int count : counts)
        for (const int other : counts) {
            CAPTURE(count, other);
            Watched from(count);
            Watched to(other);
            to.list = std::move(from.list);
            CHECK(numbers(to.list).size() == static_cast<std::size_t>(count));
            CHECK(from.list.empty()); // NOLINT(bugprone-use-after-move)
            CHECK(to.uses() == 0);
            CHECK(from.uses() == count);
            const List last = std::move(to.list);
            CHECK(from.uses() == count);
            from.list.push_back(std::make_shared<int>(7));
            CHECK(numbers(from.list) == std::vector{7});
        }
}

TEST_CASE("a copy of a list of few shares its elements, and stays as it is") {
    for (const int count : counts) {
        CAPTURE(count);
        Watched made(count);
        List copy = made.list;
        CHECK(made.uses() == 2 * count);
        made.list.clear();
        CHECK(made.list.empty());
        CHECK(copy.size() == static_cast<std::size_t>(count));
        copy = List();
        CHECK(made.uses() == 0);
    }
}

TEST_CASE("a list of few is appended to another, and loses what a condition names") {
    for (const int count : counts) {
        CAPTURE(count);
        Watched made(count);
        List both{std::make_shared<int>(-1)};
        both.append(made.list.begin(), made.list.end());
        CHECK(both.size() == static_cast<std::size_t>(count) + 1);
        both.erase_if([](const Shared& one) { return *one % 2 == 0; });
        for (const Shared& one : both)
            CHECK(*one % 2 != 0);
        CHECK(both.size() == static_cast<std::size_t>(count / 2) + 1);
        CHECK(made.uses() == count + count / 2);
    }
}

TEST_CASE("a list of few that has reserved room moves none of its elements") {
    List list;
    list.reserve(9);
    list.push_back(std::make_shared<int>(0));
    const Shared* const first = list.data();
    for (int i = 1; i < 9; ++i)
        list.push_back(std::make_shared<int>(i));
    CHECK(list.data() == first);
}
