// What the fuzzers ask of the runtime that they run on, beyond CUDA's API: nothing on a GPU.
#pragma once

#include <cstdint>

/// Draws the order of unordered work by `seed`, where the runtime does, with as many workers as that seed says.
void schedule(std::uint64_t seed);

/// Checks that nothing is alive that was not so when it was made.
class LeakCheck {
  public:
    LeakCheck();
    /// Throws Wrong if there is more. `final`: also what is only freed a moment after its launch has ended.
    void require_nothing_left(bool final) const;

  private:
    std::uint64_t start_[8] = {};
};

/// What fails, if anything, in the next operation.
enum class Faults { off, calls, allocations };
/// Whether the runtime can be made to fail.
bool can_fail();
/// The n-th runtime call, or allocation of this thread, from now fails.
void arm(Faults faults, std::uint64_t n);
/// Whether it has been reached; nothing fails any more.
bool disarm(Faults faults);
