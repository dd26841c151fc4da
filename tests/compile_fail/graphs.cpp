// Builders, Graphs and Execs: how one comes from another, and who owns them.
#include <cudag/cudag.hpp>

#include <utility>

__global__ void scale(float* x, int n, float factor);

void graphs(cudag::GraphBuilder& builder, cudag::Graph& graph, cudag::Exec& exec, cudag::Stream& stream) {
    cudag::Graph built = std::move(builder).build();
    cudag::Exec second = graph.instantiate({.auto_free_on_launch = true});
    cudag::GraphBuilder outer;
    outer.child(graph);
    outer.child(std::move(built));
    second.launch(stream);
#if CUDAG_MISTAKE == 1 // expect-error: cudag: build() empties the builder: std::move(builder).build()
    cudag::Graph other = builder.build();
#elif CUDAG_MISTAKE == 2  // expect-error: cudag: a Graph is copied by clone(), and handed on by std::move(graph)
    cudag::Graph other = graph;
#elif CUDAG_MISTAKE == 3  // expect-error: cudag: an Exec has one owner: std::move(exec), or instantiate once more
    cudag::Exec other = exec;
#elif CUDAG_MISTAKE == 4  // expect-error: cudag: a Graph comes from std::move(builder).build()
    cudag::Graph other;
#elif CUDAG_MISTAKE == 5  // expect-error: cudag: an Exec comes from graph.instantiate()
    cudag::Exec other;
#elif CUDAG_MISTAKE == 6  // expect-error: cudag: an Exec comes from graph.instantiate()
    cudag::Exec other(graph);
#elif CUDAG_MISTAKE == 7  // expect-error: cudag: a builder is no Graph yet: std::move(builder).build()
    cudag::Graph other = std::move(builder);
#elif CUDAG_MISTAKE == 8  // expect-error: cudag: a builder is no Graph yet: std::move(builder).build()
    outer.child(builder);
#elif CUDAG_MISTAKE == 9  // expect-error: cudag: this takes the Graph, not an Exec of it
    outer.child(exec);
#elif CUDAG_MISTAKE == 10 // expect-error: cudag: options stand in braces: instantiate({.device_launch = true})
    cudag::Exec other = graph.instantiate(true);
#elif CUDAG_MISTAKE == 11 // expect-error: cudag: options stand in braces: instantiate({.device_launch = true})
    cudag::Exec other = graph.instantiate(stream);
#elif CUDAG_MISTAKE == 12 // expect-error: cudag: it takes a Graph: std::move(builder).build()
    cudag::Exec other = builder.instantiate();
#elif CUDAG_MISTAKE == 13 // expect-error: cudag: a builder has no copies: pass a GraphBuilder&
    cudag::GraphBuilder other = builder;
#elif CUDAG_MISTAKE == 14 // expect-error: cudag: diff(graph, graph) compares Graphs
    static_cast<void>(cudag::diff(exec, exec));
#elif CUDAG_MISTAKE == 15 // expect-error: cudag: a graph made with CUDA's functions is taken over by Graph::adopt
    cudag::Graph other(cudaGraph_t{});
#elif CUDAG_MISTAKE == 16 // expect-error: cudag: a Stream has one owner: std::move(stream), or pass a StreamRef
    cudag::Stream other = stream;
#elif CUDAG_MISTAKE == 17 // expect-error: cudag: it takes an Exec: std::move(builder).build().instantiate()
    builder.launch(stream);
#endif
    static_cast<void>(exec), static_cast<void>(second);
}

// A builder as a child: it is no graph yet.
void child_builder(cudag::GraphBuilder& b, cudag::GraphBuilder& inner) {
#if CUDAG_MISTAKE == 18 // expect-error: cudag: a builder is no Graph yet: std::move(builder).build()
    b.child(std::move(inner));
#else
    b.child(std::move(inner).build());
#endif
}
