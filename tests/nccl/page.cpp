// The code of docs/nccl.md, run by two ranks.
#include "kernels.hpp"
#include "ranks.hpp"

using cudag::DeviceBuffer;

TEST_CASE("the page on NCCL: a node, an update, a body", "[nccl]") {
    if (skipped_without_two_devices()) return;
    const auto results = on_ranks([](Rank& rank) {
        const nccl::Communicator comm = rank.comm;
        const cudag::Stream& stream = rank.stream;
        const int next = rank.other(), previous = rank.other();
        const auto config = all_elements;
        const DeviceBuffer<float> x(n), y(n), other_x(n);
        set(other_x, 5.0f);
        Values read;
        const auto grouped = [&](cudag::GraphBuilder b) {
            // group begins
            auto exchange = add(b, cudag::nccl::group({send(comm, x, next), recv(comm, y, previous)}));
            // group ends
            exchange.label("exchange");
            set(x, rank.value());
            cudag::Exec exchanging = std::move(b).build().instantiate();
            rank.run(exchanging);
            read.push_back(values(y)[0]);
        };
        const auto repeated = [&](cudag::GraphBuilder b) {
            set(x, rank.value());
            // body begins
            const cudag::Condition below = b.condition(1);
            b.while_(below, [&](cudag::GraphBuilder& body) {
                const auto all = add(body, all_reduce(comm, x, y), cudag::nccl::Order::within_graph);
                const auto doubled = body.kernel(config, add_each, x, y, 0.0f).after(all);
                body.kernel({}, while_below, below, y, 40.0f).after(doubled); // the same value on all ranks
            });
            // body ends
            cudag::Exec loop = std::move(b).build().instantiate();
            rank.run(loop);
            read.push_back(values(y)[0]);
        };
        // node begins
        const auto sum = all_reduce(comm, x, y); // from namespace cudag::nccl, as comm is
        sum.enqueue(stream);                     // a warm-up, on all ranks: NCCL connects them
        stream.synchronize();

        cudag::GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
        b.kernel(config, fill_all, x, 1.0f).label("fill x");
        auto reduced = add(b, sum).label("sum of all ranks");
        b.kernel(config, add_each, y, y, 10.0f).label("plus 10");
        const cudag::Graph graph = std::move(b).build();
        // node ends
        cudag::Exec exec = graph.instantiate();
        rank.run(exec);
        read.push_back(values(y)[0]);
        // update begins
        exec.update(reduced, all_reduce(comm, other_x, y).graph());
        // update ends
        rank.run(exec);
        read.push_back(values(y)[0]);
        grouped(cudag::GraphBuilder());
        repeated(cudag::GraphBuilder());
        return read;
    });
    CHECK(results[0] == Values{12, 20, 2, 48});
    CHECK(results[1] == Values{12, 20, 1, 48});
}
