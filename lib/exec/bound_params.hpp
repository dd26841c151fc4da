// The BufferParams that an exec was told other memory for.
#pragma once

#include "graph/buffer_uses.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace cudag::detail {

struct BoundParam {
    std::vector<AddressUse> uses; ///< in the exec's graph
    const void* owner = nullptr;  ///< of what was bound last
};

/// By the parameter's id. What an exec's graph was made with never changes, so uses are looked for once.
class BoundParams {
  public:
    /// Throws GraphError.
    [[nodiscard]] BoundParam& find(const GraphState& graph, const ParamMemory& param) {
        const auto [found, is_new] = all_.try_emplace(param.id);
        if (!is_new) return found->second;
        try {
            found->second.uses = uses_of(graph, param);
        } catch (...) {
            all_.erase(found);
            throw;
        }
        return found->second;
    }

  private:
    std::unordered_map<std::uint64_t, BoundParam> all_;
};

} // namespace cudag::detail
