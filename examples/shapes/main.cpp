// shapes: graphs as real programs write them, and what cudag's plan makes of their edges.
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/shape_graphs.hpp"
#include "program/arguments.hpp"
#include "program/program.hpp"

namespace {

using bench::Shape;
using example::BadInput;

const char* const usage =
    R"(usage: shapes [option]... [SHAPE]

Without SHAPE: one line for each of the shapes in which real programs write their graphs, with its nodes and edges, and
what CUDA gets of them. With one, what became of its edges and why.

  --percent P    as many percent of the nodes that the benchmarks give a shape (10)
  --dot FILE     draw SHAPE as DOT text: the edges that CUDA has, and grey those that were left out
  --tune         run SHAPE on the device by several plans, and say how long each takes
  --help         print this

The exit code is 2 if the arguments are no good, 1 if CUDA reported an error.
)";

struct Options {
    std::string shape; ///< empty: all
    int percent = 10;
    std::string dot;
    bool tune = false;
    bool help = false;
};

Options parse_options(const std::vector<std::string>& all) {
    Options options;
    example::Arguments arguments(all);
    while (arguments.next()) {
        if (arguments.is("--percent")) {
            options.percent = arguments.number(1, 100);
        } else if (arguments.is("--dot")) {
            options.dot = arguments.value();
        } else if (arguments.is("--tune")) {
            options.tune = true;
        } else if (arguments.is("--help")) {
            options.help = true;
        } else if (arguments.name().starts_with("--") || !options.shape.empty()) {
            arguments.refuse();
        } else {
            options.shape = arguments.name();
        }
    }
    if (options.shape.empty() && (options.tune || !options.dot.empty())) {
        throw BadInput("--dot and --tune need a SHAPE; without options its names are printed");
    }
    return options;
}

void print_all(const std::vector<Shape>& shapes) {
    std::printf("%-40s %6s %7s %7s %14s\n", "shape", "nodes", "edges", "planned", "empty kernels");
    for (const Shape& shape : shapes) {
        const cudag::Graph graph = bench::build_graph(shape, 0);
        const cudag::PlanReport plan = graph.instantiate().plan();
        std::printf("%-40s %6zu %7zu %7zu %14zu\n", shape.name().c_str(), graph.node_count(), plan.edges_before(),
                    plan.edges_after(), plan.kernels());
    }
}

void print_one(const Shape& shape, const Options& options) {
    const cudag::Graph graph = bench::build_graph(shape, 0);
    const cudag::Exec exec = graph.instantiate();
    std::printf("%s: %zu nodes\n%s\n", shape.name().c_str(), graph.node_count(), exec.plan().to_string().c_str());
    if (!options.dot.empty()) {
        std::ofstream file(options.dot);
        file << exec.dot();
        if (!file.flush()) {
            throw std::runtime_error("cannot write " + options.dot);
        }
    }
    if (options.tune) {
        const cudag::Stream stream;
        std::printf("\n%s\n", cudag::tune(graph, stream).report.to_string().c_str());
        example::print_runtime_note();
    }
}

void run(const Options& options) {
    const std::vector<Shape> shapes = bench::all_shapes(options.percent / 100.0);
    if (options.shape.empty()) {
        return print_all(shapes);
    }
    for (const Shape& shape : shapes) {
        if (shape.name() == options.shape) {
            return print_one(shape, options);
        }
    }
    throw BadInput("there is no shape '" + options.shape + "' of that size; without options all names are printed");
}

} // namespace

int main(int argc, char** argv) {
    return example::run("shapes", [&] {
        const Options options = parse_options({argv + 1, argv + argc});
        if (options.help) {
            std::fputs(usage, stdout);
        } else {
            run(options);
        }
    });
}
