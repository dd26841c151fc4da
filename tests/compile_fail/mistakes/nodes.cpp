// Handles: order, labels, types, and how they are found.
#include <cudag/cudag.hpp>

#include <string>
#include <vector>

__global__ void scale(float* x, int n, float factor);
__global__ void overloaded(int n);
__global__ void overloaded(float n);

void nodes(cudag::GraphBuilder& builder, cudag::Graph& graph, cudag::DeviceBuffer<float>& x) {
    const auto a = builder.host([] {}).label("a");
    const auto b = builder.memset(x, 1.0f).after(a);
    const std::vector<cudag::Node> list = graph.nodes();
    builder.join(a, b).after(list);
    const auto found = graph.find_one(scale);
    const cudag::MemsetNode typed = list.at(0).as<cudag::MemsetNode>();
#if CUDAG_MISTAKE == 1 // expect-error: cudag: after(a, b, ...) takes the nodes one by one, or a range of them
    b.after({a, a});
#elif CUDAG_MISTAKE == 2  // expect-error: cudag: after() takes node handles or ranges of node handles
    b.after("a");
#elif CUDAG_MISTAKE == 3  // expect-error: cudag: after() takes node handles or ranges of node handles
    b.after(scale);
#elif CUDAG_MISTAKE == 4  // expect-error: cudag: after() takes node handles or ranges of node handles
    b.after(&a);
#elif CUDAG_MISTAKE == 5  // expect-error: cudag: edges are added by typed handles
    list.at(0).after(a);
#elif CUDAG_MISTAKE == 6  // expect-error: cudag: join(a, b, ...) takes the nodes one by one, or a range of them
    builder.join({a, a});
#elif CUDAG_MISTAKE == 7  // expect-error: cudag: join() takes node handles or ranges of node handles
    builder.join(a, "b");
#elif CUDAG_MISTAKE == 8  // expect-error: cudag: handles get their type by as<>(), as(kernel) or find_one(kernel)
    const cudag::MemsetNode other(list.at(0));
#elif CUDAG_MISTAKE == 9  // expect-error: cudag: handles get their type by as<>(), as(kernel) or find_one(kernel)
    const cudag::KernelNode<float*, int, float> other(graph.find_one("scale"));
#elif CUDAG_MISTAKE == 10 // expect-error: cudag: label(text) takes a string
    a.label(42);
#elif CUDAG_MISTAKE == 11 // expect-error: cudag: find takes a label or a kernel
    static_cast<void>(graph.find(42));
#elif CUDAG_MISTAKE == 12 // expect-error: cudag: find_one takes a label or a kernel
    static_cast<void>(graph.find_one(overloaded));
#elif CUDAG_MISTAKE == 13 // expect-error: cudag: find_one takes a label or a kernel
    static_cast<void>(graph.find_one([] {}));
#elif CUDAG_MISTAKE == 14 // expect-error: cudag: counterpart(node) takes a handle
    static_cast<void>(graph.counterpart("a"));
#elif CUDAG_MISTAKE == 15 // expect-error: cudag: inside(node) takes a handle
    static_cast<void>(list.at(0).as<cudag::ChildNode>().inside(scale));
#elif CUDAG_MISTAKE == 16 // expect-error: cudag: as<MemcpyNode>(), or as(kernel) for kernels
    static_cast<void>(list.at(0).as<cudag::KernelNode<float*, int, float>>());
#elif CUDAG_MISTAKE == 17 // expect-error: cudag: as<MemcpyNode>(), or as(kernel) for kernels
    static_cast<void>(list.at(0).as(overloaded));
#elif CUDAG_MISTAKE == 18 // expect-error: cudag: a programmatic edge leads from kernel to kernel
    b.after(cudag::programmatic(found));
#elif CUDAG_MISTAKE == 19 // expect-error: cudag: handles get their type by as<>(), as(kernel) or find_one(kernel)
    const auto other = static_cast<cudag::HostNode>(b);
#elif CUDAG_MISTAKE == 20 // expect-error: cudag: get<I>()
    static_cast<void>(found.get());
#elif CUDAG_MISTAKE == 21 // expect-error: cudag: after() needs at least one node
    b.after();
#endif
    static_cast<void>(found), static_cast<void>(typed);
}
