// Updates of nodes and of whole graphs.
#include <cudag/cudag.hpp>

#include <vector>

__global__ void scale(float* x, int n, float factor);

void updates(cudag::Exec& exec, cudag::Graph& graph, cudag::GraphBuilder& builder, cudag::DeviceBuffer<float>& x,
             cudag::PinnedBuffer<float>& y) {
    const auto kernel = graph.find_one(scale);
    const cudag::Node node = graph.find_one("scale");
    const auto copy = graph.find_one("copy").as<cudag::MemcpyNode>();
    const auto fill = graph.find_one("fill").as<cudag::MemsetNode>();
    const auto host = graph.find_one("host").as<cudag::HostNode>();
    const auto join = graph.find_one("join").as<cudag::JoinNode>();
    const auto child = graph.find_one("child").as<cudag::ChildNode>();
    const auto choice = graph.find_one("if").as<cudag::IfNode>();
    const auto record = graph.find_one("record").as<cudag::RecordNode>();
    const auto signal = graph.find_one("signal").as<cudag::SignalNode>();
    const auto free = graph.find_one("free").as<cudag::FreeNode>();
    [[maybe_unused]] const cudag::CapturedNode region;
    [[maybe_unused]] const cudag::Exec& constant = exec;
    exec.update(kernel, x, 4, 2.0f);
    exec.update(kernel, {.grid = 8});
    exec.update(kernel, cudag::arg<2>(3.0f));
    exec.update(node, {.grid = 8});
    exec.update(copy, x, y);
    exec.update(fill, x, 3.0f);
    exec.update(host, [] {});
    exec.update(child, graph);
    static_cast<void>(exec.update(graph));
    static_cast<void>(exec.update(graph, {.match = cudag::Match::structure}));
    static_cast<void>(join), static_cast<void>(choice), static_cast<void>(record), static_cast<void>(signal),
        static_cast<void>(free), static_cast<void>(builder);
#if CUDAG_MISTAKE == 1 // expect-error: cudag: a fill is updated by its range and value: update(node, range,
    exec.update(fill, 3.0f);
#elif CUDAG_MISTAKE == 2  // expect-error: cudag: a Node does not know the types of its node
    exec.update(node, x, 4, 2.0f);
#elif CUDAG_MISTAKE == 3  // expect-error: cudag: a Node does not know the types of its node
    exec.update(graph.find("scale").at(0), cudag::arg<2>(3.0f));
#elif CUDAG_MISTAKE == 4  // expect-error: cudag: an update takes one node, and find() gives a list
    exec.update(graph.find(scale), x, 4, 2.0f);
#elif CUDAG_MISTAKE == 5  // expect-error: cudag: an update takes the handle of the node: graph.find_one(kernel)
    exec.update(scale, x, 4, 2.0f);
#elif CUDAG_MISTAKE == 6  // expect-error: cudag: an update takes the handle of the node: graph.find_one(label)
    exec.update("scale", x, 4, 2.0f);
#elif CUDAG_MISTAKE == 7  // expect-error: cudag: a copy is updated by both operands
    exec.update(copy, x);
#elif CUDAG_MISTAKE == 8  // expect-error: cudag: a copy is updated by both operands
    exec.update(copy, x, y, 4);
#elif CUDAG_MISTAKE == 9  // expect-error: cudag: a host node is updated by a function: update(node, function)
    exec.update(host);
#elif CUDAG_MISTAKE == 10 // expect-error: cudag: in a join, child or conditional node itself nothing can be
    exec.update(join, kernel);
#elif CUDAG_MISTAKE == 11 // expect-error: cudag: in a join, child or conditional node itself nothing can be
    exec.update(choice, [](cudag::GraphBuilder&) {});
#elif CUDAG_MISTAKE == 12 // expect-error: cudag: in a join, child or conditional node itself nothing can be
    graph.update(child, graph);
#elif CUDAG_MISTAKE == 13 // expect-error: cudag: a captured region is updated node by node: region.nodes()
    exec.update(region, x);
#elif CUDAG_MISTAKE == 14 // expect-error: cudag: only an Exec takes a whole graph: exec.update(graph)
    graph.update(graph);
#elif CUDAG_MISTAKE == 15 // expect-error: cudag: a whole graph is given with UpdateOptions
    static_cast<void>(exec.update(graph, cudag::Match::structure));
#elif CUDAG_MISTAKE == 16 // expect-error: cudag: an update takes a Graph: std::move(builder).build()
    exec.update(builder);
#elif CUDAG_MISTAKE == 17 // expect-error: cudag: an update takes a Graph, not an Exec
    exec.update(exec);
#elif CUDAG_MISTAKE == 18 // expect-error: cudag: an update changes the object, which is const here
    constant.update(kernel, x, 4, 2.0f);
#elif CUDAG_MISTAKE == 19 // expect-error: cudag: a node with an event is updated by an event: update(node, event)
    exec.update(record);
#elif CUDAG_MISTAKE == 20 // expect-error: cudag: update(node, {semaphore, value})
    exec.update(signal, 5);
#elif CUDAG_MISTAKE == 21 // expect-error: cudag: CUDA cannot update alloc and free nodes
    exec.update(free, x);
#elif CUDAG_MISTAKE == 22 // expect-error: cudag: this takes the Graph, not an Exec of it
    exec.apply(exec);
#elif CUDAG_MISTAKE == 23 // expect-error: cudag: apply(graph) takes the Graph that the Exec was made from
    exec.apply();
#elif CUDAG_MISTAKE == 24 // expect-error: cudag: this takes the Graph, not an Exec of it
    exec.update_or_instantiate(exec);
#elif CUDAG_MISTAKE == 25 // expect-error: cudag: disable(node) takes a handle, such as graph.find_one(kernel)
    exec.disable("scale");
#elif CUDAG_MISTAKE == 26 // expect-error: cudag: disable(node) takes a handle, such as graph.find_one(kernel)
    exec.disable(scale);
#elif CUDAG_MISTAKE == 27 // expect-error: cudag: enable(node) takes a handle, such as graph.find_one(kernel)
    exec.enable(graph.find(scale));
#elif CUDAG_MISTAKE == 28 // expect-error: cudag: updates are for Graphs
    builder.update(kernel, x, 4, 2.0f);
#elif CUDAG_MISTAKE == 29 // expect-error: cudag: the number of arguments is not the number of the kernel's
    exec.update(kernel, x, 4);
#elif CUDAG_MISTAKE == 30 // expect-error: cudag: the launch configuration comes before the arguments
    exec.update(kernel, x, 4, 2.0f, cudag::LaunchConfig());
#elif CUDAG_MISTAKE == 31 // expect-error: cudag: an update takes all arguments, or arg<I>(value) for each that
    exec.update(kernel, x, cudag::arg<1>(4));
#elif CUDAG_MISTAKE == 32 // expect-error: cudag: a stream is a cudag::Stream or a cudaStream_t
    exec.launch(graph);
#elif CUDAG_MISTAKE == 33 // expect-error: cudag: launch(stream)
    exec.launch();
#elif CUDAG_MISTAKE == 34 // expect-error: cudag: launch(stream)
    constant.launch(cudaStream_t());
#elif CUDAG_MISTAKE == 35 // expect-error: cudag: a stream is a cudag::Stream or a cudaStream_t
    exec.launch(0);
#elif CUDAG_MISTAKE == 36 // expect-error: cudag: update(node, {semaphore, value})
    exec.update(signal, cudag::SemaphoreWait{cudaExternalSemaphore_t(), 1});
#endif
}

// An update with a 3D and a 2D region.
void update_2d_and_3d(cudag::Graph& graph, cudag::MemcpyNode node, cudag::DeviceSpan3D<int> to,
                      cudag::DeviceSpan2D<int> from) {
#if CUDAG_MISTAKE == 37 // expect-error: cudag: a copy has one dimension, two or three: give both operands the same
    graph.update(node, to, from);
#else
    graph.update(node, to.slice(0), from);
#endif
}

// An update with a region and a range.
void update_2d_and_range(cudag::Exec& exec, cudag::MemcpyNode node, const cudag::DeviceBuffer<int>& to,
                         std::vector<int>& from) {
#if CUDAG_MISTAKE == 38 // expect-error: cudag: a copy has one dimension, two or three: give both operands the same
    exec.update(node, cudag::DeviceSpan2D<int>(to, 4, 2), from);
#else
    exec.update(node, to, from);
#endif
}

// An update of a node that allocates memory.
void update_alloc(cudag::Exec& exec, const cudag::AllocNode<int>& node, const cudag::MemsetNode& fill) {
#if CUDAG_MISTAKE == 39 // expect-error: cudag: CUDA cannot update alloc and free nodes; build another graph
    exec.update(node, 2);
    exec.update(fill, node.span(), 0);
#else
    exec.update(fill, node.span(), 0);
#endif
}

// An update with a double where the kernel takes an int.
void update_argument_type(cudag::Exec& exec, const cudag::KernelNode<float*, int>& node, float* x) {
#if CUDAG_MISTAKE == 40 // expect-error: cudag: a number must not be narrowed to the parameter's type: write it in
    exec.update(node, x, 16.0);
#else
    exec.update(node, x, 16);
#endif
}

// An update of a node that frees memory.
void update_free(cudag::Exec& exec, const cudag::FreeNode& node, const cudag::HostNode& host) {
#if CUDAG_MISTAKE == 41 // expect-error: cudag: CUDA cannot update alloc and free nodes; build another graph
    exec.update(node);
    exec.update(host, [] {});
#else
    exec.update(host, [node] { static_cast<void>(node); });
#endif
}

// An update of a host node with a function that takes parameters.
void update_host_parameters(cudag::Exec& exec, const cudag::HostNode& node) {
#if CUDAG_MISTAKE == 42 // expect-error: cudag: a host node calls a function without arguments
    exec.update(node, [](int) {});
#else
    exec.update(node, [] {});
#endif
}

// An update of a parameter that the kernel does not have.
void update_index(cudag::Exec& exec, const cudag::KernelNode<float*, int>& node) {
#if CUDAG_MISTAKE == 43 // expect-error: cudag: arg<I>: the kernel has no parameter I
    exec.update(node, cudag::arg<2>(16));
#else
    exec.update(node, cudag::arg<1>(16));
#endif
}

// An update that names a parameter twice.
void update_index_twice(cudag::Exec& exec, const cudag::KernelNode<float*, int>& node) {
#if CUDAG_MISTAKE == 44 // expect-error: cudag: arg<I> names a parameter twice
    exec.update(node, cudag::arg<1>(16), cudag::arg<1>(17));
#else
    exec.update(node, cudag::arg<1>(16));
#endif
}

// An update by position with a double where the kernel takes an int.
void update_index_type(cudag::Exec& exec, const cudag::KernelNode<float*, int>& node) {
#if CUDAG_MISTAKE == 45 // expect-error: cudag: a number must not be narrowed to the parameter's type: write it in
    exec.update(node, cudag::arg<1>(16.0));
#else
    exec.update(node, cudag::arg<1>(16));
#endif
}

// An update of a fill with a value that is not of the element type.
void update_memset_value(cudag::Exec& exec, const cudag::MemsetNode& node, cudag::DeviceSpan<float> to) {
#if CUDAG_MISTAKE == 46 // expect-error: cudag: memset value cannot become the element type; see the types below
    exec.update(node, to, 1.0);
#else
    exec.update(node, to, 1.0f);
#endif
}

// An update that gives a kernel nothing.
void update_nothing(cudag::Exec& exec, const cudag::KernelNode<float*, int>& node) {
#if CUDAG_MISTAKE == 47 // expect-error: cudag: the number of arguments is not the number of the kernel's parameters
    exec.update(node);
#else
    exec.update(node, cudag::LaunchConfig());
#endif
}

// An update of a copy with raw pointers.
void update_raw_pointers(cudag::Exec& exec, const cudag::MemcpyNode& node, float* to, const float* from) {
#if CUDAG_MISTAKE == 48 // expect-error: cudag: an operand is a DeviceBuffer, DeviceSpan, PinnedBuffer, contiguous host
    exec.update(node, to, from);
#else
    exec.update(node, cudag::DeviceSpan<float>(to, 4), cudag::DeviceSpan<const float>(from, 4));
#endif
}

// What a node is to signal, given to one that waits.
void update_waits_for_signals(cudag::Exec& exec, const cudag::SemaphoreWaitNode& node,
                              cudag::ExternalSemaphore& semaphore) {
#if CUDAG_MISTAKE == 49 // expect-error: cudag: update(node, {semaphore, value}): SemaphoreSignals for a SignalNode
    exec.update(node, cudag::SemaphoreSignal{semaphore, 1});
#else
    exec.update(node, cudag::SemaphoreWait{semaphore, 1});
#endif
}

// Memory in place of a parameter.
void bind(cudag::Exec& exec, const cudag::BufferParam<float>& param, const cudag::DeviceBuffer<float>& x,
          [[maybe_unused]] const std::vector<float>& host, [[maybe_unused]] const cudag::DeviceBuffer<int>& ints,
          [[maybe_unused]] const float* raw) {
#if CUDAG_MISTAKE == 50 // expect-error: cudag: bind takes device memory
    exec.bind(param, host);
#elif CUDAG_MISTAKE == 51 // expect-error: cudag: bind takes memory of the parameter's elements
    exec.bind(param, ints);
#elif CUDAG_MISTAKE == 52 // expect-error: cudag: bind takes memory of the parameter's elements
    exec.bind(param, cudag::DeviceSpan<const float>(x.span()));
#elif CUDAG_MISTAKE == 53 // expect-error: cudag: an operand is a DeviceBuffer, DeviceSpan, PinnedBuffer
    exec.bind(param, raw);
#elif CUDAG_MISTAKE == 54 // expect-error: cudag: bind takes memory of the parameter's elements
    exec.bind({{param, x}, {param, ints}});
#elif CUDAG_MISTAKE == 55 // expect-error: cudag: bind(parameter, memory), or bind({{a, x}, {b, y}}) for several
    exec.bind(x, x);
#elif CUDAG_MISTAKE == 56 // expect-error: cudag: parameter needs the type of the elements: parameter<float>(count)
    static_cast<void>(cudag::GraphBuilder().parameter(4));
#endif
    exec.bind(param, x);
    exec.bind({{param, x}});
}
