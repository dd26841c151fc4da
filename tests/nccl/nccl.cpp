// NCCL's operations as nodes of graphs: with NCCL on GPUs, with a stand-in on the CPU runtime.
#include "kernels.hpp"
#include "ranks.hpp"
#include "standin.hpp"

#include <cudag/agree.hpp>

#include <future>
#include <memory>
#include <optional>

using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;

namespace {

const Values threes(n, 3.0f);

/// fill x, add up x of all ranks into y, y + 10
Graph sum_graph(const Rank& rank, const DeviceBuffer<float>& x, const DeviceBuffer<float>& y,
                nccl::Order order = nccl::Order::everywhere) {
    GraphBuilder b;
    const auto fill = b.kernel(all_elements, fill_all, x, rank.value()).label("fill");
    const auto sum = add(b, all_reduce(rank.comm, x, y), order).after(fill);
    b.kernel(all_elements, add_each, y, y, 10.0f).label("plus 10").after(sum);
    return std::move(b).build();
}

} // namespace

TEST_CASE("an all_reduce in a graph adds up the memory of all ranks, in each launch", "[nccl]") {
    if (skipped_without_two_devices()) return;
    const auto order = GENERATE(nccl::Order::everywhere, nccl::Order::within_graph);
    const auto sums = on_ranks([&](Rank& rank) {
        const DeviceBuffer<float> x(n), y(n);
        rank.warm_up(all_reduce(rank.comm, x, y));
        Exec exec = sum_graph(rank, x, y, order).instantiate();
        for (int i = 0; i < 3; ++i) {
            set(y, -1.0f);
            rank.run(exec);
        }
        rank.comm.check();
        return values(y);
    });
    CHECK(sums[0] == Values(n, 13.0f));
    CHECK(sums[1] == Values(n, 13.0f));
}

TEST_CASE("collectives combine, gather and scatter", "[nccl]") {
    if (skipped_without_two_devices()) return;
    const auto results = on_ranks([](Rank& rank) {
        const DeviceBuffer<float> x(n), y(n), both(2 * n), part(n);
        const std::vector<nccl::Operation> all{all_reduce(rank.comm, x, y, nccl::Reduction::max),
                                               reduce(rank.comm, x, y, 1), all_gather(rank.comm, x, both),
                                               reduce_scatter(rank.comm, both, part, nccl::Reduction::average),
                                               broadcast(rank.comm, x, 1)};
        for (const nccl::Operation& operation : all)
            rank.warm_up(operation);
        Values read;
        for (const nccl::Operation& operation : all) {
            set(x, rank.value());
            GraphBuilder b;
            add(b, operation);
            Exec exec = std::move(b).build().instantiate();
            rank.run(exec);
            for (const DeviceBuffer<float>* memory : {&x, &y, &part})
                read.push_back(values(*memory).back());
            read.push_back(values(both).front());
            read.push_back(values(both).back());
        }
        return read;
    });
    // after each: x, y, part, the first and the last of both
    CHECK(Values(results[0].begin() + 0, results[0].begin() + 2) == Values{1, 2});
    CHECK(Values(results[1].begin() + 5, results[1].begin() + 7) == Values{2, 3});
    for (const Values& each : results) {
        CHECK(Values(each.begin() + 13, each.begin() + 15) == Values{1, 2});
        CHECK(each[20] == 2);
    }
    CHECK(results[0][17] == 1);
    CHECK(results[1][17] == 2);
}

TEST_CASE("an update gives an operation other buffers, by a capture of it alone", "[nccl]") {
    if (skipped_without_two_devices()) return;
    const auto order = GENERATE(nccl::Order::everywhere, nccl::Order::within_graph);
    const auto results = on_ranks([&](Rank& rank) {
        const DeviceBuffer<float> x(n), y(n), z(n);
        rank.warm_up(all_reduce(rank.comm, x, y));
        GraphBuilder b;
        const auto fill = b.kernel(all_elements, fill_all, x, rank.value());
        const auto sum = add(b, all_reduce(rank.comm, x, y), order).after(fill);
        Exec exec = std::move(b).build().instantiate();
        rank.run(exec);
        set(y, -1.0f);
        set(z, -1.0f);
        exec.update(sum, all_reduce(rank.comm, x, z).graph(order));
        rank.run(exec);
        Values read{values(y)[0], values(z)[0]};
        exec.update(sum, all_reduce(rank.comm, x, y).graph(order));
        rank.run(exec);
        read.push_back(values(y)[0]);
        return read;
    });
    for (const Values& each : results)
        CHECK(each == Values{-1, 3, 3});
}

TEST_CASE("a group sends and receives at once", "[nccl]") {
    if (skipped_without_two_devices()) return;
    const auto results = on_ranks([](Rank& rank) {
        const DeviceBuffer<float> x(n), y(n);
        set(x, rank.value());
        const auto exchange = nccl::group({send(rank.comm, x, rank.other()), recv(rank.comm, y, rank.other())});
        rank.warm_up(exchange);
        set(y, -1.0f);
        GraphBuilder b;
        add(b, exchange).label("exchange");
        const Graph graph = std::move(b).build();
        Exec exec = graph.instantiate();
        rank.run(exec);
        rank.run(exec);
        return values(y);
    });
    CHECK(results[0] == Values(n, 2.0f));
    CHECK(results[1] == Values(n, 1.0f));
}

TEST_CASE("operations take part in inferred edges and in races", "[nccl]") {
    if (skipped_without_two_devices()) return;
    const auto results = on_ranks([](Rank& rank) {
        const DeviceBuffer<float> x(n), y(n), z(n);
        rank.warm_up(all_reduce(rank.comm, x, y));
        Texts texts;
        {
            GraphBuilder b;
            b.kernel(all_elements, fill_all, x, 1.0f).label("fill");
            add(b, all_reduce(rank.comm, x, y)).label("sum");
            texts.push_back(refusal<cudag::RaceError>([&] { static_cast<void>(std::move(b).build()); }));
        }
        {
            GraphBuilder b;
            add(b, all_reduce(rank.comm, x, y)).label("first");
            add(b, all_reduce(rank.comm, x, z)).label("second"); // of one communicator
            texts.push_back(refusal<cudag::RaceError>([&] { static_cast<void>(std::move(b).build()); }));
        }
        {
            GraphBuilder b;
            add(b, all_reduce(rank.comm, x, y)).label("sum");
            b.kernel(all_elements, add_each, z, y, 1.0f).label("use");
            texts.push_back(refusal<cudag::RaceError>([&] { static_cast<void>(std::move(b).build()); }));
        }
        GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
        b.kernel(all_elements, fill_all, x, rank.value());
        add(b, all_reduce(rank.comm, x, y));
        add(b, all_reduce(rank.comm, x, z));
        b.kernel(all_elements, add_each, z, y, 1.0f);
        const Graph graph = std::move(b).build();
        texts.push_back(std::to_string(graph.edge_count()));
        Exec exec = graph.instantiate();
        rank.run(exec);
        texts.push_back(std::to_string(values(z)[0]));
        return texts;
    });
    for (const Texts& each : results) {
        CHECK_THAT(each[0], ContainsSubstring("\"fill\"") && ContainsSubstring("sum"));
        CHECK_THAT(each[1], ContainsSubstring("first") && ContainsSubstring("second"));
        CHECK_THAT(each[2], ContainsSubstring("sum") && ContainsSubstring("\"use\""));
        CHECK(each[3] == "3");
        CHECK(each[4] == "4.000000");
    }
}

TEST_CASE("bodies refuse an operation with event nodes, and run it within the graph's order", "[nccl]") {
    if (skipped_without_two_devices()) return;
    const auto results = on_ranks([](Rank& rank) {
        const DeviceBuffer<float> x(n), y(n);
        set(x, rank.value());
        rank.warm_up(all_reduce(rank.comm, x, y));
        const auto loop = [&](nccl::Order order) {
            GraphBuilder b;
            const cudag::Condition below = b.condition(1);
            b.while_(below, [&](GraphBuilder& body) { // 3, 3 + 3, 6 + 6, ... on both ranks
                const auto sum = add(body, all_reduce(rank.comm, x, y), order);
                const auto again = body.kernel(all_elements, add_each, x, y, 0.0f).after(sum);
                body.kernel({}, while_below, below, y, 40.0f).after(again);
            });
            return std::move(b).build();
        };
        Texts texts{refusal<cudag::GraphError>([&] { loop(nccl::Order::everywhere); })};
        Exec exec = loop(nccl::Order::within_graph).instantiate();
        rank.run(exec);
        texts.push_back(std::to_string(values(y)[n - 1]));
        rank.comm.check();
        return texts;
    });
    for (const Texts& each : results) {
        CHECK_THAT(each[0], ContainsSubstring("all_reduce of 64 float, sum") && ContainsSubstring("within_graph"));
        CHECK(each[1] == "48.000000");
    }
}

TEST_CASE("running captures take operations, as nodes and as calls", "[nccl]") {
    if (skipped_without_two_devices()) return;
    const bool as_node = GENERATE(true, false);
    const auto results = on_ranks([&](Rank& rank) {
        const DeviceBuffer<float> x(n), y(n);
        const nccl::Operation sum = all_reduce(rank.comm, x, y);
        rank.warm_up(sum);
        const Graph graph = cudag::capture(rank.stream, [&](cudag::StreamCapture& c) {
            cudag::launch(rank.stream, all_elements, fill_all, x, rank.value());
            if (as_node)
                add(c, sum);
            else
                c.step("sum", [&](cudaStream_t s) { sum.enqueue(s); });
            cudag::launch(rank.stream, all_elements, add_each, y, y, 10.0f);
        });
        Exec exec = graph.instantiate();
        rank.run(exec);
        rank.run(exec);
        return values(y);
    });
    CHECK(results[0] == Values(n, 13.0f));
    CHECK(results[1] == Values(n, 13.0f));
}

TEST_CASE("graphs keep the communicator and the buffers", "[nccl]") {
    if (skipped_without_two_devices()) return;
    const auto results = on_ranks([](Rank& rank) {
        std::weak_ptr<const void> comm = rank.comm.owner();
        auto x = std::make_shared<DeviceBuffer<float>>(n);
        const DeviceBuffer<float> y(n);
        rank.warm_up(all_reduce(rank.comm, x, y));
        const std::weak_ptr<const void> memory = x->owner();
        std::optional<Exec> exec = sum_graph(rank, *x, y).instantiate();
        x.reset();
        rank.comm = nccl::Communicator(nccl::Communicator::borrow(rank.comm.get()));
        Values read{comm.expired() ? 0.0f : 1.0f, memory.expired() ? 0.0f : 1.0f};
        rank.run(*exec);
        read.push_back(values(y)[0]);
        exec.reset();
        rank.stream.synchronize();
        read.push_back(memory.expired() ? 0.0f : 1.0f);
        read.push_back(comm.expired() ? 0.0f : 1.0f);
        return read;
    });
    for (const Values& each : results)
        CHECK(each == Values{1, 1, 13, 0, 0});
}

TEST_CASE("ranks with different collectives are told before the first launch", "[nccl]") {
    if (skipped_without_two_devices()) return;
    const auto results = on_ranks([](Rank& rank) {
        const DeviceBuffer<float> x(n), y(n);
        rank.warm_up(all_reduce(rank.comm, x, y));
        const auto reduction = rank.number == 0 ? nccl::Reduction::sum : nccl::Reduction::max;
        const Graph graph = all_reduce(rank.comm, x, y, reduction).graph();
        const std::string text = to_string(cudag::fingerprint(graph));
        return Texts{text};
    });
    CHECK_THAT(results[0][0], ContainsSubstring("all_reduce of 64 float, sum"));
    CHECK_THAT(results[1][0], ContainsSubstring("all_reduce of 64 float, max"));
}

TEST_CASE("ranks with other messages have equal graphs if they declare the same memory", "[nccl]") {
    if (skipped_without_two_devices()) return;
    const bool declares = GENERATE(true, false);
    const auto results = on_ranks([&](Rank& rank) {
        const DeviceBuffer<float> x(n), y(n);
        const auto half = rank.number == 0 ? send(rank.comm, x, 1) : recv(rank.comm, y, 0);
        const auto exchange = nccl::group({half, half}); // "group" on both
        rank.warm_up(exchange);
        GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
        b.kernel(all_elements, fill_all, x, 1.0f);
        b.kernel(all_elements, fill_all, y, 2.0f);
        const auto node = add(b, exchange, nccl::Order::within_graph);
        if (declares) node.reads(x).writes(y);
        return Texts{to_string(cudag::fingerprint(std::move(b).build()))};
    });
    CHECK((results[0] == results[1]) == declares);
}

TEST_CASE("a launch that waits for a lost rank ends by abort", "[nccl]") {
    if (skipped_without_two_devices()) return;
    std::promise<void> ended;
    const auto results = on_ranks([&](Rank& rank) {
        const DeviceBuffer<float> x(n), y(n);
        rank.warm_up(all_reduce(rank.comm, x, y));
        Exec exec = sum_graph(rank, x, y).instantiate();
        Texts texts;
        if (rank.number == 0) {
            exec.launch(rank.stream);
            texts.push_back(
                refusal<cudag::DeadlineError>([&] { rank.stream.synchronize(std::chrono::milliseconds(300)); }));
            rank.comm.abort();
            rank.stream.synchronize(std::chrono::seconds(20));
            ended.set_value();
        } else { // never launches
            ended.get_future().wait_for(std::chrono::seconds(20));
            rank.comm.abort();
        }
        texts.push_back(refusal<cudag::GraphError>([&] { static_cast<void>(rank.comm.get()); }));
        return texts;
    });
    CHECK_FALSE(results[0][0].empty());
    for (const Texts& each : results)
        CHECK_THAT(each.back(), ContainsSubstring("aborted"));
}

TEST_CASE("one graph has a collective over two devices", "[nccl]") {
    if (skipped_without_two_devices()) return;
    const std::vector<nccl::Communicator> comms = nccl::Communicator::over(std::array{0, 1});
    std::vector<DeviceBuffer<float>> x, y;
    for (int device : {0, 1}) {
        cudag::check(cudaSetDevice(device));
        x.emplace_back(n);
        y.emplace_back(n);
    }
    cudag::check(cudaSetDevice(0));
    GraphBuilder b;
    const auto first = b.kernel(all_elements, fill_all, x[0], 1.0f);
    const auto second = b.on(1).kernel(all_elements, fill_all, x[1], 2.0f);
    const auto both = nccl::group({all_reduce(comms[0], x[0], y[0]), all_reduce(comms[1], x[1], y[1])});
    add(b, both).after(first, second);
    CHECK_THAT(refusal<cudag::GraphError>([&] { both.enqueue(cudaStreamPerThread); }),
               ContainsSubstring("2 communicators"));
    CHECK_THAT(refusal<cudag::GraphError>([&] { static_cast<void>(both.graph(nccl::Order::within_graph)); }),
               ContainsSubstring("one communicator"));
    Exec exec = std::move(b).build().instantiate();
    const cudag::Stream stream;
    for (int i = 0; i < 2; ++i) {
        exec.launch(stream);
        stream.synchronize(std::chrono::seconds(20));
    }
    CHECK(values(y[0]) == threes);
    CHECK(values(y[1]) == threes);
}

TEST_CASE("memory is registered with a communicator", "[nccl]") {
    if (skipped_without_two_devices()) return;
    const auto results = on_ranks([](Rank& rank) {
        const DeviceBuffer<float> x(n), y(n);
        const nccl::RegisteredMemory fast_x(rank.comm, x), fast_y(rank.comm, y);
        rank.warm_up(all_reduce(rank.comm, x, y));
        GraphBuilder b;
        const auto fill = b.kernel(all_elements, fill_all, x, rank.value());
        add(b, all_reduce(rank.comm, x, y)).after(fill);
        b.retain(fast_x, fast_y);
        Exec exec = std::move(b).build().instantiate();
        rank.run(exec);
        return values(y);
    });
    CHECK(results[0] == threes);
    CHECK(results[1] == threes);
}

TEST_CASE("registered memory may end after the abort of its communicator", "[nccl]") {
    const std::vector<nccl::Communicator> alone = nccl::Communicator::over(std::array{0});
    const DeviceBuffer<float> x(n);
    const nccl::RegisteredMemory fast(alone[0], x);
    alone[0].abort();
    CHECK_THAT(refusal<cudag::GraphError>([&] { static_cast<void>(alone[0].get()); }), ContainsSubstring("aborted"));
}

TEST_CASE("wrong lengths, ranks and communicators are refused with the numbers", "[nccl]") {
    const std::vector<nccl::Communicator> alone = nccl::Communicator::over(std::array{0});
    const nccl::Communicator& comm = alone[0];
    CHECK(comm.rank() == 0);
    CHECK(comm.ranks() == 1);
    CHECK(comm.device() == 0);
    CHECK(nccl::version() >= 20700);
    const DeviceBuffer<float> x(4), y(3);
    const auto text = [](const auto& call) { return refusal<cudag::GraphError>(call); };
    CHECK_THAT(text([&] { static_cast<void>(all_reduce(comm, x, y)); }),
               ContainsSubstring("4 elements") && ContainsSubstring("has 3"));
    CHECK_THAT(text([&] { static_cast<void>(all_gather(comm, x, y)); }), ContainsSubstring("for each rank"));
    CHECK_THAT(text([&] { static_cast<void>(reduce_scatter(comm, x, y)); }), ContainsSubstring("for each rank"));
    CHECK_THAT(text([&] { static_cast<void>(broadcast(comm, x, 1)); }), ContainsSubstring("no rank 1"));
    CHECK_THAT(text([&] { static_cast<void>(send(comm, x, -1)); }), ContainsSubstring("no rank -1"));
    CHECK_THAT(text([&] { static_cast<void>(nccl::Communicator::borrow(nullptr)); }), ContainsSubstring("null"));
    CHECK_THAT(text([&] { static_cast<void>(nccl::Communicator::over({})); }), ContainsSubstring("no devices"));
    CHECK_THAT(text([&] { nccl::Communicator(nccl::UniqueId(), 2, 2); }), ContainsSubstring("rank 2 of 2"));
    CHECK(nccl::group({}).graph().node_count() == 0);
}

TEST_CASE("bind gives an operation other memory, by a capture of it alone", "[nccl]") {
    if (skipped_without_two_devices()) return;
    const auto order = GENERATE(nccl::Order::everywhere, nccl::Order::within_graph);
    const auto results = on_ranks([&](Rank& rank) {
        const DeviceBuffer<float> x(n), y(n), other_x(n), other_y(n), third(n);
        rank.warm_up(all_reduce(rank.comm, x, y));
        GraphBuilder b;
        const auto fill = b.kernel(all_elements, fill_all, x, rank.value());
        const auto sum = add(b, all_reduce(rank.comm, x, y), order).after(fill);
        b.kernel(all_elements, add_each, y, y, 10.0f).after(sum);
        const Graph graph = std::move(b).build();
        Exec exec = graph.instantiate();
        Values read;
        const auto run = [&] {
            for (const DeviceBuffer<float>* memory : {&x, &y, &other_x, &other_y, &third})
                set(*memory, -1.0f);
            rank.run(exec);
            for (const DeviceBuffer<float>* memory : {&x, &y, &other_x, &other_y, &third})
                read.push_back(values(*memory).back());
        };
        exec.bind(graph.parameter(y), other_y);
        run();
        exec.bind(graph.parameter(x), other_x); // y stays bound
        run();
        exec.update(sum, all_reduce(rank.comm, other_x, third).graph(order));
        exec.bind(graph.parameter(x), x); // the result stays in the memory of the update
        run();
        exec.bind(graph.parameter(y), y);
        run();
        return read;
    });
    for (std::size_t rank = 0; rank < 2; ++rank) {
        const float mine = static_cast<float>(rank + 1);
        CHECK(results[rank] == Values{mine, -1, -1,   13, -1,   // other_y
                                      -1,   -1, mine, 13, -1,   // other_x, other_y
                                      mine, -1, -1,   9,  3,    // third; the kernel adds to other_y
                                      mine, 13, -1,   -1, -1}); // as at first
    }
}

TEST_CASE("bind gives messages and scattered sums other memory, at once", "[nccl]") {
    if (skipped_without_two_devices()) return;
    const auto results = on_ranks([](Rank& rank) {
        const DeviceBuffer<float> x(2 * n), y(n), z(n), other_x(2 * n), other_z(n);
        set(x, -5.0f);
        set(other_x, rank.value());
        const auto scatter = reduce_scatter(rank.comm, x, y);
        const auto exchange = nccl::group({send(rank.comm, x.span().subspan(n, n), rank.other()), //
                                           recv(rank.comm, z, rank.other())});
        rank.warm_up(scatter);
        rank.warm_up(exchange);
        GraphBuilder b;
        const auto first = add(b, scatter);
        add(b, exchange).label("exchange").after(first).writes(z);
        const Graph graph = std::move(b).build();
        Exec exec = graph.instantiate();
        exec.bind(graph.parameter(x), other_x);
        exec.bind(graph.parameter(z), other_z);
        rank.run(exec);
        return Values{values(y).back(), values(other_z).back()};
    });
    CHECK(results[0] == Values{3, 2});
    CHECK(results[1] == Values{3, 1});
}

TEST_CASE("sums, scattered sums and messages are captured, updated, bound, and in loops", "[nccl]") {
    if (skipped_without_two_devices()) return;
    const int kind = GENERATE(0, 1, 2);
    const auto results = on_ranks([&](Rank& rank) {
        const DeviceBuffer<float> x(2 * n), other(2 * n), y(n), turns(n);
        set(x, rank.value());
        set(other, 10 * rank.value());
        const auto operation = [&](const DeviceBuffer<float>& from) {
            if (kind == 0) return all_reduce(rank.comm, from.span().first(n), y);
            if (kind == 1) return reduce_scatter(rank.comm, from, y);
            return nccl::group({send(rank.comm, from.span().first(n), rank.other()), recv(rank.comm, y, rank.other())});
        };
        rank.warm_up(operation(x));
        Values read;
        const auto run = [&](Exec& exec) {
            set(y, -1.0f);
            rank.run(exec);
            read.push_back(values(y).back());
        };
        std::optional<cudag::ChildNode> node;
        const Graph graph = cudag::capture(rank.stream, [&](cudag::StreamCapture& c) { node = add(c, operation(x)); });
        Exec exec = graph.instantiate();
        run(exec);
        exec.update(*node, operation(other).graph());
        run(exec);
        exec.update(*node, operation(x).graph());
        run(exec);
        exec.bind(graph.parameter(x), other);
        run(exec);

        GraphBuilder b;
        const cudag::Condition below = b.condition(1);
        const auto first = b.memset(turns, 0.0f);
        b.while_(below, [&](GraphBuilder& body) {
             const auto each = add(body, operation(other), nccl::Order::within_graph);
             const auto count = body.kernel(all_elements, add_each, turns, turns, 1.0f).after(each);
             body.kernel({}, while_below, below, turns, 3.0f).after(count);
         }).after(first);
        Exec loop = std::move(b).build().instantiate();
        run(loop);
        read.push_back(values(turns).back());
        return read;
    });
    for (std::size_t rank = 0; rank < 2; ++rank) {
        const float one = kind == 2 ? static_cast<float>(2 - rank) : 3.0f;
        CHECK(results[rank] == Values{one, 10 * one, one, 10 * one, 10 * one, 3});
    }
}

TEST_CASE("a refused bind of an operation changes nothing", "[nccl]") {
    if (skipped_without_two_devices()) return;
    const auto results = on_ranks([](Rank& rank) {
        const DeviceBuffer<float> x(n), y(n), z(n);
        rank.warm_up(all_reduce(rank.comm, x, y));
        const Graph graph = sum_graph(rank, x, y);
        Exec exec = graph.instantiate();
        Texts texts{refusal<cudag::UpdateError>([&] { exec.bind(graph.parameter(x.span().first(n / 2)), z); }),
                    refusal<cudag::UpdateError>([&] { exec.bind(graph.parameter(x), z.span().first(n / 2)); })};
        set(z, -1.0f);
        rank.run(exec);
        texts.push_back(std::to_string(values(y).back()) + ' ' + std::to_string(values(z).back()));
        return texts;
    });
    for (const Texts& each : results) {
        CHECK_THAT(each[0], ContainsSubstring("parameter large enough"));
        CHECK_THAT(each[1], ContainsSubstring("cannot be bound to 128 bytes"));
        CHECK(each[2] == "13.000000 -1.000000");
    }
}

#ifdef CUDART_CPU // the stand-in counts
TEST_CASE("communicators whose ranks are not told are destroyed", "[nccl]") {
    if (skipped_without_two_devices()) return;
    const int before = standin::communicators();
    const std::array devices{0, 1};
    standin::hide_ranks(true);
    CHECK_THROWS_AS(nccl::Communicator::over(devices), nccl::NcclError);
    CHECK_THROWS_AS(nccl::Communicator(nccl::UniqueId::create(), 1, 0), nccl::NcclError);
    standin::hide_ranks(false);
    CHECK(standin::communicators() == before);
}
#endif
