// With CUDART_CPU_CHECK=writes the CPU runtime looks whether nodes write more than they say. A program of its own: such
// an error is the last thing that CUDA does.
#include "kernels.hpp"

#include <cudag/cudag.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

namespace {

void require(bool holds, const std::string& text) {
    if (holds) return;
    std::cerr << text << '\n';
    std::exit(1);
}

} // namespace

int main() {
    const std::string log_file = "watched_writes-" + std::to_string(::getpid()) + ".log";
    ::setenv("CUDA_LOG_FILE", log_file.c_str(), 1);
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
    try {
        stream.synchronize();
    } catch (const cudag::Error&) {
        std::ifstream log(log_file);
        const std::string text{std::istreambuf_iterator<char>(log), {}};
        std::remove(log_file.c_str());
        require(text.find("kernel \"adds\" at ") != std::string::npos, text);
        return 0;
    }
    std::remove(log_file.c_str());
    require(false, "a kernel wrote what it was not said to write, and nobody noticed");
}
