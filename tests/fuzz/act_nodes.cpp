// Acts as nodes of cudag graphs, in streams, and as updates.
#include "act_nodes.hpp"

#include "kernels.hpp"
#include "report.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace {

struct ActOnHost {
    Act act;
    std::uint32_t* words;
    void operator()() const { perform(act, words); }
};

void CUDART_CB call_act(void* work) {
    (*static_cast<const ActOnHost*>(work))();
}

cudag::DeviceSpan<const std::uint32_t> input(const Bench& bench, const Words& words) {
    return span_of(bench, words);
}

cudag::DeviceSpan2D<std::uint32_t> rows(const Bench& bench, const Act& act) {
    return {bench.words.data() + act.to.first, act.to.count, 2, 4 * sizeof(std::uint32_t)};
}

template <class N>
ActNode act_node(const N& node) {
    return {node, [node](const std::vector<cudag::Node>& nodes) { node.after(nodes); }};
}

template <class Target>
void update(Target& target, const Bench& bench, const cudag::Node& node, const Act& act) {
    switch (act.kind) {
    case ActKind::combine:
        if (act.raw)
            target.update(node.as(fuzz_combine), cudag::arg<6>(act.salt));
        else
            target.update(node.as(fuzz_combine), span_of(bench, act.to), act.to.count, input(bench, act.a), act.a.count,
                          input(bench, act.b), act.b.count, act.salt);
        break;
    case ActKind::accumulate:
        target.update(node.as(fuzz_accumulate), cudag::atomic(span_of(bench, act.to)), act.to.count, act.salt);
        break;
    case ActKind::copy:
        target.update(node.as<cudag::MemcpyNode>(), span_of(bench, act.to), span_of(bench, act.a));
        break;
    case ActKind::fill:
        target.update(node.as<cudag::MemsetNode>(), span_of(bench, act.to), act.salt);
        break;
    case ActKind::fill_2d:
        target.update(node.as<cudag::MemsetNode>(), rows(bench, act), act.salt);
        break;
    case ActKind::host:
        target.update(node.as<cudag::HostNode>(), ActOnHost{act, bench.words.data()});
        break;
    }
}

} // namespace

ActNode add_act(cudag::GraphBuilder& b, const Bench& bench, const Act& act) {
    std::uint32_t* const words = bench.words.data();
    switch (act.kind) {
    case ActKind::combine:
        if (act.raw)
            return act_node(b.kernel({}, fuzz_combine, words + act.to.first, act.to.count, words + act.a.first,
                                     act.a.count, words + act.b.first, act.b.count, act.salt)
                                .writes(span_of(bench, act.to))
                                .reads(span_of(bench, act.a), span_of(bench, act.b)));
        return act_node(b.kernel({}, fuzz_combine, span_of(bench, act.to), act.to.count, input(bench, act.a),
                                 act.a.count, input(bench, act.b), act.b.count, act.salt));
    case ActKind::accumulate:
        return act_node(b.kernel({}, fuzz_accumulate, cudag::atomic(span_of(bench, act.to)), act.to.count, act.salt));
    case ActKind::copy:
        return act_node(b.memcpy(span_of(bench, act.to), span_of(bench, act.a)));
    case ActKind::fill:
        return act_node(b.memset(span_of(bench, act.to), act.salt));
    case ActKind::fill_2d:
        return act_node(b.memset2d(rows(bench, act), act.salt));
    case ActKind::host:
        break;
    }
    return act_node(b.host(ActOnHost{act, words})
                        .writes(span_of(bench, act.to))
                        .reads(span_of(bench, act.a), span_of(bench, act.b)));
}

void enqueue_act(cudaStream_t stream, const Bench& bench, const Act& act,
                 const std::function<void(std::shared_ptr<const void>)>& retain) {
    std::uint32_t* const words = bench.words.data();
    switch (act.kind) {
    case ActKind::combine:
        if (act.raw)
            return cudag::launch(stream, {}, fuzz_combine, words + act.to.first, act.to.count, words + act.a.first,
                                 act.a.count, words + act.b.first, act.b.count, act.salt);
        return cudag::launch(stream, {}, fuzz_combine, span_of(bench, act.to), act.to.count, input(bench, act.a),
                             act.a.count, input(bench, act.b), act.b.count, act.salt);
    case ActKind::accumulate:
        return cudag::launch(stream, {}, fuzz_accumulate, cudag::atomic(span_of(bench, act.to)), act.to.count,
                             act.salt);
    case ActKind::copy:
        return cudag::memcpy_async(stream, span_of(bench, act.to), span_of(bench, act.a));
    case ActKind::fill:
        return cudag::memset_async(stream, span_of(bench, act.to), act.salt);
    case ActKind::fill_2d:
        return cudag::memset_async(stream, rows(bench, act), act.salt);
    case ActKind::host:
        break;
    }
    const auto work = std::make_shared<ActOnHost>(ActOnHost{act, words});
    retain(work);
    cudag::check(cudaLaunchHostFunc(stream, call_act, work.get()));
}

bool is_opaque(const Act& act) {
    return act.raw || act.kind == ActKind::host;
}

void update_act(cudag::Exec& exec, const Bench& bench, const cudag::Node& node, const Act& act) {
    update(exec, bench, node, act);
}
void update_act(cudag::Graph& graph, const Bench& bench, const cudag::Node& node, const Act& act) {
    update(graph, bench, node, act);
}

Order order_of(const cudag::Graph& graph, const std::vector<cudag::Node>& nodes) {
    std::vector<cudag::Node> all = nodes;
    const auto number_of = [&](const cudag::Node& node) {
        const auto found = std::find(all.begin(), all.end(), node);
        if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
        all.push_back(node);
        return all.size() - 1;
    };
    std::vector<std::pair<std::size_t, std::size_t>> edges;
    for (const cudag::Edge& edge : graph.edges())
        edges.emplace_back(number_of(edge.from), number_of(edge.to));
    Order order(all.size());
    for (const auto& [from, to] : edges)
        order.add(from, to);
    order.close();
    return order;
}

std::vector<std::uint32_t> fresh_memory(Bench& bench, unsigned buffers) {
    std::vector<std::uint32_t> memory(std::size_t{buffers} * buffer_stride);
    for (std::size_t i = 0; i < memory.size(); ++i)
        memory[i] = 0xA5A50000U + static_cast<std::uint32_t>(i) * 2654435761U;
    std::copy(memory.begin(), memory.end(), bench.words.begin());
    return memory;
}

void require_memory(const Bench& bench, const std::vector<std::uint32_t>& expected, const char* after) {
    for (std::size_t i = 0; i < expected.size(); ++i)
        require(bench.words[i] == expected[i], "{}: word {} of buffer {} is {:#x}, not {:#x}", after, i % buffer_stride,
                i / buffer_stride, bench.words[i], expected[i]);
}
