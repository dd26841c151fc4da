// A graph with every kind of node, whose result one line of C++ tells.
#pragma once

#include "kernels.hpp"

#include <cudag/cudag.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

/// out[i] = in[i] * factor + fill, uploaded, computed and downloaded by a graph that owns its device memory.
class Pipeline {
  public:
    static constexpr int size = 16;
    static constexpr int factor = 3;
    static constexpr int fill = 7;

    Pipeline() : in(size), out(size) { std::iota(in.begin(), in.end(), 1); }

    /// Adds the nodes to `builder`, and sets the handles.
    void write(cudag::GraphBuilder& builder) {
        cudag::DeviceBuffer<int> x(size);
        cudag::DeviceBuffer<int> y(size);
        x_ = x.span();
        y_ = y.span();
        upload = builder.memcpy(x, in).label("upload");
        set = builder.memset(y, fill).label("set");
        const cudag::JoinNode ready = builder.join(upload, set);
        kernel =
            builder.kernel(cudag::grid_1d(size, 8), multiply_add, x, y, size, factor).label("multiply").after(ready);
        count = builder.host([this] { ++runs; }).label("count").after(kernel);
        download = builder.memcpy(out, x).label("download").after(kernel);
    }

    cudag::Graph build() {
        cudag::GraphBuilder builder;
        write(builder);
        return std::move(builder).build();
    }

    /// The result of one more launch.
    std::vector<int> run(cudag::Exec& exec) {
        std::fill(out.begin(), out.end(), -1);
        exec.launch(stream);
        stream.synchronize();
        return out;
    }

    std::vector<int> expected(int by = factor, int plus = fill) const {
        std::vector<int> result(in);
        for (int& value : result)
            value = value * by + plus;
        return result;
    }

    /// The memory that the kernel works on, and what it adds; the graph's own.
    cudag::DeviceSpan<int> kernel_x() const { return x_; }
    cudag::DeviceSpan<int> kernel_y() const { return y_; }

    std::vector<int> in;
    std::vector<int> out;
    int runs = 0; ///< how often the graph ran, as its host node counts
    cudag::Stream stream;

    cudag::MemcpyNode upload;
    cudag::MemsetNode set;
    cudag::KernelNode<int*, const int*, int, int> kernel;
    cudag::HostNode count;
    cudag::MemcpyNode download;

  private:
    cudag::DeviceSpan<int> x_;
    cudag::DeviceSpan<int> y_;
};
