// A builder as a child: it is no graph yet.
// expect-error: cudag: a builder is no Graph yet: std::move(builder).build()
#include <cudag/builder.hpp>

#include <utility>

void call(cudag::GraphBuilder& b, cudag::GraphBuilder& inner) {
#ifdef CUDAG_EXPECT_ERROR
    b.child(std::move(inner));
#else
    b.child(std::move(inner).build());
#endif
}
