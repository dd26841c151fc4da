// The readiness of a launch's nodes to run.
#include "exec_readiness.hpp"

#include <algorithm>

namespace cudart_cpu::detail {

Readiness::Readiness(const LaunchShape& shape)
    : shape_(shape), missing_(shape.dependencies.size()), line_(shape.dependencies.size()) {
    for (std::size_t node = 0; node < missing_.size(); ++node)
        missing_[node] = shape.dependencies[node].size() + shape.producers[node].size();
}

unsigned char Readiness::line_before(std::uint32_t node) const noexcept {
    int line = 0;
    for (const std::uint32_t producer : shape_.producers[node])
        if (lets_consumers_start_early(producer)) line = std::max(line, line_[producer] + 1);
    return static_cast<unsigned char>(line);
}

} // namespace cudart_cpu::detail
