// The table of objects that kernels find by number: numbers are not used again, and finding takes no lock.
#include "check.hpp"

#include "../src/memory/object_slots.hpp"

#include <set>
#include <thread>
#include <vector>

using cudart_cpu::detail::ObjectSlots;

namespace {

void finds_what_is_there() {
    ObjectSlots<int> slots;
    const std::uint64_t one = slots.add(std::make_unique<const int>(1));
    const std::uint64_t two = slots.add(std::make_unique<const int>(2));
    CHECK(one != 0 && two != 0 && one != two);
    CHECK(*slots.find(one) == 1);
    CHECK(*slots.find(two) == 2);
    CHECK(slots.remove(one));
    CHECK(slots.find(one) == nullptr);
    CHECK(!slots.remove(one));
    CHECK(*slots.find(two) == 2);
}

void finds_nothing_else() {
    ObjectSlots<int> slots;
    const std::uint64_t one = slots.add(std::make_unique<const int>(1));
    for (const std::uint64_t none : {std::uint64_t{0}, one + 1, one + 1000000, one + (std::uint64_t{1} << 32),
                                     ~std::uint64_t{0}, std::uint64_t{1} << 63})
        CHECK(slots.find(none) == nullptr && !slots.remove(none));
}

/// Also those of slots that are taken again.
void numbers_are_new() {
    ObjectSlots<int> slots;
    std::set<std::uint64_t> numbers;
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t number = slots.add(std::make_unique<const int>(i));
        CHECK(numbers.insert(number).second);
        CHECK(*slots.find(number) == i);
        CHECK(slots.remove(number));
    }
    for (const std::uint64_t number : numbers)
        CHECK(slots.find(number) == nullptr);
}

void removes_what_is_chosen() {
    ObjectSlots<int> slots;
    std::vector<std::uint64_t> numbers;
    for (int i = 0; i < 600; ++i)
        numbers.push_back(slots.add(std::make_unique<const int>(i)));
    slots.remove_if([](int value) { return value % 2 == 0; });
    for (int i = 0; i < 600; ++i)
        CHECK((slots.find(numbers[static_cast<std::size_t>(i)]) != nullptr) == (i % 2 == 1));
}

void earlier_work_finds_what_was_removed() {
    ObjectSlots<int> slots;
    const std::uint64_t before = cudart_cpu::detail::object_removals;
    const std::uint64_t one = slots.add(std::make_unique<const int>(1));
    CHECK(*slots.find(one, before) == 1);
    CHECK(slots.remove(one));
    CHECK(slots.find(one) == nullptr);
    CHECK(*slots.find(one, before) == 1);
    CHECK(slots.find(one, cudart_cpu::detail::object_removals) == nullptr); // later work
    CHECK(slots.find(one + 1, before) == nullptr);
}

void pending_work_keeps_what_was_removed() {
    ObjectSlots<int> slots;
    bool is_pending = true;
    const std::uint64_t before = cudart_cpu::detail::object_removals;
    const std::uint64_t one = slots.add(std::make_unique<const int>(1));
    CHECK(slots.remove(one, [&] { return is_pending; }));
    const auto reuse = [&] {
        for (int i = 0; i < 10000; ++i)
            CHECK(slots.remove(slots.add(std::make_unique<const int>(2))));
    };
    reuse();
    CHECK(*slots.find(one, before) == 1);
    is_pending = false;
    reuse();
    CHECK(slots.find(one, before) == nullptr);
}

void threads_find_while_others_add() {
    ObjectSlots<int> slots;
    const std::uint64_t kept = slots.add(std::make_unique<const int>(42));
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 3000; ++i)
                CHECK(slots.remove(slots.add(std::make_unique<const int>(i))));
        });
    threads.emplace_back([&] {
        for (int i = 0; i < 30000; ++i)
            CHECK(*slots.find(kept) == 42);
    });
    for (std::thread& thread : threads)
        thread.join();
}

} // namespace

int main() {
    finds_what_is_there();
    finds_nothing_else();
    numbers_are_new();
    removes_what_is_chosen();
    earlier_work_finds_what_was_removed();
    pending_work_keeps_what_was_removed();
    threads_find_while_others_add();
}
