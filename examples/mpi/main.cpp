// mpi: how ranks of MPI communicate in and between graphs, and how a rank ends when another one is lost.
#include "kernels.hpp"

#include "program/arguments.hpp"
#include "program/program.hpp"

#include <cudag/agree.hpp>
#include <cudag/cudag.hpp>

#include <mpi.h>
#if !defined(CUDART_CPU) && defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace mpi_example {
namespace {

using example::BadInput;

const char* const usage = R"(usage: mpirun -n RANKS mpi [option]...

Each rank sends values to the next one: in host nodes of a graph, and between two graphs, from device memory. Then all ranks
solve equations, and stop after the same step. Then their graphs differ, and all of them say so.

  --lose RANK      instead: this rank is killed in a launch, and the others end with an error
  --deadline MS    how long they wait for it (2000)
  --help           print this

The exit code is 2 if the arguments are no good, 1 if a value was wrong, or CUDA or MPI reported an error.
)";

struct Options {
    int lost = -1;
    unsigned deadline = 2000;
    bool help = false;
};

constexpr int n = 1 << 10;
const cudag::LaunchConfig elements = cudag::grid_1d(n, 256);

void expect(float value, float expected, const char* name) {
    if (value != expected)
        throw std::runtime_error(std::string(name) + " is " + std::to_string(value) + ", not " +
                                 std::to_string(expected));
}

/// This rank, and its neighbours in a ring.
struct Ring {
    int rank = 0;
    int ranks = 1;
    [[nodiscard]] int next() const { return (rank + 1) % ranks; }
    [[nodiscard]] int previous() const { return (rank + ranks - 1) % ranks; }
};

/// What a rank sends and receives in a graph, by page-locked memory.
struct Exchange {
    cudag::DeviceBuffer<float> mine{n}, theirs{n}, inner{n};
    cudag::PinnedBuffer<float> sent{n}, received{n};
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

// staged begins
cudag::Graph staged(Exchange& e, const Ring& ring) {
    cudag::GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    b.kernel(elements, fill, n, static_cast<float>(ring.rank), e.mine).label("mine");
    b.memcpy(e.sent, e.mine).label("download");
    b.host([&] {
         MPI_Irecv(e.received.data(), n, MPI_FLOAT, ring.previous(), 0, MPI_COMM_WORLD, &e.requests[0]);
         MPI_Isend(e.sent.data(), n, MPI_FLOAT, ring.next(), 0, MPI_COMM_WORLD, &e.requests[1]);
     })
        .label("begin exchange")
        .reads(e.sent)
        .writes(e.received, e.requests);
    b.kernel(elements, fill, n, 1.0f, e.inner).label("inner part"); // beside the exchange
    b.host([&] { MPI_Waitall(2, e.requests.data(), MPI_STATUSES_IGNORE); })
        .label("end exchange")
        .reads(e.sent)
        .writes(e.received, e.requests);
    b.memcpy(e.theirs, e.received).label("upload");
    b.kernel(elements, add, n, e.inner, e.theirs, e.mine).label("sum");
    return std::move(b).build();
}
// staged ends

void exchange_in_graph(const Ring& ring, const cudag::Stream& stream) {
    Exchange e;
    const cudag::Graph graph = staged(e, ring);
    cudag::Exec exec = graph.instantiate();
    for (int i = 0; i < 3; ++i)
        exec.launch(stream);
    stream.synchronize();
    std::vector<float> values(n);
    cudag::check(cudaMemcpy(values.data(), e.mine.data(), n * sizeof(float), cudaMemcpyDeviceToHost));
    expect(values.back(), 1.0f + static_cast<float>(ring.previous()), "the sum by host nodes");
}

/// Whether MPI sends from device memory: on the CPU runtime, this is memory like any other.
bool takes_device_memory() {
#if defined(CUDART_CPU)
    return true;
#elif defined(MPIX_CUDA_AWARE_SUPPORT)
    return MPIX_Query_cuda_support() == 1;
#else
    return false;
#endif
}

void exchange_between_graphs(const Ring& ring, const cudag::Stream& stream) {
    const cudag::DeviceBuffer<float> mine(n), theirs(n), sum(n);
    // aware begins
    cudag::SegmentedGraph program = cudag::capture_segments(stream, [&](cudag::StreamCapture& c) {
        c.step("mine", [&](cudaStream_t s) { launch(s, elements, fill, n, static_cast<float>(ring.rank), mine); });
        c.eager("exchange", [&](cudaStream_t s) {
            cudag::check(cudaStreamSynchronize(s)); // MPI knows no streams
            MPI_Sendrecv(mine.data(), n, MPI_FLOAT, ring.next(), 0, theirs.data(), n, MPI_FLOAT, ring.previous(), 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        });
        c.step("sum", [&](cudaStream_t s) { launch(s, elements, add, n, mine, theirs, sum); });
    });
    // aware ends
    program.launch(stream);
    program.launch(stream);
    stream.synchronize();
    std::vector<float> values(n);
    cudag::check(cudaMemcpy(values.data(), sum.data(), n * sizeof(float), cudaMemcpyDeviceToHost));
    expect(values.back(), static_cast<float>(ring.rank + ring.previous()), "the sum from device memory");
}

constexpr float tolerance = 1e-3f;

/// Roots of numbers that are larger on each further rank, and so take it more steps.
struct Roots {
    static constexpr int count = 4;
    explicit Roots(const Ring& ring) : numbers(count), values(count), mine(1), all(1) {
        const std::vector<float> given(count, number(ring.rank)), first(count, 1.0f);
        cudag::check(cudaMemcpy(numbers.data(), given.data(), count * sizeof(float), cudaMemcpyHostToDevice));
        cudag::check(cudaMemcpy(values.data(), first.data(), count * sizeof(float), cudaMemcpyHostToDevice));
        cudag::check(cudaDeviceSynchronize());
        mine[0] = std::bit_cast<int>(1.0f);
    }
    [[nodiscard]] static float number(int rank) { return 2.0f * std::pow(100.0f, static_cast<float>(rank)); }

    cudag::DeviceBuffer<float> numbers, values;
    cudag::DeviceScalar<int> change{std::bit_cast<int>(1.0f)}; ///< of this rank, then of all
    cudag::DeviceScalar<int> steps{0};
    cudag::PinnedBuffer<int> mine, all; ///< the change; bits of a float, ordered as integers
};

// solver begins
cudag::Graph solver(Roots& r, unsigned turns) {
    cudag::GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
    for (unsigned turn = 0; turn < turns; ++turn) {
        const cudag::Condition again = b.condition(0);
        b.kernel({}, decide, again, r.change, tolerance).label("again?"); // the same answer on all ranks
        b.if_(again, [&](cudag::GraphBuilder& body) {
             body.kernel({}, newton, Roots::count, r.numbers, r.values, r.change, r.steps).label("step");
         }).label("step, unless all are done");
        b.memcpy(r.mine, r.change).label("download change");
        b.host([&] { MPI_Allreduce(r.mine.data(), r.all.data(), 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD); })
            .label("largest change")
            .reads(r.mine)
            .writes(r.all);
        b.memcpy(r.change, r.all).label("upload change"); // sets the DeviceScalar
    }
    return std::move(b).build();
}
// solver ends

/// The steps until no rank changes its values by more than the tolerance, in plain C++.
int steps_of_all(const Ring& ring) {
    int most = 0;
    for (int rank = 0; rank < ring.ranks; ++rank) {
        float x = 1.0f, change = 1.0f;
        int steps = 0;
        for (; change > tolerance; ++steps) {
            const float next = 0.5f * (x + Roots::number(rank) / x);
            change = std::fabs(next - x);
            x = next;
        }
        most = std::max(most, steps);
    }
    return most;
}

void stop_at_once(const Ring& ring, const cudag::Stream& stream) {
    Roots roots(ring);
    const cudag::Graph graph = solver(roots, 8);
    cudag::Exec exec = graph.instantiate();
    for (int i = 0; i < 3; ++i)
        exec.launch(stream);
    expect(static_cast<float>(roots.steps.get(stream)), static_cast<float>(steps_of_all(ring)), "the number of steps");
}

cudag::AllGather gather_all() {
    return [](std::span<const std::byte> mine, std::span<std::byte> all) {
        const int bytes = static_cast<int>(mine.size());
        MPI_Allgather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, MPI_COMM_WORLD);
    };
}

/// Rank 0 has one kernel more. All ranks are told of it before the first launch, and say how long that took.
void differ(const Ring& ring) {
    const cudag::DeviceBuffer<float> x(n);
    cudag::GraphBuilder b;
    const auto first = b.kernel(elements, fill, n, 1.0f, x).label("first");
    if (ring.rank == 0) b.kernel(elements, fill, n, 2.0f, x).label("only on rank 0").after(first);
    const cudag::Graph graph = std::move(b).build();
    MPI_Barrier(MPI_COMM_WORLD);
    const auto begin = std::chrono::steady_clock::now();
    try {
        cudag::agree(cudag::fingerprint(graph), static_cast<std::size_t>(ring.ranks), gather_all());
    } catch (const cudag::RanksDifferError& error) {
        const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
        std::printf("rank %d after %.1f ms: %s\n", ring.rank, time.count(), error.what());
        return;
    }
    if (ring.ranks > 1) throw std::runtime_error("the graphs differ, and agree does not say so");
}

/// Exchanges values until a rank is lost.
void lose(const Options& options, const Ring& ring, const cudag::Stream& stream) {
    Exchange e;
    int launches = 0;
    cudag::GraphBuilder b;
    const auto count = b.host([&] {
                            if (++launches == 3 && ring.rank == options.lost) std::raise(SIGKILL);
                        }).label("count");
    b.child(staged(e, ring)).label("exchange with the neighbours").after(count);
    const cudag::Graph graph = std::move(b).build();
    // lost begins
    cudag::Exec exec = graph.instantiate({.recorder = true}); // the error then names the node that waits
    try {
        for (int step = 0; step < 5; ++step) {
            exec.launch(stream);
            stream.synchronize(std::chrono::milliseconds(options.deadline));
        }
    } catch (const cudag::DeadlineError& error) { // a host node waits for the lost rank, in a call of MPI
        std::fprintf(stderr, "rank %d: %s\n", ring.rank, error.what());
        std::_Exit(1); // no destructors: they would wait for the launch; no MPI_Abort: MPI is in use
    }
    // lost ends
}

Options parse_options(const std::vector<std::string>& all) {
    Options options;
    example::Arguments arguments(all);
    while (arguments.next()) {
        if (arguments.is("--lose"))
            options.lost = static_cast<int>(arguments.number(0, 1000));
        else if (arguments.is("--deadline"))
            options.deadline = static_cast<unsigned>(arguments.number(1, 3'600'000));
        else if (arguments.is("--help"))
            options.help = true;
        else
            arguments.refuse();
    }
    return options;
}

void run(const Options& options, const Ring& ring) {
    int devices = 0;
    cudag::check(cudaGetDeviceCount(&devices));
    cudag::check(cudaSetDevice(ring.rank % devices));
    const cudag::Stream stream;
    if (options.lost >= 0) return lose(options, ring, stream);
    exchange_in_graph(ring, stream);
    if (takes_device_memory()) exchange_between_graphs(ring, stream);
    stop_at_once(ring, stream);
    differ(ring);
}

} // namespace
} // namespace mpi_example

int main(int argc, char** argv) {
    return example::run("mpi", [&] {
        using namespace mpi_example;
        const Options options = parse_options({argv + 1, argv + argc});
        if (options.help) {
            std::fputs(usage, stdout);
            return;
        }
        // init begins
        int level = 0;
        MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level); // host nodes run on a thread of CUDA's
        // init ends
        Ring ring;
        MPI_Comm_rank(MPI_COMM_WORLD, &ring.rank);
        MPI_Comm_size(MPI_COMM_WORLD, &ring.ranks);
        try {
            if (level < MPI_THREAD_SERIALIZED) throw std::runtime_error("this MPI allows one thread only");
            run(options, ring);
        } catch (const std::exception& problem) { // the other ranks may wait for this one
            std::fprintf(stderr, "mpi: rank %d: %s\n", ring.rank, problem.what());
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        MPI_Finalize();
    });
}
