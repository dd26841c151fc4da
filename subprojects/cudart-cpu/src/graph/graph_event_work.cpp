// Event record and event wait nodes.
#include "graph_event_work.hpp"

#include "runtime/call.hpp"

namespace cudart_cpu::detail {

namespace {

/// A record node's run in one launch. It also finishes if the launch is dropped before its run: nobody waits forever.
class Record final : public Work {
  public:
    explicit Record(Event& event) { event.set_recorded(completion_); }
    Record(const Record&) = delete;
    ~Record() override {
        if (!completion_->finished()) completion_->finish();
    }

    cudaGraphNodeType type() const noexcept override { return EventRecordWork::node_type; }
    std::string title() const override { return "event record"; }
    void run() const override { completion_->finish(); }

  private:
    CompletionPtr completion_ = std::make_shared<Completion>();
};

/// A wait node's run in one launch.
class EventWait final : public Work {
  public:
    explicit EventWait(CompletionPtr recorded) : recorded_(std::move(recorded)) {}

    cudaGraphNodeType type() const noexcept override { return EventWaitWork::node_type; }
    std::string title() const override { return "event wait"; }
    void run() const override {
        if (recorded_) recorded_->wait();
    }

  private:
    CompletionPtr recorded_; // null if the event was never recorded
};

cudaEvent_t checked(cudaEvent_t event) {
    require_pointer(event, "event");
    return event;
}

} // namespace

EventWork::EventWork(cudaEvent_t event) : handle_(checked(event)), event_(shared_event_of(event)) {}

WorkPointer EventRecordWork::staged() const {
    return std::make_shared<Record>(*shared_event());
}

WorkPointer EventWaitWork::staged() const {
    return std::make_shared<EventWait>(shared_event()->recorded());
}

} // namespace cudart_cpu::detail
