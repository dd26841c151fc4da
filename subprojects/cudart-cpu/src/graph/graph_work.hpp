// The work of one node. A new kind of node is a new class below Work, its entry points, and a case in graph_params.cpp.
#pragma once

#include "runtime/contexts.hpp"
#include "runtime/device_model.hpp"
#include "runtime/text.hpp"

#include <driver_types.h>

#include <memory>
#include <optional>
#include <string>

namespace cudart_cpu::detail {

class Graph;

/// The reason why an exec cannot do another work at one of its nodes.
struct Refusal {
    cudaGraphExecUpdateResult result;
    std::string reason;
};

/// The reason why a node cannot be in the body of a conditional node.
struct BodyRefusal {
    cudaGraphInstantiateResult result;
    std::string reason;
};

/// The origin of a node's child graph.
enum class ChildOwnership { clone, move };

/// Immutable, so that graphs, their clones, execs and launches in flight share one object.
class Work {
  public:
    Work() = default;
    Work(const Work&) = default;
    Work& operator=(const Work&) = delete;
    virtual ~Work() = default;

    virtual cudaGraphNodeType type() const noexcept = 0;

    /// The device that was current when the node got its parameters.
    int device() const noexcept { return device_; }
    /// The context in which the node got its parameters; null for the device's primary one.
    CUcontext context() const noexcept { return context_; }

    /// Short, for people: "kernel scale", "memcpy 12 B".
    virtual std::string title() const = 0;

    /// A full description in one line.
    virtual std::string details() const { return title(); }

    virtual void run() const = 0;

    /// Returns the work for one launch in place of this one, with all data read at the launch's call; null if it reads
    /// none. Throws Failure if the launch cannot be made now.
    virtual std::shared_ptr<const Work> staged() const { return nullptr; }
    virtual bool is_staged() const noexcept { return false; }
    /// Whether the call of a launch returns only after this has run.
    virtual bool holds_launch() const noexcept { return false; }

    /// Records in the graph that a node with this work has been added.
    virtual void added_to(const Graph&) const {}
    /// Records that the node goes; also called if it could not be added.
    virtual void removed_from(const Graph&) const noexcept {}

    /// Called when an exec is made with this work, gets it in an update, or changes `enabled`.
    virtual void attach(const void* /*exec*/, bool /*enabled*/) const {}
    virtual void detach(const void* /*exec*/) const noexcept {}
    /// Whether an instantiated node, disabled with this work, lets its dependents start at once instead of after its
    /// dependencies.
    virtual bool forgets_order() const { return false; }

    /// Whether the work itself knows whether the node is enabled.
    virtual bool decides_whether_it_runs() const noexcept { return false; }

    virtual bool can_be_disabled() const noexcept { return false; }

    /// Returns why a node cannot get this work now; empty if it can. `current` is its work of the same type, or null if
    /// it is new.
    virtual std::string refuse_operands([[maybe_unused]] const Work* current) const { return {}; }

    /// Returns why a graph with this node cannot be cloned; empty if it can.
    virtual std::string refuse_clone() const { return {}; }

    /// Returns why a graph with this node cannot be a child graph; empty if it can.
    virtual std::string refuse_as_child(ChildOwnership) const { return {}; }

    /// Returns why no graph with this node can be instantiated now; empty if one can.
    virtual std::string refuse_exec() const { return {}; }

    /// Returns why a graph with this node cannot be instantiated while another exec of it lives; empty if it can.
    virtual std::string refuse_second_exec() const { return {}; }

    /// Returns why a body with this node cannot be instantiated.
    virtual std::optional<BodyRefusal> refuse_in_body() const;

    /// Returns why a graph with this node cannot be instantiated for launch from the device; empty if it can.
    virtual std::string refuse_device_launch() const;

    /// Returns why an update of a single node of an exec cannot put `next`, of the same type, in place of this work.
    virtual std::optional<Refusal> refuse_node_update(const Work& next) const;

    /// Returns why an update of the whole graph cannot. `fixed_priority`: the exec was made with UseNodePriority.
    virtual std::optional<Refusal> refuse_graph_update(const Work& next, bool fixed_priority) const;

  private:
    int device_ = current_device();
    CUcontext context_ = context_for_nodes();
};

using WorkPointer = std::shared_ptr<const Work>;

/// The name of a kind in the driver's log: "KERNEL", "MEMCPY".
const char* type_name(cudaGraphNodeType type) noexcept;

} // namespace cudart_cpu::detail
