// Orders in which programs use the keys of a cache, and the best that a cache could do.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

struct AccessPattern {
    std::string name;
    std::vector<int> keys; ///< of each call
};

/// Eight patterns of about `calls` calls, to be met by a cache of `capacity` entries. The same in each run.
[[nodiscard]] std::vector<AccessPattern> access_patterns(std::size_t capacity, int calls);

/// How a call runs.
enum class Way { eager, captured, replayed };

/// Costs of a call by its way, in any unit.
struct CallCosts {
    double eager = 1;
    double captured = 4.5;
    double replayed = 0.15;
};

/// The cheapest ways of all calls, for one who knows them in advance and keeps at most `capacity` graphs: the exact
/// optimum, by a flow of minimal cost. The first `warm_up` calls of a key run eagerly.
[[nodiscard]] std::vector<Way> best_ways(const std::vector<int>& keys, std::size_t capacity, int warm_up,
                                         const CallCosts& costs);

[[nodiscard]] double share_of(const std::vector<Way>& ways, Way way);
[[nodiscard]] double mean_cost(const std::vector<Way>& ways, const CallCosts& costs);

} // namespace bench
