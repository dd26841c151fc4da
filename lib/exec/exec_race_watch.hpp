// Detection of races that updates of an exec would make.
#pragma once

#include "exec_in_force.hpp"
#include "order/race_watch.hpp"

namespace cudag::detail {

/// A watch for races between the nodes of an exec.
class ExecRaceWatch {
  public:
    explicit ExecRaceWatch(const ExecState& exec) noexcept : in_force_(exec) {}

    [[nodiscard]] RaceWatch& watch() noexcept { return watch_; }

  private:
    ExecInForce in_force_;
    RaceWatch watch_{in_force_};
};

} // namespace cudag::detail
