// data_parallel: training on several devices, by one graph on each and by launches into streams, compared and measured.
#include "trainer.hpp"

#include "program/arguments.hpp"
#include "program/program.hpp"
#include "program/progress.hpp"

#include <barrier>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace data_parallel {
namespace {

using example::BadInput;

const char* const usage =
    R"(usage: data_parallel [option]...

Trains a network of fully connected layers on several devices, each with samples of its own and a thread. A step is forward,
backward, the sum of the gradients of all devices, in buckets and beside the rest of backward, and the change of the weights:
as one graph, and by launches into two streams. Says how long a step takes in each.

  --devices N   devices, as many as there are by default
  --layers N    layers (8)
  --width N     inputs and outputs of a layer (128)
  --batch N     samples of each device (16)
  --buckets N   sums of gradients in a step, at most one for each layer (4)
  --steps N     steps each way (200)
  --verify      compare all weights with those of a training in plain C++
  --dot FILE    write the graph of the first device to FILE, for Graphviz: dot -Tsvg FILE
  --help        print this

The exit code is 2 if the arguments are no good, 1 if a weight was wrong, or CUDA or NCCL reported an error.
)";

struct Options {
    Problem problem = {.ranks = 0};
    int buckets = 4;
    int steps = 200;
    bool verify = false;
    bool help = false;
    std::string dot;
};

Options parse_options(const std::vector<std::string>& all) {
    Options options;
    example::Arguments arguments(all);
    while (arguments.next()) {
        if (arguments.is("--devices")) {
            options.problem.ranks = arguments.number(1, 64);
        } else if (arguments.is("--layers")) {
            options.problem.layers = arguments.number(1, 1000);
        } else if (arguments.is("--width")) {
            options.problem.width = arguments.number(1, 8192);
        } else if (arguments.is("--batch")) {
            options.problem.batch = arguments.number(1, 8192);
        } else if (arguments.is("--buckets")) {
            options.buckets = arguments.number(1, 1000);
        } else if (arguments.is("--steps")) {
            options.steps = arguments.number(1, 1'000'000);
        } else if (arguments.is("--verify")) {
            options.verify = true;
        } else if (arguments.is("--dot")) {
            options.dot = arguments.value();
        } else if (arguments.is("--help")) {
            options.help = true;
        } else {
            arguments.refuse();
        }
    }
    if (options.buckets > options.problem.layers)
        throw BadInput("--buckets is " + std::to_string(options.buckets) + ", and there are " +
                       std::to_string(options.problem.layers) + " layers");
    return options;
}

/// What both ways have led to.
struct Outcome {
    double stream_microseconds = 0; ///< of a step
    double graph_microseconds = 0;
    std::vector<float> stream_weights = {};
    std::vector<float> weights = {};
};

/// Makes `steps` steps on all devices at once, and returns the time of one, in microseconds.
template <class Step>
double time_of(const Options& options, std::barrier<>& all, int rank, cudag::Stream& stream, const Step& step) {
    const example::Progress progress("step", static_cast<std::size_t>(options.steps));
    all.arrive_and_wait();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < options.steps; ++i) {
        step();
        if (i % 64 != 63) continue; // the host runs ahead, but not for ever
        stream.synchronize();
        if (rank == 0) progress.show(static_cast<std::size_t>(i + 1));
    }
    stream.synchronize();
    all.arrive_and_wait();
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    return time.count() / options.steps;
}

Outcome train(const Options& options, std::barrier<>& all, const cudag::nccl::UniqueId& id, int rank) {
    cudag::check(cudaSetDevice(rank));
    const cudag::nccl::Communicator comm(id, options.problem.ranks, rank);
    cudag::Stream stream;
    Trainer trainer(options.problem, comm, options.buckets);
    trainer.warm_up(stream);
    const cudag::Graph graph = trainer.step();
    if (rank == 0 && !options.dot.empty()) example::write_text(options.dot, graph.dot());
    cudag::Exec exec = graph.instantiate();
    Outcome outcome;
    trainer.reset(stream);
    outcome.stream_microseconds = time_of(options, all, rank, stream, [&] { trainer.step_in_streams(stream); });
    outcome.stream_weights = trainer.weights();
    trainer.reset(stream);
    outcome.graph_microseconds = time_of(options, all, rank, stream, [&] { exec.launch(stream); });
    outcome.weights = trainer.weights();
    comm.check();
    all.arrive_and_wait();
    return outcome;
}

void verify(const std::vector<float>& right, const std::vector<float>& weights, int steps, const std::string& name) {
    const float rounding = 1e-6f * static_cast<float>(20 + steps); // sums in another order, in each step
    for (std::size_t i = 0; i < right.size(); ++i)
        if (!(std::abs(weights.at(i) - right[i]) <= rounding))
            throw std::runtime_error("the " + name + " is wrong: weight " + std::to_string(i) + " is " +
                                     std::to_string(weights[i]) + ", not " + std::to_string(right[i]));
}

void run(Options options) {
    int devices = 0;
    cudag::check(cudaGetDeviceCount(&devices));
    int& ranks = options.problem.ranks;
    if (ranks == 0) ranks = devices;
    if (ranks > devices)
        throw BadInput("--devices is " + std::to_string(ranks) + ", and there are " + std::to_string(devices));
    std::barrier all(ranks);
    const cudag::nccl::UniqueId id = cudag::nccl::UniqueId::create();
    std::vector<Outcome> outcomes(static_cast<std::size_t>(ranks));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
        threads.emplace_back([&, rank] {
            try {
                outcomes[static_cast<std::size_t>(rank)] = train(options, all, id, rank);
            } catch (const std::exception& problem) { // the other devices wait for this one
                std::fprintf(stderr, "data_parallel: device %d: %s\n", rank, problem.what());
                std::fflush(stderr);
                std::_Exit(1);
            }
        });
    for (std::thread& thread : threads)
        thread.join();

    const Outcome& first = outcomes.front();
    std::printf("%d layers of %d, %d samples on each of %d devices, %d sums of gradients in a step\n",
                options.problem.layers, options.problem.width, options.problem.batch, ranks, options.buckets);
    std::printf("launches into streams: %8.2f us per step\n", first.stream_microseconds);
    std::printf("one graph:             %8.2f us per step, %.2f times as fast\n", first.graph_microseconds,
                first.stream_microseconds / first.graph_microseconds);
    example::print_runtime_note();
    if (!options.verify) return;
    const std::vector<float> right = oracle(options.problem, options.steps);
    for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
        const std::string device = " of device " + std::to_string(rank);
        verify(right, outcomes[rank].stream_weights, options.steps, "training by launches" + device);
        verify(right, outcomes[rank].weights, options.steps, "training by the graph" + device);
    }
    std::printf("verified: all weights are right\n");
}

} // namespace
} // namespace data_parallel

int main(int argc, char** argv) {
    return example::run("data_parallel", [&] {
        const data_parallel::Options options = data_parallel::parse_options({argv + 1, argv + argc});
        if (options.help)
            std::fputs(data_parallel::usage, stdout);
        else
            data_parallel::run(options);
    });
}
