// The allocator that keeps the memory of the last object.
#include "lists/spare_block.hpp"

#include "catch.hpp"

#include <memory>
#include <stdexcept>

using cudag::detail::keeps_spare_blocks;
using cudag::detail::make_shared_in_spare;

namespace {

template <int>
struct Object { // of a type of its own in each test
    explicit Object(int its_value) : value(its_value) {
        if (value < 0) throw std::invalid_argument("negative");
    }
    int value;
};

} // namespace

TEST_CASE("an object takes the memory of the last one of its type") {
    auto first = make_shared_in_spare<Object<0>>(1);
    const void* const place = first.get();
    first.reset();
    const auto second = make_shared_in_spare<Object<0>>(2);
    CHECK(second->value == 2);
    if (keeps_spare_blocks) CHECK(second.get() == place);
}

TEST_CASE("objects that live at once have memory of their own") {
    auto first = make_shared_in_spare<Object<1>>(1);
    auto second = make_shared_in_spare<Object<1>>(2);
    CHECK(first->value == 1);
    CHECK(second->value == 2);
    first.reset();
    second.reset(); // the second spare block is freed
    const auto third = make_shared_in_spare<Object<1>>(3);
    const auto fourth = make_shared_in_spare<Object<1>>(4);
    CHECK(third->value == 3);
    CHECK(fourth->value == 4);
}

TEST_CASE("the memory of an object whose constructor throws is spare again") {
    auto first = make_shared_in_spare<Object<2>>(1);
    const void* const place = first.get();
    first.reset();
    CHECK_THROWS_AS(make_shared_in_spare<Object<2>>(-1), std::invalid_argument);
    const auto second = make_shared_in_spare<Object<2>>(2);
    if (keeps_spare_blocks) CHECK(second.get() == place);
}

TEST_CASE("arrays are never spare") {
    cudag::detail::SpareBlock<Object<3>> blocks;
    Object<3>* const one = blocks.allocate(1);
    blocks.deallocate(one, 1);
    Object<3>* const three = blocks.allocate(3); // no smaller block
    blocks.deallocate(three, 3);
    Object<3>* const next = blocks.allocate(1);
    if (keeps_spare_blocks) CHECK(next == one);
    blocks.deallocate(next, 1);
}
