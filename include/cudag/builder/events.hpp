// Events and semaphores: the calls of GraphBuilder that order a graph with work outside it.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/event_operand.hpp>
#include <cudag/detail/owners.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/detail/private_access.hpp>
#include <cudag/detail/record.hpp>
#include <cudag/detail/semaphore_operand.hpp>
#include <cudag/external_semaphore.hpp>
#include <cudag/node.hpp>
#include <cudag/source_location.hpp>

#include <initializer_list>
#include <span>
#include <utility>

namespace cudag::detail {

/// The calls that add event nodes and semaphore nodes.
///
///     cudag::Event ready, done;
///     auto work = b.kernel(config, step, x, n).after(b.wait(ready));
///     b.record(done).after(work);
template <class Self>
class EventCalls {
  public:
    /// Adds a node that records `event`: an Event or `cudaEvent_t` (it must outlive every launch), or a shared_ptr to
    /// an Event (the graph keeps it). Each launch records the event anew, replacing an earlier record, when the nodes
    /// before this one have finished. Throws GraphError if the event is null or moved-from, and in the body of a
    /// conditional.
    template <class GivenEvent>
    RecordNode record( // cudag: record(event) marks an event
        GivenEvent&& event, SourceLocation location = SourceLocation::current()) {
        if constexpr (require_event<GivenEvent, EventUse::record>())
            return RecordNode(Passkey(), add_event_node(NodeKind::record_event, event, location));
        return {};
    }

    /// Adds a wait for the work recorded in `event`, or for nothing if the event was never recorded. Record the event
    /// before the launch of the graph; within one launch, order nodes by `.after`. Accepts the events of `record`, and
    /// throws as it does.
    template <class GivenEvent>
    requires(!SemaphoreWaits<GivenEvent>)
    WaitNode wait( // cudag: wait(event), or wait({semaphore, value}) in braces
        GivenEvent&& event, SourceLocation location = SourceLocation::current()) {
        if constexpr (require_event<GivenEvent, EventUse::wait>())
            return WaitNode(Passkey(), add_event_node(NodeKind::wait_event, event, location));
        return {};
    }

    /// Adds a node that signals external semaphores: one, as in `signal({semaphore, 5})`, or a list. Throws GraphError
    /// if the list is empty, if a semaphore is null or moved-from, and in the body of a conditional.
    SignalNode signal( // cudag: signal({semaphore, value}), in braces
        const SemaphoreSignal& signal, SourceLocation location = SourceLocation::current()) {
        return this->signal(std::span(&signal, 1), location);
    }
    SignalNode signal(std::initializer_list<SemaphoreSignal> signals,
                      SourceLocation location = SourceLocation::current()) {
        return signal(std::span(signals.begin(), signals.size()), location);
    }
    SignalNode signal(std::span<const SemaphoreSignal> signals, SourceLocation location = SourceLocation::current()) {
        return SignalNode(Passkey(), add_semaphore_node(NodeKind::signal_semaphore, signals, location));
    }

    /// Adds a node that waits for an external semaphore, or for all in a list. Throws as `signal` does.
    SemaphoreWaitNode wait(const SemaphoreWait& wait, SourceLocation location = SourceLocation::current()) {
        return this->wait(std::span(&wait, 1), location);
    }
    SemaphoreWaitNode wait(std::initializer_list<SemaphoreWait> waits,
                           SourceLocation location = SourceLocation::current()) {
        return wait(std::span(waits.begin(), waits.size()), location);
    }
    SemaphoreWaitNode wait(std::span<const SemaphoreWait> waits, SourceLocation location = SourceLocation::current()) {
        return SemaphoreWaitNode(Passkey(), add_semaphore_node(NodeKind::wait_semaphore, waits, location));
    }

  private:
    template <class GivenEvent>
    Node add_event_node(NodeKind kind, const GivenEvent& event, const SourceLocation& location) {
        Owners owners;
        const cudaEvent_t native = to_event(event, owners);
        return Access::place(self(), location, [&](GraphState& graph) {
            return add_event(graph, kind, native, std::move(owners), location);
        });
    }

    template <class Element>
    Node add_semaphore_node(NodeKind kind, std::span<const Element> list, const SourceLocation& location) {
        Owners owners;
        const auto operations = to_operations(list, owners);
        return Access::place(self(), location, [&](GraphState& graph) {
            return add_semaphores(graph, kind, operations, std::move(owners), location);
        });
    }

    [[nodiscard]] Self& self() noexcept { return static_cast<Self&>(*this); }
};

} // namespace cudag::detail
