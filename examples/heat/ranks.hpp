// The ranks of the program, by MPI.
#pragma once

#include <cudag/agree.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace heat {

/// This rank among all. MPI is called by one thread at a time: by a host node during a launch, otherwise by the main
/// thread. Throws std::runtime_error if MPI reports an error.
class Ranks {
  public:
    Ranks(int* argc, char*** argv);
    ~Ranks();
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;

    [[nodiscard]] int rank() const { return rank_; }
    [[nodiscard]] int count() const { return count_; }
    /// Returns the number of this rank among those of this machine, for its device.
    [[nodiscard]] int on_this_machine() const { return local_; }

    /// Sends the first half of `send` to the rank above and the second half to the rank below, and receives theirs.
    /// There is no rank above the first, nor below the last: their halves of `receive` stay as they are.
    void exchange(std::span<const float> send, std::span<float> receive) const;
    /// Returns the largest value of all ranks.
    [[nodiscard]] float largest(float mine) const;
    [[nodiscard]] double largest(double mine) const;
    /// Returns the rows of all ranks, one after the other, on rank 0.
    [[nodiscard]] std::vector<float> gather(std::span<const float> mine) const;
    [[nodiscard]] cudag::AllGather all_gather() const;
    /// Fills `bytes` with those of rank 0.
    void broadcast(std::span<char> bytes) const;

    /// Ends all ranks: some of them may wait for this one.
    [[noreturn]] void abort(const std::string& reason) const;

  private:
    int rank_ = 0;
    int count_ = 1;
    int local_ = 0;
};

} // namespace heat
