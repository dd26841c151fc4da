// With CUDART_CPU_CHECK=writes the CPU runtime looks whether nodes write more than they say. A program of its own: such
// an error is the last thing that CUDA does.
#include "kernels.hpp"

#include <cudag/cudag.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include <unistd.h>

namespace {

void require(bool holds, const std::string& text) {
    if (holds) return;
    std::cerr << text << '\n';
    std::exit(1);
}

/// Whether CUDA says, in the log of this process, that `node` wrote what it was not said to write.
void require_caught(const cudag::Stream& stream, const std::string& node, const char* log_file) {
    try {
        stream.synchronize();
    } catch (const cudag::Error&) {
        std::ifstream log(log_file);
        const std::string text{std::istreambuf_iterator<char>(log), {}};
        std::remove(log_file);
        require(text.find("kernel \"" + node + "\" at ") != std::string::npos, text);
        return;
    }
    std::remove(log_file);
    require(false, "a kernel wrote what it was not said to write, and nobody noticed");
}

void update_nodes(const char* log_file) {
    constexpr int size = 16;
    const cudag::DeviceBuffer<int> x(size), y(size);
    cudag::GraphBuilder b;
    const auto fill = b.memset(x, 1);
    const auto kernel = b.kernel(cudag::grid_1d(size, 8), multiply_add, x, y, size, 2).label("adds").after(fill);
    const auto raw = b.kernel({}, multiply_add, x.data() + 1, y.data(), 1, 1).after(kernel); // says nothing
    const auto host = b.host([&] { x.data()[2] = 5; }).label("host").writes(x.span().subspan(2, 1)).after(raw);
    const cudag::Graph graph = std::move(b).build();
    cudag::Exec exec = graph.instantiate();
    const cudag::Stream stream;
    exec.launch(stream);
    stream.synchronize();
    exec.update(host, [&] { x.data()[2] = 6; });
    exec.update(kernel, cudag::arg<0>(x.span().subspan(0, 4))); // of `size`
    exec.launch(stream);
    require_caught(stream, "adds", log_file);
}

/// Graphs that differ only in what a node says that it writes and reads: of one that said more, or less, before.
void launch_by_cache(bool said_more, const char* log_file) {
    constexpr std::size_t nodes = 16, size = 2;
    const cudag::DeviceBuffer<int> x(nodes * size), y(nodes * size);
    cudag::check(cudaMemset(y.data(), 1, nodes * size * sizeof(int))); // what changes is seen
    cudag::check(cudaDeviceSynchronize());
    const auto build = [&](std::size_t said_by_first, bool says_all) {
        cudag::GraphBuilder b;
        const auto fill = b.memset(x.span(), 1); // what no node says anything of is not watched
        for (std::size_t i = 0; i < nodes; ++i) {
            const auto to = x.span().subspan(i * size, i == 0 ? said_by_first : size);
            const auto from = y.span().subspan(i * size, size);
            const auto add = [&](const auto& written, const auto& read) {
                b.kernel({.block = size}, multiply_add, written, read, static_cast<int>(size), 1)
                    .label("adds")
                    .after(fill);
            };
            if (says_all)
                add(to, from);
            else
                add(to.data(), from.data());
        }
        return std::move(b).build();
    };
    const auto build_before = [&] { return build(size, said_more); };
    cudag::ExecCache cache;
    const cudag::Stream stream;
    cache.launch(build_before(), stream);
    cache.launch(build_before(), stream);
    stream.synchronize();
    require(cache.stats().updates == 1, "graphs of one structure were instantiated");
    cache.launch(build(1, true), stream);
    require_caught(stream, "adds", log_file);
}

} // namespace

/// How a node comes to say something else: "update", or the next graph of a cache says "less" or "more".
int main(int argc, char** argv) {
    const std::string how = argc == 2 ? argv[1] : "";
    require(how == "update" || how == "less" || how == "more", "usage: watched_writes update | less | more");
    const std::string log_file = "watched_writes_" + std::to_string(getpid()) + ".log"; // many may run at a time
    ::setenv("CUDA_LOG_FILE", log_file.c_str(), 1);
    if (how == "update")
        update_nodes(log_file.c_str());
    else
        launch_by_cache(how == "less", log_file.c_str());
}
