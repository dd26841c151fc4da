// The CPU runtime refuses a kernel that declares to wait for previous ones and does not. A program of its own: such an
// error is the last thing that CUDA does.
#include "kernels.hpp"

#include <cudag/cudag.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <utility>

#include <unistd.h>

namespace {

constexpr cudag::LaunchConfig waits{.grid = {1, 1, 1}, .block = {4, 1, 1}, .waits_for_previous = true};

cudag::Graph built(const cudag::DeviceBuffer<int>& x, const cudag::DeviceBuffer<int>& y) {
    cudag::GraphBuilder b;
    const auto first = b.kernel({.block = 4}, multiply_add, x.data(), y.data(), 4, 1);
    b.kernel(waits, multiply_add, x.data(), y.data(), 4, 1).label("hurried").after(first);
    return std::move(b).build();
}

cudag::Graph captured(const cudag::DeviceBuffer<int>& x, const cudag::DeviceBuffer<int>& y) {
    const cudag::Stream stream;
    cudag::Graph graph = cudag::capture(stream, [&](cudag::StreamCapture& c) {
        cudag::launch(c.stream(), {.block = 4}, multiply_add, x.data(), y.data(), 4, 1);
        c.step("hurried", [&] { cudag::launch(c.stream(), waits, multiply_add, x.data(), y.data(), 4, 1); });
    });
    static_cast<void>(graph.nodes()); // an unread captured graph does not know its kernels
    return graph;
}

} // namespace

/// `built`, `built without early` or `captured`: the way of the graph.
int main(int argc, char** argv) {
    const std::string how = argc == 2 ? argv[1] : "";
    const std::string log_file = "declared_waits_" + std::to_string(getpid()) + ".log"; // many may run at a time
    ::setenv("CUDA_LOG_FILE", log_file.c_str(), 1);
    const cudag::DeviceBuffer<int> x(4), y(4);
    const cudag::Stream stream;
    const cudag::Plan plan{.early = how != "built without early"};
    cudag::Exec exec = (how == "captured" ? captured(x, y) : built(x, y)).instantiate({.plan = plan});
    exec.launch(stream);
    bool is_refused = false;
    try {
        stream.synchronize();
    } catch (const cudag::Error&) {
        is_refused = true;
    }
    std::ifstream log(log_file);
    const std::string text{std::istreambuf_iterator<char>(log), {}};
    std::remove(log_file.c_str());
    const bool is_named = text.find("kernel \"hurried\"") != std::string::npos &&
                          text.find("is declared to wait for the kernels before it") != std::string::npos;
    if (is_refused && is_named) return 0;
    std::cerr << (is_refused ? "the log does not name the kernel: " + text : "nobody noticed the missing wait") << '\n';
    return 1;
}
