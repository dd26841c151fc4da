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

// A node that comes after a number.
void after_int([[maybe_unused]] const cudag::HostNode& first, const cudag::HostNode& second) {
#if CUDAG_MISTAKE == 22 // expect-error: cudag: after() takes node handles or ranges of node handles
    second.after(0);
#else
    second.after(first);
#endif
}

// An argument that the kernel does not have.
int get_index(const cudag::KernelNode<float*, int>& node) {
#if CUDAG_MISTAKE == 23 // expect-error: cudag: get<I>(): the kernel has no parameter I
    static_cast<void>(node.get<2>());
#endif
    return node.get<1>();
}

// An argument that is more than its bytes.
int get_not_trivial(const cudag::KernelNode<std::string, int>& node) {
#if CUDAG_MISTAKE == 24 // expect-error: cudag: get<I>(): the parameter is not trivially copyable
    static_cast<void>(node.get<0>());
#endif
    return node.get<1>();
}

// A join of a number.
void join_int(cudag::GraphBuilder& builder, [[maybe_unused]] const cudag::HostNode& node) {
#if CUDAG_MISTAKE == 25 // expect-error: cudag: join() takes node handles or ranges of node handles
    builder.join(0);
#else
    builder.join(node);
#endif
}

// A join of nothing.
void join_nothing(cudag::GraphBuilder& builder, [[maybe_unused]] const cudag::HostNode& node) {
#if CUDAG_MISTAKE == 26 // expect-error: cudag: join() needs at least one node
    builder.join();
#else
    builder.join(node);
#endif
}

// A kernel that starts when a host function triggers.
void programmatic_after_host([[maybe_unused]] const cudag::HostNode& host,
                             [[maybe_unused]] const cudag::KernelNode<int>& kernel, const cudag::KernelNode<>& second) {
#if CUDAG_MISTAKE == 27 // expect-error: cudag: a programmatic edge leads from kernel to kernel
    second.after(cudag::programmatic(host));
#else
    second.after(cudag::programmatic(kernel));
#endif
}

// A copy that starts with a kernel.
void programmatic_before_memcpy(const cudag::KernelNode<>& kernel, const cudag::MemcpyNode& copy) {
#if CUDAG_MISTAKE == 28 // expect-error: cudag: a programmatic edge leads from kernel to kernel
    copy.after(cudag::launch_completion(kernel));
#else
    copy.after(kernel);
#endif
}

// A programmatic edge from a node of unknown kind.
void programmatic_untyped([[maybe_unused]] const cudag::Node& node, [[maybe_unused]] void (*kernel)(int),
                          const cudag::KernelNode<>& second) {
#if CUDAG_MISTAKE == 29 // expect-error: cudag: a programmatic edge leads from kernel to kernel
    second.after(cudag::programmatic(node));
#else
    second.after(cudag::programmatic(node.as(kernel)));
#endif
}

// A handle found inside a child is as typed as the one given.
void inside_type(const cudag::ChildNode& child, const cudag::KernelNode<int>& kernel) {
    [[maybe_unused]] const cudag::KernelNode<int> found = child.inside(kernel);
}

// What a node keeps.
void retained(const cudag::KernelNode<int>& kernel, [[maybe_unused]] const cudag::DeviceBuffer<float>& x) {
#if CUDAG_MISTAKE == 30 // expect-error: cudag: retain(owner) keeps buffers, pools and shared_ptrs
    kernel.retain(x.span());
#else
    kernel.retain(x).label("kept");
#endif
}

// What a builder takes back.
void removed(cudag::GraphBuilder& b, const cudag::KernelNode<>& kernel) {
#if CUDAG_MISTAKE == 31 // expect-error: cudag: remove() needs at least one node
    b.remove();
#else
    b.remove(kernel, kernel);
#endif
#if CUDAG_MISTAKE == 32 // expect-error: cudag: remove() takes node handles or ranges of node handles
    b.remove("kernel");
#else
    b.remove(std::vector{kernel});
#endif
}

// An edge that a builder takes back has two ends.
void removed_edge(cudag::GraphBuilder& b, const cudag::KernelNode<>& kernel) {
#if CUDAG_MISTAKE == 33 // expect-error: cudag: remove_edge() takes node handles or ranges of node handles
    b.remove_edge("kernel", kernel);
#else
    b.remove_edge(kernel, kernel);
#endif
#if CUDAG_MISTAKE == 34 // expect-error: cudag: remove_edge(from, to) takes the nodes of `to.after(from)`
    b.remove_edge(kernel);
#else
    b.remove_edge(std::vector{kernel}, kernel);
#endif
}
