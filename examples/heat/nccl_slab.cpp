#include "nccl_slab.hpp"

#include "kernels.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

namespace heat {

using cudag::nccl::Order;

NcclSlab::NcclSlab(const Plate& plate, const Ranks& ranks, const cudag::nccl::Communicator& comm)
    : Slab(plate, ranks), comm_(comm), all_changes_(3), turns_(1) {}

void NcclSlab::reset(cudag::Stream& stream) {
    turns_[0] = 0;
    Slab::reset(stream);
}

void NcclSlab::warm_up(cudag::Stream& stream) {
    for (const Field& field : fields_)
        exchange(field).enqueue(stream);
    largest_changes().enqueue(stream);
    stream.synchronize();
}

cudag::nccl::Operation NcclSlab::exchange(const Field& to) const {
    std::vector<cudag::nccl::Operation> all;
    if (comm_.rank() > 0) {
        all.push_back(send(comm_, rows(to, 1, 1), comm_.rank() - 1));
        all.push_back(recv(comm_, rows(to, 0, 1), comm_.rank() - 1));
    }
    if (comm_.rank() + 1 < comm_.ranks()) {
        all.push_back(send(comm_, rows(to, rows_, 1), comm_.rank() + 1));
        all.push_back(recv(comm_, rows(to, rows_ + 1, 1), comm_.rank() + 1));
    }
    return cudag::nccl::group(all);
}

cudag::nccl::Operation NcclSlab::largest_changes() const {
    return all_reduce(comm_, changes_.span().subspan(3), all_changes_, cudag::nccl::Reduction::max);
}

// loop begins
cudag::Graph NcclSlab::loop(unsigned sweeps, float tolerance, unsigned most) {
    most_turns_ = static_cast<int>(most);
    cudag::GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    const cudag::Condition more = b.condition(1);
    b.while_(more, [&](cudag::GraphBuilder& body) {
        body.clear(changes_).label("no change");
        for (unsigned i = 0; i < sweeps; ++i)
            add_sweep_on_device(body, i, i + 1 == sweeps);
        add(body, largest_changes(), Order::within_graph).label("largest changes of all ranks");
        body.kernel({}, decide, more, all_changes_, std::bit_cast<int>(tolerance), turns_, most_turns_).label("again?");
    });
    b.memcpy(host_changes_, all_changes_).label("download changes");
    return std::move(b).build();
}

void NcclSlab::add_sweep_on_device(cudag::GraphBuilder& b, unsigned number, bool is_last) {
    const Field& to = fields_[(number + 1) % 2];
    add_parts(b, number, is_last);
    if (comm_.ranks() > 1)
        add(b, exchange(to), Order::within_graph)
            .label("exchange")
            .reads(rows(to, 1, 1), rows(to, rows_, 1))
            .writes(rows(to, 0, 1), rows(to, rows_ + 1, 1)); // also on the first and the last rank: equal graphs
}
// loop ends

void NcclSlab::sweep_in_streams(cudag::Stream& stream, unsigned sweeps) {
    cudag::memset_async(stream, changes_, 0);
    for (unsigned n = 0; n < sweeps; ++n) {
        launch_part(stream, 0, n, n + 1 == sweeps);
        launch_part(stream, 1, n, n + 1 == sweeps);
        swept_.record(stream);
        exchanging_.wait(swept_);
        exchange(fields_[(n + 1) % 2]).enqueue(exchanging_);
        exchanged_.record(exchanging_);
        launch_part(stream, 2, n, n + 1 == sweeps); // while rows are exchanged
        stream.wait(exchanged_);
    }
    largest_changes().enqueue(stream);
    cudag::memcpy_async(stream, host_changes_, all_changes_);
    stream.synchronize();
}

void NcclSlab::end_loop() {
    std::atomic_ref(turns_[0]).store(most_turns_);
}

unsigned NcclSlab::turns() const {
    return static_cast<unsigned>(std::atomic_ref(turns_[0]).load(std::memory_order_relaxed));
}

float NcclSlab::change() const {
    return std::bit_cast<float>(std::ranges::max(host_changes_.span()));
}

} // namespace heat
