// What one node does. A new kind of node is a new class below Work, its entry points, and a case in graph_params.cpp.
#pragma once

#include "runtime/device_model.hpp"
#include "runtime/text.hpp"

#include <driver_types.h>

#include <memory>
#include <optional>
#include <string>

namespace cudart_cpu::detail {

class Graph;

/// Why an exec cannot do another work at one of its nodes.
struct Refusal {
    cudaGraphExecUpdateResult result;
    std::string reason;
};

/// Why a node cannot be in the body of a conditional node.
struct BodyRefusal {
    cudaGraphInstantiateResult result;
    std::string reason;
};

/// How a node gets its child graph.
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

    /// Short, for people: "kernel scale", "memcpy 12 B".
    virtual std::string title() const = 0;

    /// Everything there is to say about it, in one line.
    virtual std::string details() const { return title(); }

    virtual void run() const = 0;

    /// What a launch runs in the place of this, with what must be read when the launch is called; null if nothing must.
    virtual std::shared_ptr<const Work> staged() const { return nullptr; }
    virtual bool is_staged() const noexcept { return false; }
    /// Whether the call of a launch returns only after this has run.
    virtual bool holds_launch() const noexcept { return false; }

    /// What the graph knows from now on: a node with this work is one of its nodes.
    virtual void added_to(const Graph&) const {}
    /// The node goes; also of one that could not be added.
    virtual void removed_from(const Graph&) const noexcept {}

    /// An exec is made of it, or gets it in an update, or `enabled` changes.
    virtual void attach(const void* /*exec*/, bool /*enabled*/) const {}
    virtual void detach(const void* /*exec*/) const noexcept {}
    /// Whether a node that was instantiated and is now disabled with such work lets what comes after it start at once,
    /// instead of after what comes before it.
    virtual bool forgets_order() const { return false; }

    /// Whether the work knows itself whether the node is enabled.
    virtual bool decides_whether_it_runs() const noexcept { return false; }

    virtual bool can_be_disabled() const noexcept { return false; }

    /// Why a node cannot get this work now, in the place of `current`, of the same type, or null; empty if it can.
    virtual std::string refuse_operands([[maybe_unused]] const Work* current) const { return {}; }

    /// Why a graph with this node cannot be cloned; empty if it can.
    virtual std::string refuse_clone() const { return {}; }

    /// Why a graph with this node cannot be a child graph; empty if it can.
    virtual std::string refuse_as_child(ChildOwnership) const { return {}; }

    /// Why no graph with this node can be instantiated now; empty if one can.
    virtual std::string refuse_exec() const { return {}; }

    /// Why a graph with this node cannot be instantiated while another executable graph of it lives; empty if it can.
    virtual std::string refuse_second_exec() const { return {}; }

    /// Why a body with this node cannot be instantiated.
    virtual std::optional<BodyRefusal> refuse_in_body() const;

    /// Why a graph with this node cannot be instantiated for launch from the device; empty if it can.
    virtual std::string refuse_device_launch() const;

    /// Why an update of a single node of an exec cannot put `next`, of the same type, in the place of this.
    virtual std::optional<Refusal> refuse_node_update(const Work& next) const;

    /// The same for an update of the whole graph. `fixed_priority`: the exec was made with UseNodePriority.
    virtual std::optional<Refusal> refuse_graph_update(const Work& next, bool fixed_priority) const;

  private:
    int device_ = current_device();
};

using WorkPointer = std::shared_ptr<const Work>;

/// The word that the driver's log uses: "KERNEL", "MEMCPY".
const char* type_name(cudaGraphNodeType type) noexcept;

} // namespace cudart_cpu::detail
