// Both loops make the same iterations; they differ in the place of the decision.
#include "solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace cg {
namespace {

const cudag::LaunchConfig threads = cudag::grid_1d(parts, 64);

std::size_t size_of(const Problem& problem) {
    return static_cast<std::size_t>(problem.side) * static_cast<std::size_t>(problem.side);
}

std::vector<double> multiplied(const Problem& problem, const std::vector<double>& x) {
    const auto side = static_cast<std::size_t>(problem.side);
    std::vector<double> product(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::size_t column = i % side, row = i / side;
        product[i] = 4 * x[i] - (column > 0 ? x[i - 1] : 0) - (column + 1 < side ? x[i + 1] : 0) -
                     (row > 0 ? x[i - side] : 0) - (row + 1 < side ? x[i + side] : 0);
    }
    return product;
}

double length_of(const std::vector<double>& values) {
    double square = 0;
    for (const double value : values)
        square += value * value;
    return std::sqrt(square);
}

// graph begins
/// The edges come from the kernels' accesses, in the order of the calls.
cudag::Graph build(const Fields& f) {
    const Problem& p = f.problem;
    cudag::GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    b.memcpy(f.right, f.host).label("upload");
    b.clear(f.x).label("x = 0");
    b.kernel(threads, start, p.side, f.right, f.residual, f.direction, f.part).label("start");
    b.kernel({}, begin_solution, f.part, f.state).label("begin");

    const cudag::Condition again = b.condition(1);
    auto loop = b.while_(again, [&](cudag::GraphBuilder& body) {
        body.kernel(threads, multiply, p.side, f.direction, f.product, f.part).label("multiply");
        body.kernel({}, measure, f.part, f.state).label("measure");
        body.kernel(threads, advance, p.side, f.state, f.direction, f.product, f.x, f.residual, f.part)
            .label("advance");
        body.kernel({}, end_and_decide, f.part, p.tolerance, p.most, f.state, again).label("decide");
        body.kernel(threads, turn, p.side, f.state, f.residual, f.direction).label("turn");
    });
    loop.label("iterations");

    b.memcpy(f.host, f.x).label("download x");
    b.memcpy(f.host_state, f.state).label("download state");
    return std::move(b).build();
}
// graph ends

/// Puts the right side into the host memory, over the last solution.
void prepare(const Fields& f) {
    const std::vector<double> right = right_side(f.problem);
    std::copy(right.begin(), right.end(), f.host.begin());
}

} // namespace

std::vector<double> known_solution(const Problem& problem) {
    std::vector<double> x(size_of(problem));
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = std::sin(0.7 * static_cast<double>(i)) + 0.5;
    return x;
}

std::vector<double> right_side(const Problem& problem) {
    return multiplied(problem, known_solution(problem));
}

double relative_residual(const Problem& problem, const std::vector<double>& x) {
    const std::vector<double> right = right_side(problem);
    std::vector<double> difference = multiplied(problem, x);
    for (std::size_t i = 0; i < x.size(); ++i)
        difference[i] -= right[i];
    return length_of(difference) / length_of(right);
}

Fields::Fields(const Problem& given)
    : problem(given), host(size_of(given)), host_state(1), right(size_of(given)), x(size_of(given)),
      residual(size_of(given)), direction(size_of(given)), product(size_of(given)), part(parts), state(1) {}

Solution Fields::solution() const {
    return {{host.begin(), host.end()}, host_state[0].finished};
}

void HostLoop::run(cudag::Stream& stream) {
    const Fields& f = fields_;
    const Problem& p = f.problem;
    prepare(f);
    cudag::memcpy_async(stream, f.right, f.host);
    cudag::clear_async(stream, f.x);
    cudag::launch(stream, threads, start, p.side, f.right, f.residual, f.direction, f.part);
    cudag::launch(stream, {}, begin_solution, f.part, f.state);
    const State& state = f.host_state[0];
    do {
        cudag::launch(stream, threads, multiply, p.side, f.direction, f.product, f.part);
        cudag::launch(stream, {}, measure, f.part, f.state);
        cudag::launch(stream, threads, advance, p.side, f.state, f.direction, f.product, f.x, f.residual, f.part);
        cudag::launch(stream, {}, end_iteration, f.part, f.state);
        cudag::launch(stream, threads, turn, p.side, f.state, f.residual, f.direction);
        cudag::memcpy_async(stream, f.host_state, f.state);
        stream.synchronize(); // in each iteration
    } while (state.square > p.tolerance * p.tolerance * state.first && state.finished < p.most);
    cudag::memcpy_async(stream, f.host, f.x);
    stream.synchronize();
}

DeviceLoop::DeviceLoop(const Problem& problem)
    : fields_(problem), graph_(build(fields_)), exec_(graph_.instantiate()) {}

void DeviceLoop::run(cudag::Stream& stream) {
    prepare(fields_);
    exec_.launch(stream);
    stream.synchronize();
}

} // namespace cg
