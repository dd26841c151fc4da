// docs/nodes.md: nodes of each kind.
#include "kernels.hpp"
#include "pages.hpp"

#include <cudag/cudag.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

namespace pages {
namespace {

/// Launches what `b` has, and waits.
void run(cudag::GraphBuilder&& b) {
    cudag::Stream stream;
    std::move(b).build().instantiate().launch(stream);
    stream.synchronize();
}

void kernels() {
    const int n = 1000;
    cudag::DeviceBuffer<float> x(n);
    cudag::GraphBuilder b;
    // kernels begins
    auto whole = b.kernel(cudag::grid_1d(n, 256), scale, n, 2.0f, x); // 4 blocks of 256 threads
    auto part = b.kernel({.grid = 1, .block = 100, .priority = -1}, scale, 100, 3.0f, x.span().subspan(0, 100))
                    .label("part")
                    .after(whole);
    // kernels ends
    // function begins
    cudaFunction_t found; // from cuModuleGetFunction, a Library, or here from the program itself
    cudag::check(cudaGetFuncBySymbol(&found, reinterpret_cast<const void*>(scale)));
    const cudag::Function function(found);
    auto by_size = b.kernel(cudag::grid_1d(n, 256), function, n, 2.0f, x).after(part); // checked when it is added
    auto by_type = b.kernel(cudag::grid_1d(n, 256), function.typed<int, float, float*>(), n, 2.0f, x).after(by_size);
    int count = n;
    float factor = 2.0f;
    float* data = x.data();
    std::array<void*, 3> values{&count, &factor, &data}; // for launches generated at run time
    b.kernel(cudag::grid_1d(n, 256), function, cudag::PackedArguments(values)).after(by_type);
    // function ends
    run(std::move(b));
}

void copies() {
    // copies begins
    cudag::DeviceBuffer<float> image(64 * 48), tile(16 * 16), row(64);
    cudag::PinnedBuffer<float> host(64 * 48);
    std::vector<float> pageable(64);
    const cudag::DeviceSpan2D<float> pixels(image, 64, 48);

    cudag::GraphBuilder b;
    auto up = b.memcpy(image, host);                                   // sizes must be equal
    auto first = b.memcpy(row, image.span().subspan(0, 64)).after(up); // a part
    auto corner = b.memcpy2d(cudag::DeviceSpan2D<float>(tile, 16, 16), pixels.subspan(48, 32, 16, 16)).after(up);
    b.memcpy(pageable, row).after(first); // read or written anew by each launch
    // copies ends
    static_cast<void>(corner);
    for (float& value : host)
        value = 7;
    run(std::move(b));
    expect(pageable[63], 7, "a copied value");
}

void fills() {
    // fills begins
    cudag::DeviceBuffer<float> x(1000), image(64 * 48);
    cudag::GraphBuilder b;
    b.memset(x, 1.5f);                                                                          // elements, not bytes
    auto all = b.clear(image);                                                                  // bytes of 0
    b.memset2d(cudag::DeviceSpan2D<float>(image, 16, 48, 64 * sizeof(float)), 2.0f).after(all); // the 16 left columns
    // fills ends
    run(std::move(b));
}

void others() {
    cudag::Stream stream;
    // others begins
    cudag::DeviceBuffer<float> x(1000);
    cudag::PinnedBuffer<float> host(1000);
    cudag::Event ready, done;
    float last = 0;

    cudag::GraphBuilder b;
    auto arrived = b.wait(ready); // the record before the launch
    auto filled = b.memset(x, 4.0f).after(arrived);
    auto down = b.memcpy(host, x).after(filled);
    auto all = b.join(filled, down); // a barrier
    auto looked = b.host([&] { last = host[999]; }).reads(host).after(all);
    b.record(done).after(looked); // recorded anew by each launch
    // others ends
    ready.record(stream);
    std::move(b).build().instantiate().launch(stream);
    done.synchronize();
    stream.synchronize();
    expect(last, 4, "the value seen by the host");
}

void values() {
    cudag::DeviceBuffer<float> x(1000);
    cudag::PinnedBuffer<unsigned> flags(2); // for the graph, and by the graph
    cudag::Stream stream;
    flags.data()[0] = flags.data()[1] = 0;
    // values begins
    cudag::GraphBuilder b;
    auto ready = b.wait_value(flags.data(), 5u, cudag::Compare::equal);
    auto filled = b.memset(x, 4.0f).after(ready);
    auto told = b.write_value(flags.data() + 1, 1u).after(filled);
    cudag::Exec exec = std::move(b).build().instantiate();
    exec.launch(stream);
    std::atomic_ref(flags.data()[0]).store(5); // lets the launch go on
    stream.synchronize();                      // flags.data()[1] is 1
    exec.update(told, flags.data() + 1, 2u);   // the next launch writes 2
    // values ends
    expect(static_cast<float>(flags.data()[1]), 1, "the value written by the graph");
}

void natives() {
    cudag::DeviceBuffer<float> x(1000);
    // natives begins
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeMemset;
    params.memset.dst = x.data();
    params.memset.elementSize = sizeof(float);
    params.memset.width = 1000;
    params.memset.height = 1;

    cudag::GraphBuilder b;
    auto cleared = b.native(params).label("by CUDA's parameters");
    b.kernel(cudag::grid_1d(1000, 256), scale, 1000, 2.0f, x).after(cleared);
    // natives ends
    run(std::move(b));
}

} // namespace

void kinds() {
    kernels();
    copies();
    fills();
    others();
    values();
    natives();
}

} // namespace pages
