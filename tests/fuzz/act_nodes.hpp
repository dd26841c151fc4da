// Acts as nodes of cudag graphs, in streams, and as updates.
#pragma once

#include "acts.hpp"
#include "bench.hpp"

#include <cudag/cudag.hpp>

#include <cstdint>
#include <functional>
#include <vector>

[[nodiscard]] inline cudag::DeviceSpan<std::uint32_t> span_of(const Bench& bench, const Words& words) {
    return {bench.words.data() + words.first, words.count};
}

/// A node, and how it comes after others.
struct ActNode {
    cudag::Node node;
    std::function<void(const std::vector<cudag::Node>&)> after;
};

ActNode add_act(cudag::GraphBuilder& b, const Bench& bench, const Act& act);
/// Into a stream; what cudag does not see of raw kernels and host functions stays undeclared. `retain` keeps what a
/// host function needs.
void enqueue_act(cudaStream_t stream, const Bench& bench, const Act& act,
                 const std::function<void(std::shared_ptr<const void>)>& retain);
/// Whether `enqueue_act` leaves cudag without knowledge of what the act does.
[[nodiscard]] bool is_opaque(const Act& act);
/// Gives the node of an act other values.
void update_act(cudag::Exec& exec, const Bench& bench, const cudag::Node& node, const Act& act);
void update_act(cudag::Graph& graph, const Bench& bench, const cudag::Node& node, const Act& act);

/// The order that a graph has. `nodes` are those with numbers; others only lie on paths.
[[nodiscard]] Order order_of(const cudag::Graph& graph, const std::vector<cudag::Node>& nodes);

/// Memory that differs everywhere, in the bench and in the oracle.
[[nodiscard]] std::vector<std::uint32_t> fresh_memory(Bench& bench, unsigned buffers);
/// Throws Wrong if a word differs.
void require_memory(const Bench& bench, const std::vector<std::uint32_t>& expected, const char* after);
