// The rows of one rank, exchanged by NCCL between devices: the whole solution is one launch of a loop on the device.
#pragma once

#include "slab.hpp"

#include <cudag/nccl.hpp>

#include <vector>

namespace heat {

class NcclSlab : public Slab {
  public:
    NcclSlab(const Plate& plate, const Ranks& ranks, const cudag::nccl::Communicator& comm);

    /// As Slab::reset; also counts the turns of the loop from 0.
    void reset(cudag::Stream& stream);
    /// Connects the ranks: their first exchange, which changes nothing after a `reset`.
    void warm_up(cudag::Stream& stream);

    /// Returns a graph with a loop of `sweeps` sweeps a turn, which ends on all ranks at once: after `most` turns, or
    /// if no value of any rank changes by more than `tolerance` in the last sweep of a turn. It borrows this object.
    [[nodiscard]] cudag::Graph loop(unsigned sweeps, float tolerance, unsigned most);
    /// Does the sweeps of one turn by launches into two streams, and waits.
    void sweep_in_streams(cudag::Stream& stream, unsigned sweeps);

    /// Lets the running loop end after this turn.
    void end_loop();
    /// Returns the number of turns so far, also while the loop runs.
    [[nodiscard]] unsigned turns() const;
    /// Returns the largest change, of all ranks, after the loop.
    [[nodiscard]] float change() const;

  private:
    /// The first and the last row of `to`, for the rows beside those of the neighbours; nothing for a single rank.
    [[nodiscard]] cudag::nccl::Operation exchange(const Field& to) const;
    [[nodiscard]] cudag::nccl::Operation largest_changes() const;
    void add_sweep_on_device(cudag::GraphBuilder& b, unsigned number, bool is_last);

    cudag::nccl::Communicator comm_;
    cudag::DeviceBuffer<int> all_changes_;
    cudag::PinnedBuffer<int> turns_;
    int most_turns_ = 0;
    cudag::Stream exchanging_;
    cudag::Event swept_{{.timing = false}};
    cudag::Event exchanged_{{.timing = false}};
};

} // namespace heat
