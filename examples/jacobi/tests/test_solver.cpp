// Both solvers against the oracle, and the oracle against the equation.
#include <cmath>
#include <vector>

#include <catch.hpp>

#include "../solver.hpp"

using jacobi::Problem;
using jacobi::Solution;

namespace {

// From one value, over sizes that neither threads nor blocks divide.
const std::vector<Problem> problems{
    {1, 1e-3f, 1000}, {2, 1e-4f, 1000}, {5, 1e-4f, 1000}, {17, 1e-3f, 1000}, {33, 1e-4f, 40}};

template <class Solver>
void check_solver() {
    cudag::Stream stream;
    for (const Problem& problem : problems) {
        INFO("side " << problem.side);
        const Solution expected = jacobi::solve_on_host(problem);
        Solver solver(problem);
        for (int run = 1; run <= 2; ++run) { // the second starts from the first one's values
            INFO("run " << run);
            solver.run(stream);
            const Solution solution = solver.solution();
            CHECK(solution.sweeps == expected.sweeps);
            CHECK(solution.change == expected.change);
            CHECK(solution.values == expected.values);
        }
    }
}

} // namespace

TEST_CASE("the loop on the host equals the oracle", "[jacobi]") {
    check_solver<jacobi::HostLoop>();
}

TEST_CASE("the loop on the device equals the oracle", "[jacobi]") {
    check_solver<jacobi::DeviceLoop>();
}

TEST_CASE("the oracle stops when little changes, or at its limit", "[jacobi]") {
    const Solution converged = jacobi::solve_on_host({16, 1e-5f, 100'000});
    CHECK(converged.change <= 1e-5f);
    CHECK(converged.sweeps > 100);
    CHECK(converged.sweeps < 1000);
    CHECK(jacobi::solve_on_host({16, 1e-5f, converged.sweeps - 1}).change > 1e-5f);
    CHECK(jacobi::solve_on_host({16, 1e-5f, 7}).sweeps == 7);
}

TEST_CASE("the oracle's values solve the equation", "[jacobi]") {
    const Problem problem{16, 1e-7f, 100'000};
    const std::vector<float> added = jacobi::right_side(problem);
    const std::vector<float> u = jacobi::solve_on_host(problem).values;
    const std::size_t row = 18;
    float residual = 0, largest = 0;
    for (std::size_t y = 1; y <= 16; ++y) {
        for (std::size_t x = 1; x <= 16; ++x) {
            const std::size_t i = y * row + x;
            residual =
                std::max(residual, std::abs(4 * u[i] - u[i - row] - u[i - 1] - u[i + 1] - u[i + row] - added[i]));
            largest = std::max(largest, u[i]);
        }
    }
    CHECK(residual < 1e-6f);
    CHECK(largest > 0.1f);
    CHECK(u[0] == 0.0f);
    CHECK(u[row * 18 - 1] == 0.0f);
}

TEST_CASE("the device's graph is a loop with all else around it", "[jacobi]") {
    const jacobi::DeviceLoop solver(Problem{8, 1e-3f, 10});
    const auto found = solver.graph().find("sweeps");
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind() == cudag::NodeKind::conditional);
    CHECK(solver.graph().find("upload").size() == 1);
    CHECK(solver.graph().edge_count() == 7);
}
