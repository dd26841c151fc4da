// A copy of a GraphBuilder.
// expect-error: cudag: a builder has no copies: pass a GraphBuilder&
#include <cudag/builder.hpp>

#include <utility>

void call(cudag::GraphBuilder& owner) {
#ifdef CUDAG_EXPECT_ERROR
    cudag::GraphBuilder other = owner;
    static_cast<void>(other);
#else
    cudag::GraphBuilder other = std::move(owner);
    static_cast<void>(other);
#endif
}
