// With CUDART_CPU_CHECK=writes the CPU runtime looks whether nodes write more than they say. A program of its own: such
// an error is the last thing that CUDA does.
#include "kernels.hpp"

#include <cudag/cudag.hpp>

#include <cudart_cpu/watch.hpp>

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
        require(text.find("kernel \"" + node + "\" ") != std::string::npos, text);
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

/// Graphs that differ only in what their nodes say, and a cache that launches them.
class Cached {
  public:
    Cached() {
        cudag::check(cudaMemset(y_.data(), 1, nodes * size * sizeof(int))); // what changes is seen
        cudag::check(cudaDeviceSynchronize());
    }

    /// The nodes say what they write and read, of which the first says `said_by_first` elements of two; or nothing. The
    /// first one writes what is that of node `first`.
    [[nodiscard]] cudag::Graph build(std::size_t said_by_first, bool says_all, std::size_t first = 0) const {
        cudag::GraphBuilder b;
        const auto fill = b.memset(x_.span(), 1); // what no node says anything of is not watched
        for (std::size_t i = 0; i < nodes; ++i) {
            const auto to = i == 0 ? written(said_by_first, first) : written(size, i);
            const auto add = [&](const auto& written, const auto& read) {
                b.kernel({.block = size}, multiply_add, written, read, static_cast<int>(size), 1)
                    .label("adds")
                    .after(fill);
            };
            if (says_all)
                add(to, read(i));
            else
                add(to.data(), read(i).data());
        }
        return std::move(b).build();
    }
    [[nodiscard]] cudag::DeviceSpan<int> written(std::size_t said, std::size_t node) const {
        return x_.span().subspan(node * size, said);
    }
    [[nodiscard]] cudag::DeviceSpan<int> read(std::size_t node) const { return y_.span().subspan(node * size, size); }

    void launch(const cudag::Graph& graph) {
        cache_.launch(graph, stream_);
        require(cache_.stats().instantiations == 1, "graphs of one structure were instantiated");
    }
    [[nodiscard]] const cudag::Stream& stream() const { return stream_; }

    static constexpr std::size_t size = 2;

  private:
    static constexpr std::size_t nodes = 16;

    cudag::DeviceBuffer<int> x_{nodes * size}, y_{nodes * size};
    cudag::Stream stream_;
    cudag::ExecCache cache_;
};

/// A graph that says too little after one that says more, or nothing.
void launch_by_cache(bool said_before, const char* log_file) {
    Cached cached;
    cached.launch(cached.build(Cached::size, said_before));
    cached.launch(cached.build(Cached::size, said_before));
    cached.stream().synchronize();
    cached.launch(cached.build(1, true));
    require_caught(cached.stream(), "adds", log_file);
}

/// A graph that says nothing until its first node is updated.
void update_graph_of_cache(const char* log_file) {
    Cached cached;
    cudag::Graph graph = cached.build(Cached::size, false);
    cached.launch(graph);
    cached.stream().synchronize();
    graph.update(graph.find(multiply_add)[0], cudag::arg<0>(cached.written(1, 0)), cudag::arg<1>(cached.read(0)));
    cached.launch(graph);
    require_caught(cached.stream(), "adds", log_file);
}

/// Graphs that say nothing, after one that says too little, which nobody looked at, and one that says where another
/// node of theirs writes.
void say_nothing_in_cache(const char* log_file) {
    Cached cached;
    cudart_cpu_watch_writes(false);
    cached.launch(cached.build(1, true));
    cached.stream().synchronize();
    cudart_cpu_watch_writes(true);
    cached.launch(cached.build(Cached::size, false));
    cached.stream().synchronize();
    cached.launch(cached.build(Cached::size, true));
    cached.stream().synchronize();
    cached.launch(cached.build(Cached::size, false, 1));
    cached.stream().synchronize();
    std::remove(log_file);
}

/// An exec that allows races, of which a kernel is updated to memory that another node declares; then it writes more
/// than it says now.
void update_where_races_are_allowed(const char* log_file) {
    const cudag::DeviceBuffer<int> x(4), y(4), z(4);
    const cudag::Stream stream;
    cudag::check(cudaMemset(z.data(), 1, sizeof(int) * 4)); // what changes is seen
    cudag::check(cudaDeviceSynchronize());
    cudag::GraphBuilder b({.races = cudag::Races::allowed});
    const auto first = b.kernel({.block = 4}, multiply_add, x, z, 4, 1).label("adds");
    b.kernel({.block = 4}, multiply_add, z, y, 4, 1).after(first);
    cudag::Exec exec = std::move(b).build().instantiate();
    exec.launch(stream);
    stream.synchronize();
    exec.update(first, cudag::arg<0>(y)); // which it writes from now on, and says so
    exec.launch(stream);
    stream.synchronize();
    exec.update(first, cudag::arg<0>(y.span().subspan(0, 2))); // the other node reads all of it
    exec.launch(stream);
    require_caught(stream, "adds", log_file);
}

/// A loop with a kernel that says nothing and one that says what it writes, and at last writes more.
void write_in_loop(const char* log_file) {
    const cudag::DeviceBuffer<int> x(4), y(4);
    const cudag::Stream stream;
    cudag::check(cudaMemset(y.data(), 1, sizeof(int) * 4)); // what changes is seen
    cudag::check(cudaDeviceSynchronize());
    cudag::GraphBuilder b;
    const auto fill = b.memset(x, 1); // what no node says anything of is not watched
    const cudag::Condition again = b.condition(1);
    cudag::KernelNode<int*, const int*, int, int> adds;
    b.while_(again, [&](cudag::GraphBuilder& body) {
         const auto silent = body.kernel({.block = 4}, multiply_add, x.data(), y.data(), 4, 1);
         adds = body.kernel({.block = 4}, multiply_add, x, y, 4, 1).label("adds").after(silent);
         body.kernel({}, set_condition, again, 0U).after(adds);
     }).after(fill);
    cudag::Exec exec = std::move(b).build().instantiate();
    exec.launch(stream);
    stream.synchronize();
    exec.update(adds, cudag::arg<0>(x.span().subspan(0, 2)));
    exec.launch(stream);
    require_caught(stream, "adds", log_file);
}

/// A kernel that declares all that it does to memory, whose arguments do not, and at last writes more.
void say_whole(const char* log_file) {
    const cudag::DeviceBuffer<int> x(4), y(4);
    const cudag::Stream stream;
    cudag::check(cudaMemset(y.data(), 1, sizeof(int) * 4)); // what changes is seen
    cudag::check(cudaDeviceSynchronize());
    for (const std::size_t written : {4U, 2U}) {
        cudag::GraphBuilder b;
        const auto fill = b.memset(x, 1);
        b.kernel({.block = 4}, multiply_add, x.data(), y.data(), 4, 1)
            .label("adds")
            .reads(y)
            .writes(x.span().subspan(0, written))
            .after(fill);
        cudag::Exec exec = std::move(b).build().instantiate();
        exec.launch(stream);
        if (written == 4)
            stream.synchronize();
        else
            require_caught(stream, "adds", log_file);
    }
}

/// A kernel that says what it does to the memory that it reads, and nothing of that which it writes.
void say_half(const char* log_file) {
    const cudag::DeviceBuffer<int> x(4), y(4);
    const cudag::Stream stream;
    cudag::check(cudaMemset(y.data(), 1, sizeof(int) * 4)); // what changes is seen
    cudag::check(cudaDeviceSynchronize());
    cudag::GraphBuilder b;
    const auto fill = b.memset(x, 1); // what no node says anything of is not watched
    b.kernel({.block = 4}, multiply_add, x.data(), y, 4, 1).label("adds").after(fill);
    cudag::Exec exec = std::move(b).build().instantiate();
    exec.launch(stream);
    stream.synchronize();
    std::remove(log_file);
}

} // namespace

/// How a node comes to say something else: see the functions above.
int main(int argc, char** argv) {
    const std::string how = argc == 2 ? argv[1] : "";
    const std::string log_file = "watched_writes_" + std::to_string(getpid()) + ".log"; // many may run at a time
    ::setenv("CUDA_LOG_FILE", log_file.c_str(), 1);
    if (how == "update")
        update_nodes(log_file.c_str());
    else if (how == "less" || how == "more")
        launch_by_cache(how == "less", log_file.c_str());
    else if (how == "updated")
        update_graph_of_cache(log_file.c_str());
    else if (how == "nothing")
        say_nothing_in_cache(log_file.c_str());
    else if (how == "races")
        update_where_races_are_allowed(log_file.c_str());
    else if (how == "half")
        say_half(log_file.c_str());
    else if (how == "loop")
        write_in_loop(log_file.c_str());
    else if (how == "whole")
        say_whole(log_file.c_str());
    else
        require(false, "usage: watched_writes update | less | more | updated | nothing | races | half | loop | whole");
}
