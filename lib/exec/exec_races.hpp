// The accesses of the nodes of one exec: their changes, and a watch for races.
#pragma once

#include "graph/node_place.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace cudag::detail {

class ExecRaceWatch;
class ExecState;
class RaceWatch;

class ExecRaces {
  public:
    explicit ExecRaces(const ExecState& exec) noexcept;
    ~ExecRaces();
    ExecRaces(const ExecRaces&) = delete;
    ExecRaces& operator=(const ExecRaces&) = delete;

    /// The watch for races, made on first use. `forget` drops it after updates that are not staged in it.
    [[nodiscard]] RaceWatch& watch();
    void forget() noexcept;
    /// Notes a node whose accesses have changed without the watch: it learns them before it is next used.
    void note_unwatched(const NodePlace& node) noexcept;
    /// Grows with each change of accesses.
    [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }

  private:
    void watch_unwatched();

    const ExecState& exec_;
    std::unique_ptr<ExecRaceWatch> watch_; ///< null before the first use
    std::vector<NodePlace> unwatched_;     ///< nodes whose accesses it does not know
    std::uint64_t changes_ = 0;
};

} // namespace cudag::detail
