// Both loops make the same sweeps; they differ in who decides whether there is another one.
#include "solver.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace jacobi {
namespace {

cudag::LaunchConfig threads_for(int side) {
    const int per_row = (side + values_per_thread - 1) / values_per_thread;
    return cudag::grid_2d(static_cast<std::size_t>(per_row), static_cast<std::size_t>(side), dim3(8, 8));
}

/// Halves of the downloaded values.
std::span<float> half(const Fields& f, bool second) {
    return f.host_values.span().subspan(second ? f.even.size() : 0, f.even.size());
}

//   clear even ------.
//   clear odd -------+-> while { sweep -> decide } -> download even, download odd, download progress
//   upload progress -+
//   upload ----------'
cudag::Graph build(const Fields& f) {
    const Problem& p = f.problem;
    cudag::GraphBuilder b;

    auto even = b.memset(f.even, 0.0f).label("clear even");
    auto odd = b.memset(f.odd, 0.0f).label("clear odd");
    auto progress = b.memcpy(f.progress, f.host_progress).label("upload progress");
    auto upload = b.memcpy(f.right_side, f.host_right_side).label("upload");

    cudag::Condition again = b.condition(1);
    auto loop =
        b.while_(again,
                 [&](cudag::GraphBuilder& body) {
                     auto step =
                         body.kernel(f.config, sweep, f.progress, f.right_side, f.even, f.odd, p.side).label("sweep");
                     body.kernel({}, end_sweep_and_decide, f.progress, p.tolerance, p.max_sweeps, again)
                         .label("decide")
                         .after(step);
                 })
            .label("sweeps")
            .after(even, odd, progress, upload);

    b.memcpy(half(f, false), f.even).label("download even").after(loop);
    b.memcpy(half(f, true), f.odd).label("download odd").after(loop);
    b.memcpy(f.host_progress, f.progress).label("download progress").after(loop);
    return std::move(b).build();
}

} // namespace

Fields::Fields(const Problem& given)
    : problem(given), config(threads_for(given.side)), host_right_side(field_size(given)),
      host_values(2 * field_size(given)), host_progress(1), right_side(field_size(given)), even(field_size(given)),
      odd(field_size(given)), progress(1) {
    const std::vector<float> values = jacobi::right_side(given);
    std::copy(values.begin(), values.end(), host_right_side.begin());
}

Solution Fields::solution() const {
    const Progress& end = host_progress[0];
    const std::span<float> last = half(*this, end.sweeps % 2 != 0);
    return {{last.begin(), last.end()}, end.sweeps, end.change};
}

void HostLoop::run(cudag::Stream& stream) {
    const Fields& f = fields_;
    const Problem& p = f.problem;
    cudag::memset_async(stream, f.even, 0.0f);
    cudag::memset_async(stream, f.odd, 0.0f);
    cudag::memcpy_async(stream, f.right_side, f.host_right_side);
    Progress& progress = f.host_progress[0] = {};
    cudag::memcpy_async(stream, f.progress, f.host_progress);
    do {
        cudag::launch(stream, f.config, sweep, f.progress, f.right_side, f.even, f.odd, p.side);
        cudag::launch(stream, {}, end_sweep, f.progress);
        cudag::memcpy_async(stream, f.host_progress, f.progress);
        stream.synchronize();
    } while (progress.change > p.tolerance && progress.sweeps < p.max_sweeps);
    cudag::memcpy_async(stream, half(f, false), f.even);
    cudag::memcpy_async(stream, half(f, true), f.odd);
    stream.synchronize();
}

DeviceLoop::DeviceLoop(const Problem& problem)
    : fields_(problem), graph_(build(fields_)), exec_(graph_.instantiate()) {}

void DeviceLoop::run(cudag::Stream& stream) {
    fields_.host_progress[0] = {};
    exec_.launch(stream);
    stream.synchronize();
}

} // namespace jacobi
