// The events of nodes for recording and waiting.
#pragma once

#include <cudag/detail/argument.hpp>
#include <cudag/detail/owners.hpp>
#include <cudag/event.hpp>

#include <concepts>
#include <memory>
#include <type_traits>

namespace cudag::detail {

enum class EventUse { record, wait };

/// An Event, a shared_ptr to one, or CUDA's handle; as deduced by a forwarding reference.
template <class GivenEvent>
concept EventArgument = std::same_as<std::remove_cvref_t<GivenEvent>, Event> ||
                        std::same_as<std::remove_cvref_t<GivenEvent>, cudaEvent_t> ||
                        std::same_as<std::remove_cvref_t<GivenEvent>, std::shared_ptr<Event>> ||
                        std::same_as<std::remove_cvref_t<GivenEvent>, std::shared_ptr<const Event>>;

/// Fails to compile if a node cannot use the event so.
template <class GivenEvent, EventUse Use>
constexpr bool require_event() {
    using Given = std::remove_reference_t<GivenEvent>;
    constexpr bool temporary = std::same_as<std::remove_cv_t<Given>, Event> && !std::is_lvalue_reference_v<GivenEvent>;
    constexpr bool constant =
        std::same_as<Given, const Event> || std::same_as<std::remove_cv_t<Given>, std::shared_ptr<const Event>>;
    static_assert(EventArgument<GivenEvent>,
                  "cudag: an event is a cudag::Event, a shared_ptr to one, or a cudaEvent_t");
    static_assert(!temporary, "cudag: a temporary Event is gone when the graph runs; pass an lvalue or a shared_ptr");
    static_assert(!constant || Use == EventUse::wait, "cudag: recording changes an event, and this one is const");
    return EventArgument<GivenEvent> && !temporary && (!constant || Use == EventUse::wait);
}

/// Returns CUDA's handle; null if `event` is null or was moved from. A shared_ptr goes into `owners`.
template <class GivenEvent>
cudaEvent_t to_event(const GivenEvent& event, Owners& owners) {
    if constexpr (std::same_as<GivenEvent, Event>) {
        return event.get();
    } else if constexpr (is_shared_ptr<GivenEvent>) {
        keep(owners, 0, event);
        return event ? event->get() : nullptr;
    } else {
        return event;
    }
}

} // namespace cudag::detail
