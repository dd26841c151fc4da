// Which plan is chosen by what was measured, and what plans are called.
#include "plan/choice.hpp"

#include "catch.hpp"

#include <vector>

using cudag::Plan;
using cudag::TuneTime;
using namespace cudag::detail;

namespace {

std::size_t chosen(const std::vector<TuneTime>& times) {
    return choose(times);
}

} // namespace

TEST_CASE("the first of several plans is chosen unless another one is clearly less", "[choice]") {
    CHECK(chosen({{100, 1}}) == 0);
    CHECK(chosen({{0, 0}}) == 0);
    CHECK(chosen({{100, 1}, {100, 1}, {100, 1}}) == 0); // ties
    CHECK(chosen({{100, 1}, {200, 1}, {300, 1}}) == 0);
    CHECK(chosen({{100, 1}, {50, 1}, {300, 1}}) == 1);
    CHECK(chosen({{100, 1}, {300, 1}, {50, 1}}) == 2);
}

TEST_CASE("what is less by no more than both spreads together is not clearly less", "[choice]") {
    CHECK(chosen({{100, 5}, {90, 5}}) == 0);
    CHECK(chosen({{100, 5}, {89, 5}}) == 1);
    CHECK(chosen({{100, 0}, {90, 10}}) == 0);
    CHECK(chosen({{100, 10}, {90, 0}}) == 0);
    CHECK(chosen({{100, 0}, {10, 95}}) == 0);
}

TEST_CASE("without any spread, two percent still say nothing", "[choice]") {
    CHECK(chosen({{100, 0}, {98, 0}}) == 0);
    CHECK(chosen({{100, 0}, {97.5, 0}}) == 1);
    CHECK(chosen({{1, 0}, {0, 0}}) == 1);
    CHECK(chosen({{0, 0}, {0, 0}}) == 0);
}

TEST_CASE("of plans that are about as quick as the quickest, the first is chosen", "[choice]") {
    CHECK(chosen({{100, 1}, {51, 1}, {50, 1}, {49, 1}}) == 1);
    CHECK(chosen({{100, 1}, {60, 1}, {51, 1}, {50, 1}}) == 2);
    CHECK(chosen({{100, 1}, {50, 1}, {50, 1}}) == 1);
    CHECK(chosen({{100, 1}, {60, 1}, {50, 1}, {50, 20}}) == 2); // the first of two that are the quickest
}

TEST_CASE("no plan is chosen that is not clearly less than the first, however it varies", "[choice]") {
    // about as quick as the quickest by its spread, but no better than the first
    CHECK(chosen({{100, 1}, {120, 80}, {50, 1}}) == 2);
    // what varies most is the least, and does not hide what is clearly less than the first
    CHECK(chosen({{100, 1}, {40, 70}, {50, 1}}) == 2);
    CHECK(chosen({{100, 1}, {98, 10}, {40, 70}}) == 0);
}

TEST_CASE("a candidate stays a contender while more samples may make it the choice", "[choice]") {
    constexpr TuneTime best{100, 0};
    CHECK(can_become_choice({103, 0}, best, true)); // spreads of 1 % are possible in any case
    CHECK(can_become_choice({103, 0}, best, false));
    CHECK(can_become_choice({107, 0}, best, true));
    CHECK_FALSE(can_become_choice({107, 0}, best, false)); // a later one must be clearly less
    CHECK_FALSE(can_become_choice({120, 0}, best, true));
    CHECK(can_become_choice({120, 10}, best, false));
    CHECK(can_become_choice({120, 0}, {100, 10}, false));
    CHECK_FALSE(can_become_choice({200, 10}, {100, 10}, true));
}

TEST_CASE("samples are summed up by their median, and by how far they are from it", "[choice]") {
    CHECK(summary_of({3}) == TuneTime{3, 0});
    CHECK(summary_of({4, 2}) == TuneTime{3, 1});
    CHECK(summary_of({9, 1, 2}) == TuneTime{2, 1});
    CHECK(summary_of({8, 1000, 2, 4}) == TuneTime{6, 3}); // 2, 2, 4, 994 from it
    CHECK(summary_of({5, 5, 5, 5, 900}) == TuneTime{5, 0});
}

TEST_CASE("plans are named by what they do", "[choice]") {
    CHECK(name_of({}) == "default");
    CHECK(name_of(Plan::as_written()) == "as written");
    CHECK(name_of({.joins = false, .ends = false}) == "reduce");
    CHECK(name_of({.ends = false}) == "reduce + joins");
    CHECK(name_of({.reduce = false}) == "joins + ends");
    CHECK(name_of({.lanes = 1}) == "default, 1 lane");
    CHECK(name_of({.reduce = false, .joins = false, .ends = false, .lanes = 8}) == "as written, 8 lanes");
    CHECK(name_of({.lanes = 2, .durations = {1}}) == "default, 2 lanes, by durations");
    CHECK(name_of({.launches = 1}) == "default, for 1 launch");
    CHECK(name_of({.ends = false, .launches = 2}) == "reduce + joins, for 2 launches");
}
