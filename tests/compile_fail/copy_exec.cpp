// A copy of a Exec.
// expect-error: cudag: an Exec has one owner: std::move(exec), or instantiate once more
#include <cudag/exec.hpp>

#include <utility>

void call(cudag::Exec& owner) {
#ifdef CUDAG_EXPECT_ERROR
    cudag::Exec other = owner;
    static_cast<void>(other);
#else
    cudag::Exec other = std::move(owner);
    static_cast<void>(other);
#endif
}
