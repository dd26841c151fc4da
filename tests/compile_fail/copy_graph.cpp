// A copy of a Graph, which is spelled clone().
// expect-error: cudag: a Graph is copied by clone(), and handed on by std::move(graph)
#include <cudag/graph.hpp>

#include <utility>

void call(cudag::Graph& owner) {
#ifdef CUDAG_EXPECT_ERROR
    cudag::Graph other = owner;
    static_cast<void>(other);
#else
    cudag::Graph other = std::move(owner);
    static_cast<void>(other);
#endif
}
