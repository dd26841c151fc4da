// The checks that copies and fills share, whether they become nodes, updates or stream work.
#pragma once

#include "cuda/failure.hpp"

#include <cudag/detail/operand.hpp>

#include <fmt/format.h>

namespace cudag::detail {

/// Throws E if the sizes of `copy` differ or are 0, or an operand is null. `subject` is called only then.
template <class E = GraphError, class MakeSubject>
void require_copy(const CopyParams& copy, const MakeSubject& subject) {
    if (copy.destination_size != copy.source_size)
        refuse<E>(fmt::format("the destination has {} elements, the source {}; both must have the same size",
                              copy.destination_size, copy.source_size),
                  subject());
    if (copy.source_size == 0) refuse<E>("a copy of 0 elements; leave the copy out", subject());
    if (copy.destination == nullptr || copy.source == nullptr)
        refuse<E>(fmt::format("the {} is null", copy.destination == nullptr ? "destination" : "source"), subject());
}

/// Throws E if the range of `set` is empty or null, or its pitch is none.
template <class E = GraphError, class MakeSubject>
void require_set(const SetParams& set, const MakeSubject& subject) {
    if (set.size == 0 || set.height == 0) refuse<E>("a memset of 0 elements; leave it out", subject());
    if (set.destination == nullptr) refuse<E>("the destination is null", subject());
    if (set.height == 1) [[likely]]
        return;
    if (set.pitch < set.size * set.element_bytes)
        refuse<E>(
            fmt::format("the pitch is {} bytes, a row of {} elements has {}; a pitch counts bytes, and is at least "
                        "a row",
                        set.pitch, set.size, set.size * set.element_bytes),
            subject());
    if (set.pitch % set.element_bytes != 0)
        refuse<E>(fmt::format("the pitch of {} bytes is no multiple of the elements' {}", set.pitch, set.element_bytes),
                  subject());
}

/// Throws E if `event` is null.
template <class E = GraphError, class MakeSubject>
void require_event(cudaEvent_t event, const MakeSubject& subject) {
    if (event == nullptr) refuse<E>("the event is null or was moved from", subject());
}

} // namespace cudag::detail
