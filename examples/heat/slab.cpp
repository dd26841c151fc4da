#include "slab.hpp"

#include "kernels.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace heat {
namespace {

std::size_t rows_of(const Plate& plate, const Ranks& ranks) {
    const int rest = plate.side % ranks.count();
    return static_cast<std::size_t>(plate.side / ranks.count() + (ranks.rank() < rest ? 1 : 0));
}

} // namespace

Slab::Slab(const Plate& plate, const Ranks& ranks)
    : ranks_(ranks), width_(static_cast<std::size_t>(plate.width())), rows_(rows_of(plate, ranks)),
      parts_{{"first row", 1, 1}, {"last row", rows_, 1}, {"rows between", 2, rows_ - 2}},
      fields_{Field((rows_ + 2) * width_), Field((rows_ + 2) * width_)}, changes_(6), host_changes_(3), change_(1),
      send_(2 * width_), receive_(2 * width_) {}

cudag::LaunchConfig Slab::threads(std::size_t rows) const {
    return cudag::grid_2d(width_ - 2, rows, rows == 1 ? dim3(64, 1) : dim3(32, 4));
}

void Slab::reset(cudag::Stream& stream) {
    std::ranges::fill(receive_.span(), 0.0f); // at the ends of the plate no exchange changes it
    if (ranks_.rank() == 0) std::ranges::fill(receive_.span().subspan(1, width_ - 2), 1.0f);
    for (const Field& field : fields_) {
        cudag::memset_async(stream, field, 0.0f);
        cudag::memcpy_async(stream, rows(field, 0, 1), half(receive_, false));
    }
    stream.synchronize();
}

// graph begins
cudag::Graph Slab::graph(unsigned sweeps) {
    cudag::GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    b.clear(changes_).label("no change");
    for (unsigned i = 0; i < sweeps; ++i)
        add_sweep(b, i, i + 1 == sweeps);
    b.memcpy(host_changes_, changes_.span().subspan(3)).label("download changes");
    b.host([this] { reduce_change(); })
        .label("largest change of all ranks")
        .reads(host_changes_)
        .writes(change_, receive_); // after the last exchange: MPI is called in one order on all ranks
    return std::move(b).build();
}

void Slab::add_parts(cudag::GraphBuilder& b, unsigned sweep_number, bool is_last) const {
    const Field& from = fields_[sweep_number % 2];
    const Field& to = fields_[(sweep_number + 1) % 2];
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const auto& [label, first, count] = parts_[i];
        b.kernel(threads(count), sweep, rows(from, first - 1, count + 2), rows(to, first, count),
                 static_cast<int>(width_), static_cast<int>(count), change_of(i, is_last))
            .label(label);
    }
}

void Slab::add_sweep(cudag::GraphBuilder& b, unsigned sweep_number, bool is_last) {
    const Field& to = fields_[(sweep_number + 1) % 2];
    add_parts(b, sweep_number, is_last);
    b.memcpy(half(send_, false), rows(to, 1, 1)).label("download first row");
    b.memcpy(half(send_, true), rows(to, rows_, 1)).label("download last row");
    b.host([this] { ranks_.exchange(send_.span(), receive_.span()); }).label("exchange").reads(send_).writes(receive_);
    b.memcpy(rows(to, 0, 1), half(receive_, false)).label("upload row above");
    b.memcpy(rows(to, rows_ + 1, 1), half(receive_, true)).label("upload row below");
}
// graph ends

void Slab::reduce_change() {
    const int largest = std::ranges::max(host_changes_.span());
    change_[0] = ranks_.largest(std::bit_cast<float>(largest));
}

void Slab::launch_part(cudag::Stream& stream, std::size_t part, unsigned sweep_number, bool is_last) const {
    const Field& from = fields_[sweep_number % 2];
    const Field& to = fields_[(sweep_number + 1) % 2];
    const auto& [label, first, count] = parts_[part];
    cudag::launch(stream, threads(count), sweep, rows(from, first - 1, count + 2), rows(to, first, count),
                  static_cast<int>(width_), static_cast<int>(count), change_of(part, is_last));
}

void Slab::sweep_in_stream(cudag::Stream& stream, unsigned sweeps) {
    cudag::memset_async(stream, changes_, 0);
    for (unsigned n = 0; n < sweeps; ++n) {
        const Field& to = fields_[(n + 1) % 2];
        const bool is_last = n + 1 == sweeps;
        launch_part(stream, 0, n, is_last);
        launch_part(stream, 1, n, is_last);
        cudag::memcpy_async(stream, half(send_, false), rows(to, 1, 1));
        cudag::memcpy_async(stream, half(send_, true), rows(to, rows_, 1));
        sent_.record(stream);
        launch_part(stream, 2, n, is_last); // while the host exchanges rows
        sent_.synchronize();
        ranks_.exchange(send_.span(), receive_.span());
        cudag::memcpy_async(stream, rows(to, 0, 1), half(receive_, false));
        cudag::memcpy_async(stream, rows(to, rows_ + 1, 1), half(receive_, true));
        stream.synchronize(); // before the next exchange fills `receive_`
    }
    cudag::memcpy_async(stream, host_changes_, changes_.span().subspan(3));
    stream.synchronize();
    reduce_change();
}

std::vector<float> Slab::values() const {
    std::vector<float> values(rows_ * width_);
    cudag::check(cudaMemcpy(values.data(), rows(fields_[0], 1, rows_).data(), values.size() * sizeof(float),
                            cudaMemcpyDeviceToHost));
    return values;
}

} // namespace heat
