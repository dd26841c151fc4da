// What it costs that all of b kernels come after all of a, by direct edges, an empty kernel or an empty node between:
// the measurements behind the plan's choice of joins. Prints them, how well simple rules choose, and the fitted costs
// as C++.
#include "joins.hpp"
#include "launch_timer.hpp"
#include "options.hpp"
#include "report.hpp"
#include "shape_graphs.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using bench::Shape;

using bench::edges;
using bench::Form;
using bench::forms;
using bench::JoinPoint;
using bench::kernel;
using bench::node;

Shape shape_of(const JoinPoint& point, Form form) {
    const auto between = form == edges ? bench::Between::edges : bench::Between::barriers;
    if (!point.alone) {
        std::vector<unsigned> widths;
        for (unsigned i = 0; i <= point.blocks(); ++i)
            widths.push_back(i % 2 == 0 ? point.in : point.out);
        return bench::layers(widths, between);
    }
    Shape shape(bench::Family::layers, "blocks alone");
    Shape::Nodes last;
    for (unsigned i = 0; i < point.blocks(); ++i) {
        const Shape::Node fork = shape.kernel(last);
        Shape::Nodes before;
        for (unsigned k = 0; k < point.in; ++k)
            before.push_back(shape.kernel({fork}));
        if (form != edges) before = {shape.barrier(before)};
        last.clear();
        for (unsigned k = 0; k < point.out; ++k)
            last.push_back(shape.kernel(before));
    }
    return shape;
}

/// Each form comes first as often as the others.
std::array<Form, forms.size()> in_turns(int round) {
    std::array<Form, forms.size()> order = forms;
    std::rotate(order.begin(), order.begin() + (round + 3) % 3, order.end());
    return order;
}

void measure(JoinPoint& point, bench::LaunchTimer& timer, const bench::Options& options) {
    std::vector<Shape> shapes;
    for (const Form form : forms)
        shapes.push_back(shape_of(point, form));
    const auto instantiated = [&](Form form, unsigned nanoseconds, double& taken) {
        bench::RawShape graph;
        graph.build(shapes[form], nanoseconds,
                    form == node ? bench::Barriers::empty_nodes : bench::Barriers::empty_kernels);
        taken = bench::microseconds([&] { graph.instantiate(); });
        return graph;
    };

    std::array<std::vector<double>, forms.size()> instantiate;
    for (int round = -1; round < options.repeat; ++round)
        for (const Form form : in_turns(round)) {
            double taken = 0;
            static_cast<void>(instantiated(form, 0, taken));
            if (round >= 0) instantiate[form].push_back(taken);
        }
    for (const Form form : forms)
        point.costs[form].instantiate = bench::estimate(instantiate[form]);

    for (const int duration : options.durations) {
        std::vector<bench::RawShape> graphs;
        double taken = 0;
        for (const Form form : forms)
            graphs.push_back(instantiated(form, static_cast<unsigned>(duration) * 1000, taken));
        std::array<std::vector<double>, forms.size()> call;
        std::array<std::vector<double>, forms.size()> gpu;
        for (int round = -3; round < options.repeat; ++round)
            for (const Form form : in_turns(round)) {
                const bench::LaunchTimes times =
                    timer([&] { cudag::check(cudaGraphLaunch(graphs[form].exec, timer.stream().get())); });
                if (round < 0) continue;
                call[form].push_back(times.call);
                gpu[form].push_back(times.gpu);
            }
        for (const Form form : forms) {
            point.costs[form].gpu.push_back(bench::estimate(gpu[form]));
            point.costs[form].call.push_back(bench::estimate(call[form]));
        }
    }
}

std::vector<JoinPoint> grid(bool quick) {
    const std::vector<unsigned> widths = quick ? std::vector<unsigned>{1, 2, 4, 8, 16, 32, 100}
                                               : std::vector<unsigned>{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 100};
    const std::vector<unsigned> widths_alone =
        quick ? std::vector<unsigned>{2, 8, 32} : std::vector<unsigned>{2, 3, 4, 6, 8, 16, 32, 64};
    std::vector<JoinPoint> points;
    for (const unsigned in : widths)
        for (const unsigned out : widths)
            if (in <= out) points.push_back({false, in, out}); // the blocks of out x in stand between them
    for (const unsigned in : widths_alone)
        for (const unsigned out : widths_alone)
            points.push_back({true, in, out});
    return points;
}

void print_header(const std::vector<int>& durations) {
    std::printf("medians, microseconds for each block; k/e: an empty kernel against edges\n%-5s %4s %4s %6s", "where",
                "in", "out", "blocks");
    for (const int duration : durations)
        std::printf(" | GPU, %2d us: edges, kernel, node    k/e | call: edges, kernel,   node    k/e", duration);
    std::printf(" | instantiate: edges, kernel, node     k/e\n");
}

void print(const JoinPoint& point) {
    std::printf("%-5s %4u %4u %6u", point.alone ? "alone" : "line", point.in, point.out, point.blocks());
    const auto columns = [&](auto&& of, int width) {
        const double by_edges = point.per_block(of(point.costs[edges]));
        const double by_kernel = point.per_block(of(point.costs[kernel]));
        std::printf(" | %*.3f %8.3f %8.3f %6.2f", width, by_edges, by_kernel, point.per_block(of(point.costs[node])),
                    by_kernel / by_edges);
    };
    for (std::size_t i = 0; i < point.costs[edges].gpu.size(); ++i) {
        columns([i](const bench::JoinCosts& costs) { return costs.gpu[i]; }, 14);
        columns([i](const bench::JoinCosts& costs) { return costs.call[i]; }, 11);
    }
    columns([](const bench::JoinCosts& costs) { return costs.instantiate; }, 18);
    std::printf("\n");
    std::fflush(stdout);
}

void write_json(const std::string& path, const std::vector<JoinPoint>& points, const std::vector<int>& durations) {
    std::ofstream file(path);
    const auto list = [&](const auto& values, auto&& text) {
        file << '[';
        for (std::size_t i = 0; i < values.size(); ++i)
            file << (i == 0 ? "" : ", ") << text(values[i]);
        file << ']';
    };
    file << "{\"title\": \"blocks of in x out kernels, each block\", \"unit\": \"us\", \"durations\": ";
    list(durations, [](int duration) { return duration; });
    file << ", \"rows\": [";
    for (const JoinPoint& point : points) {
        const auto per_block = [&](const bench::Estimate& of) { return point.per_block(of); };
        file << (&point == &points.front() ? "\n" : ",\n") << "  {\"alone\": " << (point.alone ? "true" : "false")
             << ", \"in\": " << point.in << ", \"out\": " << point.out;
        for (const Form form : forms) {
            const bench::JoinCosts& costs = point.costs[form];
            file << ", \"" << bench::form_names[form] << "\": {\"instantiate\": " << per_block(costs.instantiate)
                 << ", \"gpu\": ";
            list(costs.gpu, per_block);
            file << ", \"call\": ";
            list(costs.call, per_block);
            file << '}';
        }
        file << '}';
    }
    file << "\n]}\n";
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

bool run(const bench::Options& options) {
    bench::LaunchTimer timer;
    cudag::launch(timer.stream(), {.block = 32}, spin, 0U); // the first use of a kernel loads it
    timer.stream().synchronize();
    std::vector<JoinPoint> points = grid(*options.quick);
    print_header(options.durations);
    for (JoinPoint& point : points) {
        measure(point, timer, options);
        print(point);
    }
    bench::print_join_rules(points, options.durations);
    if (!options.json.empty()) write_json(options.json, points, options.durations);
    return true;
}

} // namespace

int main(int argc, char** argv) {
    return bench::run_benchmark(argc, argv, {.durations = {0, 5}, .repeat = 11, .quick = false}, run);
}
