// decode: a toy language model as plain launches and as a graph, compared and measured.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "decoder.hpp"
#include "options.hpp"
#include "program/program.hpp"

namespace decode {
namespace {

constexpr int first_token = 1;

std::string device_name() {
    int device = 0;
    cudaDeviceProp properties{};
    cudag::check(cudaGetDevice(&device));
    cudag::check(cudaGetDeviceProperties(&properties, device));
    return properties.name;
}

/// The microseconds of a step, from the median of `repeat` runs. One run goes before and is not measured.
template <class Decoder>
double measure(Decoder& decoder, cudag::Stream& stream, const Options& options) {
    std::vector<double> times;
    for (int i = -1; i < options.repeat; ++i) {
        decoder.model().start(stream, first_token);
        const auto begin = std::chrono::steady_clock::now();
        for (int position = 0; position < options.steps; ++position) {
            decoder.step(stream, position);
        }
        stream.synchronize();
        const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
        if (i >= 0) {
            times.push_back(time.count());
        }
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2] / options.steps;
}

void require_equal(const Decoded& result, const Decoded& expected, const char* name) {
    const auto differ = std::mismatch(result.tokens.begin(), result.tokens.end(), expected.tokens.begin());
    if (differ.first != result.tokens.end()) {
        throw std::runtime_error("token " + std::to_string(differ.first - result.tokens.begin()) + " of the " + name +
                                 " is " + std::to_string(*differ.first) + ", not " + std::to_string(*differ.second));
    }
    if (result != expected) {
        throw std::runtime_error(std::string("the caches of the ") + name + " are wrong");
    }
}

void run(const Options& options) {
    const Model model = make_model(options.seed);
    cudag::Stream stream;
    StreamDecoder plain(model);
    GraphDecoder graph(model);
    if (!options.dot.empty()) {
        example::write_text(options.dot, graph.graph().dot());
    }
    const double plain_time = measure(plain, stream, options);
    const double graph_time = measure(graph, stream, options);
    const Decoded result = graph.model().result(stream, options.steps);
    require_equal(plain.model().result(stream, options.steps), result, "stream");
    if (options.verify) {
        require_equal(result, decode_on_host(model, first_token, options.steps), "graph");
    }

    std::printf("%d tokens of a model of %d layers on %s:", options.steps, layers, device_name().c_str());
    for (std::size_t i = 1; i < std::min<std::size_t>(9, result.tokens.size()); ++i) {
        std::printf(" %d", result.tokens[i]);
    }
    std::printf("%s\n", result.tokens.size() > 9 ? " ..." : "");
    std::printf("plain launches on one stream: %8.2f us per token\n", plain_time);
    std::printf("graph of %zu nodes:           %8.2f us per token, %.2f times as fast\n", graph.graph().node_count(),
                graph_time, plain_time / graph_time);
    example::print_runtime_note();
    if (options.verify) {
        std::printf("verified: tokens and caches are right both ways\n");
    }
}

} // namespace
} // namespace decode

int main(int argc, char** argv) {
    return example::run("decode", [&] {
        const decode::Options options = decode::parse_options({argv + 1, argv + argc});
        if (options.help) {
            std::fputs(decode::usage, stdout);
        } else {
            decode::run(options);
        }
    });
}
