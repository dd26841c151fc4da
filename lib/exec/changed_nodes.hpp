// Nodes of an exec that take other parameters, one after the other, all or none.
#pragma once

#include "exec_state.hpp"
#include "node/node_params.hpp"
#include "order/race_check.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace cudag::detail {

class ChangedNodes {
  public:
    /// Room for `count` nodes. Errors begin with `call`, such as "apply: ".
    ChangedNodes(ExecState& exec, std::size_t count, const char* call)
        : exec_(exec), may_undo_(count > 1), call_(call) {
        nodes_.reserve(count);
    }

    /// A node, the parameters that it is to take, their owners, and what it then says that it does to memory. Throws
    /// UpdateError if CUDA would refuse them.
    void add(const NodePlace& place, const NodeParams& next, OwnerVersions&& owners,
             std::vector<ArgumentAccess>&& declared);
    /// A node that keeps its parameters and owners, and then says this.
    void add_declared(const NodePlace& place, std::vector<ArgumentAccess>&& declared) {
        declared_.push_back({place, exec_.shadow(place), std::move(declared)});
    }
    /// Throws RaceError if all these would make a race, in an exec that refuses them.
    void require_no_race();

    /// What CUDA has said to the parameters of a node.
    struct Refusal {
        NativeResult result;
        const NodeParams& params;
        Subject subject;
        NodePlace place;
    };
    /// Gives CUDA all parameters; after a refusal it has none of them.
    [[nodiscard]] std::optional<Refusal> push();
    /// Puts them in force, once CUDA has them.
    void commit() noexcept;

  private:
    struct Change {
        NodePlace place;
        const NodeParams& next;
        Shadow& shadow;
        OwnerVersions owners;
        std::vector<ArgumentAccess> declared;
        HostRun* run = nullptr;  ///< of a host task
        HostRun* undo = nullptr; ///< of the one in force
        OwnerVersions undo_owners = {};
    };

    /// A node of which only this changes.
    struct Declared {
        NodePlace place;
        Shadow& shadow;
        std::vector<ArgumentAccess> list;
    };

    void undo(Change& change) noexcept;

    ExecState& exec_;
    bool may_undo_;
    const char* call_;
    std::vector<Change> nodes_;
    std::vector<Declared> declared_;
    RaceCheck races_;
};

} // namespace cudag::detail
