// heat: the heat equation over the ranks of MPI, by graphs and by launches into a stream, compared and measured.
#include "nccl_slab.hpp"
#include "oracle.hpp"
#include "ranks.hpp"
#include "slab.hpp"

#include "program/arguments.hpp"
#include "program/image.hpp"
#include "program/program.hpp"
#include "program/progress.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace heat {
namespace {

using example::BadInput;

const char* const usage =
    R"(usage: mpirun -n RANKS heat [option]...

Heats a square plate from above, until no value changes by more than a tolerance. Each rank has some rows of it, and a graph
of many sweeps: in each, it exchanges rows with its neighbours while it works on those between. The same is done by launches
into a stream. Says how long a sweep takes in each.
By NCCL, rows go from device to device, and one launch is the whole solution: a loop on the device.

  --side N         values in a row of the plate (256)
  --tolerance T    stop if no value changes by more (1e-4)
  --max-sweeps N   stop after N sweeps in any case (20000)
  --sweeps N       sweeps in a graph, an even number; the decision to stop is made after each launch (20)
  --exchange HOW   nccl: between devices, one for each rank; mpi: through host memory ()" HEAT_EXCHANGE R"(, mpi if
                   ranks share a device)
  --output FILE    write the plate as a PPM file
  --verify         compare all values with those of one rank in plain C++, bit by bit
  --dot FILE       write the graph of rank 0 to FILE, for Graphviz: dot -Tsvg FILE
  --deadline S     end with an error if a launch makes no progress for S seconds: another rank may be lost (60)
  --lose RANK      kill this rank in the third launch or turn of the graph, to see what the others do
  --help           print this

The exit code is 2 if the arguments are no good, 1 if a value was wrong, or CUDA or MPI reported an error.
)";

struct Options {
    Plate plate{256};
    float tolerance = 1e-4f;
    unsigned most = 20'000;
    unsigned sweeps = 20;
    std::string exchange; ///< empty for the default
    std::string output;
    std::string dot;
    std::chrono::seconds deadline{60};
    int lost = -1;
    bool verify = false;
    bool help = false;
};

Options parse_options(const std::vector<std::string>& all) {
    Options options;
    example::Arguments arguments(all);
    while (arguments.next()) {
        if (arguments.is("--side")) {
            options.plate.side = arguments.number(1, 16384);
        } else if (arguments.is("--tolerance")) {
            options.tolerance = arguments.fraction<float>();
        } else if (arguments.is("--max-sweeps")) {
            options.most = static_cast<unsigned>(arguments.number(1, 10'000'000));
        } else if (arguments.is("--sweeps")) {
            options.sweeps = static_cast<unsigned>(arguments.number(2, 1000));
            if (options.sweeps % 2 != 0)
                throw BadInput("--sweeps takes an even number, not '" + std::to_string(options.sweeps) + "'");
        } else if (arguments.is("--exchange")) {
            options.exchange = arguments.value();
            if (options.exchange != "nccl" && options.exchange != "mpi")
                throw BadInput("--exchange takes nccl or mpi, not '" + options.exchange + "'");
        } else if (arguments.is("--output")) {
            options.output = arguments.value();
        } else if (arguments.is("--dot")) {
            options.dot = arguments.value();
        } else if (arguments.is("--deadline")) {
            options.deadline = std::chrono::seconds(arguments.number(1, 86400));
        } else if (arguments.is("--lose")) {
            options.lost = static_cast<int>(arguments.number(0, 10'000));
        } else if (arguments.is("--verify")) {
            options.verify = true;
        } else if (arguments.is("--help")) {
            options.help = true;
        } else {
            arguments.refuse();
        }
    }
    return options;
}

struct Run {
    unsigned sweeps = 0;
    double microseconds = 0; ///< of a sweep, on the slowest rank
};

/// Calls `some_sweeps` until the plate has settled. All ranks stop at once, as they know the same change.
template <class AnySlab, class SomeSweeps>
Run settle(const Options& options, const Ranks& ranks, AnySlab& slab, cudag::Stream& stream,
           const SomeSweeps& some_sweeps) {
    slab.reset(stream);
    const example::Progress progress("sweep", options.most);
    Run run;
    const auto begin = std::chrono::steady_clock::now();
    do {
        some_sweeps();
        run.sweeps += options.sweeps;
        if (ranks.rank() == 0) progress.show(run.sweeps);
    } while (slab.change() > options.tolerance && run.sweeps < options.most);
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    run.microseconds = ranks.largest(time.count()) / run.sweeps;
    return run;
}

// lost begins
/// Waits for the loop on the device, as long as it makes progress. Otherwise this rank ends, and all others.
template <class Progress>
void watch(const cudag::Stream& stream, const cudag::nccl::Communicator& comm, NcclSlab& slab, const Ranks& ranks,
           std::chrono::seconds deadline, const Progress& progress) {
    unsigned seen = 0;
    auto last = std::chrono::steady_clock::now();
    while (!stream.query()) {
        const auto now = std::chrono::steady_clock::now();
        if (slab.turns() != seen) last = now;
        seen = slab.turns();
        if (now - last > deadline) { // a collective waits for a rank, perhaps for ever
            slab.end_loop();         // after this turn, which `abort` lets end
            comm.abort();
            ranks.abort("turn " + std::to_string(seen) + " of the loop has not ended; another rank may be lost");
        }
        progress(seen);
        std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}
// lost ends

/// The end of a rank that the user wants lost.
void lose_if_wanted(const Options& options, const Ranks& ranks, unsigned steps) {
    if (ranks.rank() == options.lost && steps >= 3) std::raise(SIGKILL);
}

/// Launches the loop on the device once, and watches it.
Run settle_at_once(const Options& options, const Ranks& ranks, NcclSlab& slab, cudag::Stream& stream, cudag::Exec& exec,
                   const cudag::nccl::Communicator& comm) {
    slab.reset(stream);
    const example::Progress progress("sweep", options.most);
    const auto begin = std::chrono::steady_clock::now();
    exec.launch(stream);
    watch(stream, comm, slab, ranks, options.deadline, [&](unsigned turns) {
        if (ranks.rank() == 0) progress.show(std::size_t{turns} * options.sweeps);
        lose_if_wanted(options, ranks, turns);
    });
    stream.synchronize();
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    const unsigned sweeps = slab.turns() * options.sweeps;
    return {sweeps, ranks.largest(time.count()) / sweeps};
}

void verify(const Plate& plate, const Run& run, const std::vector<float>& values, const char* name) {
    const std::vector<float> right = oracle(plate, run.sweeps);
    for (std::size_t i = 0; i < right.size(); ++i)
        if (values.at(i) != right[i])
            throw std::runtime_error(std::string("the ") + name + " is wrong: value " + std::to_string(i) + " is " +
                                     std::to_string(values[i]) + ", not " + std::to_string(right[i]));
}

/// Black, red, yellow, white: from 0 to 1.
void write_picture(const std::string& file, const Plate& plate, const std::vector<float>& values) {
    std::vector<std::uint8_t> rgb;
    const auto level = [](float part) { return static_cast<std::uint8_t>(255.0f * std::clamp(part, 0.0f, 1.0f)); };
    for (int y = 0; y < plate.side; ++y)
        for (int x = 1; x <= plate.side; ++x) {
            const float value = values[static_cast<std::size_t>(y * plate.width() + x)];
            rgb.insert(rgb.end(), {level(3 * value), level(3 * value - 1), level(3 * value - 2)});
        }
    example::write_ppm(file, {plate.side, plate.side}, rgb);
}

/// Both ways to a settled plate, and what rank 0 has gathered.
struct Comparison {
    Run by_stream;
    std::vector<float> stream_values;
    Run by_graph;
    std::vector<float> values;
    float change = 0;
};

/// Refuses graphs that differ between ranks: their ranks would wait for each other for ever.
cudag::Exec agreed(const Options& options, const Ranks& ranks, const cudag::Graph& graph) {
    // agree begins
    cudag::agree(cudag::fingerprint(graph), static_cast<std::size_t>(ranks.count()), ranks.all_gather());
    cudag::Exec exec = graph.instantiate();
    // agree ends
    if (ranks.rank() == 0 && !options.dot.empty()) example::write_text(options.dot, graph.dot());
    return exec;
}

Comparison solve_by_mpi(const Options& options, const Ranks& ranks, cudag::Stream& stream) {
    Slab slab(options.plate, ranks);
    const cudag::Graph graph = slab.graph(options.sweeps);
    cudag::Exec exec = agreed(options, ranks, graph);
    Comparison both;
    both.by_stream = settle(options, ranks, slab, stream, [&] { slab.sweep_in_stream(stream, options.sweeps); });
    both.stream_values = ranks.gather(slab.values());
    unsigned launches = 0;
    both.by_graph = settle(options, ranks, slab, stream, [&] {
        exec.launch(stream);
        lose_if_wanted(options, ranks, ++launches);
        try {
            stream.synchronize(options.deadline);
        } catch (const cudag::DeadlineError& error) { // at once: destructors would wait for the launch
            ranks.abort(error.what());
        }
    });
    both.values = ranks.gather(slab.values());
    both.change = slab.change();
    return both;
}

Comparison solve_by_nccl(const Options& options, const Ranks& ranks, cudag::Stream& stream) {
    // comm begins
    cudag::nccl::UniqueId id;
    if (ranks.rank() == 0) id = cudag::nccl::UniqueId::create();
    ranks.broadcast(id.bytes);
    const cudag::nccl::Communicator comm(id, ranks.count(), ranks.rank());
    // comm ends
    NcclSlab slab(options.plate, ranks, comm);
    slab.reset(stream);
    slab.warm_up(stream);
    const unsigned most_turns = (options.most + options.sweeps - 1) / options.sweeps;
    const cudag::Graph graph = slab.loop(options.sweeps, options.tolerance, most_turns);
    cudag::Exec exec = agreed(options, ranks, graph);
    Comparison both;
    both.by_stream = settle(options, ranks, slab, stream, [&] { slab.sweep_in_streams(stream, options.sweeps); });
    both.stream_values = ranks.gather(slab.values());
    both.by_graph = settle_at_once(options, ranks, slab, stream, exec, comm);
    both.values = ranks.gather(slab.values());
    both.change = slab.change();
    comm.check();
    return both;
}

bool exchanges_by_nccl(const Options& options, const Ranks& ranks, int devices) {
    if (!options.exchange.empty()) return options.exchange == "nccl";
    if (std::string(HEAT_EXCHANGE) != "nccl") return false;
    const bool shares_device = ranks.on_this_machine() >= devices;
    return ranks.largest(shares_device ? 1.0f : 0.0f) == 0;
}

void solve(const Options& options, const Ranks& ranks) {
    int devices = 0;
    cudag::check(cudaGetDeviceCount(&devices));
    cudag::check(cudaSetDevice(ranks.on_this_machine() % devices));
    cudag::Stream stream;
    const Comparison both = exchanges_by_nccl(options, ranks, devices) ? solve_by_nccl(options, ranks, stream)
                                                                       : solve_by_mpi(options, ranks, stream);

    if (ranks.rank() != 0) return;
    std::printf("%dx%d values, %d ranks, %u sweeps, the last of which changes no value by more than %g\n",
                options.plate.side, options.plate.side, ranks.count(), both.by_graph.sweeps,
                static_cast<double>(both.change));
    std::printf("launches into a stream: %8.2f us per sweep\n", both.by_stream.microseconds);
    std::printf("graph of %2u sweeps:     %8.2f us per sweep, %.2f times as fast\n", options.sweeps,
                both.by_graph.microseconds, both.by_stream.microseconds / both.by_graph.microseconds);
    example::print_runtime_note();
    if (!options.output.empty()) write_picture(options.output, options.plate, both.values);
    if (options.verify) {
        verify(options.plate, both.by_stream, both.stream_values, "plate by launches");
        verify(options.plate, both.by_graph, both.values, "plate by the graph");
        std::printf("verified: both plates are right, bit by bit\n");
    }
}

void run(const Options& options, int argc, char** argv) {
    const Ranks ranks(&argc, &argv);
    const int most = options.plate.side / 3;
    if (ranks.count() > most) {
        if (ranks.rank() != 0) return;
        throw BadInput("a side of " + std::to_string(options.plate.side) + " values is for " + std::to_string(most) +
                       " ranks at most, with three rows each; there are " + std::to_string(ranks.count()));
    }
    try {
        solve(options, ranks);
    } catch (const std::exception& problem) { // the other ranks may wait for this one
        ranks.abort(problem.what());
    }
}

} // namespace
} // namespace heat

int main(int argc, char** argv) {
    return example::run("heat", [&] {
        const heat::Options options = heat::parse_options({argv + 1, argv + argc});
        if (options.help)
            std::fputs(heat::usage, stdout);
        else
            heat::run(options, argc, argv);
    });
}
