// An event that is gone when the graph runs, waited for.
// expect-error: cudag: a temporary Event is gone when the graph runs; pass an lvalue or a shared_ptr
#include <cudag/builder.hpp>

#include <utility>

void call(cudag::GraphBuilder& b, cudag::Event& event) {
#ifdef CUDAG_EXPECT_ERROR
    b.wait(std::move(event));
#else
    b.wait(event);
#endif
}
