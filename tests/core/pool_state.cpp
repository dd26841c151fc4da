// Which of its blocks a CapturePool takes, and how they become one again.
#include "memory/pool_state.hpp"

#include "cuda/launch_looks.hpp"
#include "cuda/released_memory.hpp"

#include "catch.hpp"

#include <cudag/capture_pool.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

using cudag::SourceLocation;
using cudag::detail::pool_alignment;
using cudag::detail::PoolState;

namespace {

class Pool {
  public:
    /// A block of so many units.
    [[nodiscard]] std::shared_ptr<void> take(std::size_t units) {
        return state_->allocate(units, pool_alignment, SourceLocation{});
    }
    [[nodiscard]] std::size_t reserved() const { return state_->reserved_bytes() / pool_alignment; }

  private:
    std::shared_ptr<PoolState> state_ = std::make_shared<PoolState>("pool", false, SourceLocation{});
};

void* after(const std::shared_ptr<void>& block, std::size_t units) {
    return static_cast<std::byte*>(block.get()) + units * pool_alignment;
}

} // namespace

TEST_CASE("a pool takes the smallest free block that is large enough", "[memory][pool]") {
    Pool pool;
    auto four = pool.take(4), two = pool.take(2), three = pool.take(3);
    void *const in_two = two.get(), *const in_three = three.get(), *const in_four = four.get();
    four.reset(), two.reset(), three.reset();

    const auto first = pool.take(2), second = pool.take(2), third = pool.take(4);
    CHECK(first.get() == in_two);
    CHECK(second.get() == in_three);
    CHECK(third.get() == in_four);
    CHECK(pool.take(1).get() == after(second, 2)); // what `second` left of its block
    CHECK(pool.reserved() == 9);
}

TEST_CASE("a pool asks CUDA for what no free block is large enough for", "[memory][pool]") {
    Pool pool;
    pool.take(2).reset();
    const auto three = pool.take(3);
    CHECK(pool.reserved() == 5);
}

TEST_CASE("the parts of a block become one again in whichever order they are released", "[memory][pool]") {
    const std::array<int, 3> order = GENERATE(std::array{0, 1, 2}, std::array{0, 2, 1}, std::array{1, 0, 2},
                                              std::array{1, 2, 0}, std::array{2, 0, 1}, std::array{2, 1, 0});
    Pool pool;
    auto whole = pool.take(4);
    void* const begin = whole.get();
    whole.reset();
    std::array<std::shared_ptr<void>, 3> parts{pool.take(1), pool.take(1), pool.take(1)};
    for (std::size_t i = 0; i < parts.size(); ++i)
        CHECK(parts[i].get() == after(parts[0], i));
    for (const int part : order)
        parts[static_cast<std::size_t>(part)].reset();
    CHECK(pool.take(4).get() == begin);
    CHECK(pool.reserved() == 4);
}

TEST_CASE("blocks of two allocations do not become one, even side by side", "[memory][pool]") {
    const bool lower_first = GENERATE(false, true);
    Pool pool;
    auto first = pool.take(1), second = pool.take(1);
    if (std::less<>()(first.get(), second.get()) != lower_first) std::swap(first, second);
    first.reset(), second.reset();
    const auto two = pool.take(2);
    CHECK(pool.reserved() == 4);
}

TEST_CASE("a pool that ends while its memory is released is no longer looked for", "[memory][release]") {
    {
        const auto pool = std::make_shared<PoolState>("pool", true, SourceLocation{});
        const std::shared_ptr<void> block = pool->allocate(1, pool_alignment, SourceLocation{});
        static_cast<void>(pool->release({}));
        CHECK(cudag::detail::released_pools().size() == 1);
        CHECK(cudag::detail::is_looked_for(cudag::detail::LaunchLook::released));
    }
    CHECK(cudag::detail::released_pools().empty());
    CHECK_FALSE(cudag::detail::is_looked_for(cudag::detail::LaunchLook::released));
}

TEST_CASE("a place in a pool has the number of its present use", "[memory][pool]") {
    const auto pool = std::make_shared<PoolState>("pool", false, SourceLocation{});
    std::shared_ptr<void> block = pool->allocate(2, pool_alignment, SourceLocation{});
    const auto place = [address = static_cast<std::byte*>(block.get())](std::size_t offset) {
        return PoolState::place_of(address + offset);
    };
    CHECK(place(0).pool == pool.get());
    const std::uint64_t number = place(0).block;
    CHECK(number != 0);
    CHECK(place(2 * pool_alignment - 1).block == number);
    block.reset();
    CHECK(place(0).pool == pool.get());
    CHECK(place(0).block == 0);
    block = pool->allocate(2, pool_alignment, SourceLocation{});
    CHECK(place(0).block > number);
    CHECK(PoolState::place_of(&number).pool == nullptr);
}
