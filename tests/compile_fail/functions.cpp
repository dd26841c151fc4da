// GraphFunctions: signatures, bodies, arguments.
#include <cudag/eager_builder.hpp>
#include <cudag/graph_function.hpp>

#include <vector>

__global__ void scale(const float* from, float* to, int n);

void functions(cudag::Stream& stream, cudag::DeviceBuffer<float>& x,
               [[maybe_unused]] cudag::DeviceBuffer<int>& counts) {
    const auto body = [](auto& b, const auto& from, const auto& to, const auto& n) {
        b.kernel({.block = 32}, scale, from, to, n);
    };
    using cudag::In;
    using cudag::Named;
    using cudag::Out;
    cudag::GraphFunction<void(Named<"from", In<float>>, Out<float>, Named<"n", int>)> f(body, x, 32, 3);
    f(stream, x, x, 4);
    f(stream, cudag::arg<"n">(4), cudag::arg<1>(x));
    cudag::EagerBuilder eager(stream);
    body(eager, x, x, 3);
#if CUDAG_MISTAKE == 1 // expect-error: cudag: a GraphFunction has a signature such as void(In<float>, Out<float>, int)
    cudag::GraphFunction<int> g;
#elif CUDAG_MISTAKE == 2  // expect-error: cudag: a parameter of a GraphFunction is In<T>, Out<T>, InOut<T>
    cudag::GraphFunction<void(float*)> g([](auto&, const auto&) {}, nullptr);
#elif CUDAG_MISTAKE == 3  // expect-error: cudag: the body of a GraphFunction takes a GraphBuilder& (or auto&)
    cudag::GraphFunction<void(In<float>)> g([](auto& b, int) { b.node_count(); }, x);
#elif CUDAG_MISTAKE == 4  // expect-error: cudag: GraphFunction<void(...)>(
    cudag::GraphFunction<void(In<float>, Out<float>, int)> g(body, x, x);
#elif CUDAG_MISTAKE == 5  // expect-error: cudag: a call of a GraphFunction takes the stream and one argument for each
    f(stream, x, x);
#elif CUDAG_MISTAKE == 6  // expect-error: cudag: a call of a GraphFunction takes the stream and one argument for each
    f(stream, x, x, cudag::arg<2>(4));
#elif CUDAG_MISTAKE == 7  // expect-error: cudag: this GraphFunction has no parameter of this number or name
    f(stream, cudag::arg<"count">(4));
#elif CUDAG_MISTAKE == 8  // expect-error: cudag: this GraphFunction has no parameter of this number or name
    f(stream, cudag::arg<3>(4));
#elif CUDAG_MISTAKE == 9  // expect-error: cudag: this call gives a parameter of the GraphFunction twice
    f(stream, cudag::arg<"n">(4), cudag::arg<2>(5));
#elif CUDAG_MISTAKE == 10 // expect-error: cudag: a value of a GraphFunction has its parameter's type
    f(stream, x, x, 4.5);
#elif CUDAG_MISTAKE == 11 // expect-error: cudag: bind takes memory of the parameter's elements, which are not const
    f(stream, counts, x, 4);
#elif CUDAG_MISTAKE == 12 // expect-error: cudag: this parameter of the GraphFunction takes memory of its elements
    f(stream, x, cudag::DeviceSpan<const float>(x.span()), 4);
#elif CUDAG_MISTAKE == 13 // expect-error: cudag: bind takes device memory: host memory is copied by nodes
    std::vector<float> host(32);
    f(stream, host, x, 4);
#elif CUDAG_MISTAKE == 14 // expect-error: cudag: a stream has no host nodes: call cudaLaunchHostFunc, or wait
    eager.host([] {});
#endif
}
