// A copy of a Event.
// expect-error: cudag: an Event has one owner: std::move(event), or pass it by reference
#include <cudag/event.hpp>

#include <utility>

void call(cudag::Event& owner) {
#ifdef CUDAG_EXPECT_ERROR
    cudag::Event other = owner;
    static_cast<void>(other);
#else
    cudag::Event other = std::move(owner);
    static_cast<void>(other);
#endif
}
