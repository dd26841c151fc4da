// Event record and event wait nodes.
#pragma once

#include "graph_work.hpp"
#include "stream/event.hpp"

namespace cudart_cpu::detail {

/// The common part of event nodes. Keeps the event alive.
class EventWork : public Work {
  public:
    cudaEvent_t event() const noexcept { return handle_; }

    std::string details() const override { return text(title(), " of event ", handle_); }
    void run() const override {} // a launch runs the result of staged()
    bool is_staged() const noexcept override { return true; }

  protected:
    /// Throws Failure unless the event is alive.
    explicit EventWork(cudaEvent_t event);
    const std::shared_ptr<Event>& shared_event() const noexcept { return event_; }

  private:
    cudaEvent_t handle_;
    std::shared_ptr<Event> event_;
};

/// Records the event. From the call of the launch on, the event represents the node's run in this launch.
class EventRecordWork final : public EventWork {
  public:
    static constexpr cudaGraphNodeType node_type = cudaGraphNodeTypeEventRecord;

    explicit EventRecordWork(cudaEvent_t event) : EventWork(event) {}

    cudaGraphNodeType type() const noexcept override { return node_type; }
    std::string title() const override { return "event record"; }
    WorkPointer staged() const override;
};

/// Waits for the latest record of the event at the call of the launch, before the launch's own records.
class EventWaitWork final : public EventWork {
  public:
    static constexpr cudaGraphNodeType node_type = cudaGraphNodeTypeWaitEvent;

    explicit EventWaitWork(cudaEvent_t event) : EventWork(event) {}

    cudaGraphNodeType type() const noexcept override { return node_type; }
    std::string title() const override { return "event wait"; }
    WorkPointer staged() const override;
};

} // namespace cudart_cpu::detail
