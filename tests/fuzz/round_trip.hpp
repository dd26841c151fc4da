// Round trips of graphs: to text and back, and to CUDA and back.
#pragma once

#include "read_back.hpp"
#include "report.hpp"

#include <cudag/cudag.hpp>
#include <cudag/graph_text.hpp>

#include <string>

/// Checks that the text of a graph makes a graph with this text, that CUDA takes it, and that the graph read back from
/// CUDA equals it.
inline void check_round_trip(const cudag::Graph& graph) {
    const cudag::GraphNames names = names_of(graph);
    const std::string text = to_text(graph, names);
    for (const cudag::Difference& difference : diff(graph, text, names))
        wrong("a graph differs from its own text: {}", to_string(difference));
    const cudag::LoadedGraph loaded = cudag::load(text, names);
    const std::string again = to_text(loaded.graph, names);
    require(again == text, "the text of a loaded graph is\n{}\nnot\n{}", again, text);
    static_cast<void>(loaded.graph.instantiate({.plan = loaded.plan}));

    static_cast<void>(loaded.graph.instantiate({.plan = cudag::Plan::as_written()}));
    const ReadBack read = read_back(loaded.graph, true);
    for (const std::string& difference : read.differences)
        wrong("a graph differs from what CUDA has of it: {}", difference);
    int driver = 0;
    cudag::check(cudaDriverGetVersion(&driver));
    if (driver >= 13020 && !read.opaque.empty()) wrong("CUDA tells {}, and cudag has not read it", read.opaque.front());
}
