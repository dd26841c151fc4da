// Changes of several nodes of an exec, one after the other, all or none.
#pragma once

#include "exec_nodes.hpp"
#include "node/node_params.hpp"
#include "order/race_check.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace cudag::detail {

class ChangedNodes {
  public:
    /// Reserves room for `count` nodes. Errors begin with `call`, such as "apply: ".
    ChangedNodes(ExecState& exec, std::size_t count, const char* call)
        : exec_(exec), may_undo_(count > 1), call_(call) {
        nodes_.reserve(count);
    }

    /// Adds a node with its next parameters, their owners, and the accesses it then declares. Borrows `next`. Throws
    /// UpdateError if CUDA would refuse the parameters.
    void add(const NodePlace& place, const NodeParams& next, OwnerVersions&& owners,
             std::vector<ArgumentAccess>&& declared);
    /// Adds a node with other declared accesses, but unchanged parameters and owners.
    void add_declared(const NodePlace& place, std::vector<ArgumentAccess>&& declared) {
        declared_.push_back({place, exec_.effective().shadow(place), std::move(declared)});
    }
    /// Throws RaceError if the exec refuses races and all these changes together would make one.
    void require_no_race();

    /// CUDA's refusal of a node's parameters.
    struct Refusal {
        NativeResult result;
        const NodeParams& params;
        Subject subject;
        NodePlace place;
    };
    /// Gives CUDA all parameters. After a refusal it has none of them.
    [[nodiscard]] std::optional<Refusal> push();
    /// Puts the changes in force, once CUDA has them.
    void commit() noexcept;

  private:
    /// What a change keeps alive.
    struct Kept {
        OwnerVersions owners;
        HostRun* run = nullptr;  ///< of the next parameters; null unless they are a host task
        HostRun* undo = nullptr; ///< of the effective host task; null if no undo is needed
        OwnerVersions undo_owners = {};
    };

    struct Change {
        NodePlace place;
        const NodeParams& next;
        Shadow& shadow;
        std::vector<ArgumentAccess> declared;
        std::unique_ptr<Kept> kept = nullptr; ///< null if it keeps nothing: usual for kernels with borrowed arguments
    };

    /// A node with other declared accesses only.
    struct Declared {
        NodePlace place;
        Shadow& shadow;
        std::vector<ArgumentAccess> list;
    };

    /// Makes the runs of a host task.
    void prepare_run(Change& change);
    void undo(Change& change) noexcept;

    ExecState& exec_;
    bool may_undo_;
    const char* call_;
    std::vector<Change> nodes_;
    std::vector<Declared> declared_;
    RaceCheck races_;
};

} // namespace cudag::detail
