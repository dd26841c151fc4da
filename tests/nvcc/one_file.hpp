// A program in one .cu file: what it does to one number.
#pragma once

namespace test {

/// By `<<<>>>` in a captured stream, replayed twice: 2 * 21.
int captured_launches();
/// A loop whose kernel sets a Condition to 0 in its turn `turns`.
int turns_of_loop(int turns);
/// The same with a kernel that takes CUDA's own handle.
int turns_of_loop_by_handle(int turns);
/// A body that is repeated, and one that runs as a condition, set from memory, says.
int repeated(int times, bool also);
/// Instantiated by one of two plans.
int planned(bool as_written);

} // namespace test
