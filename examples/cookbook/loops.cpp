// docs/cookbook.md: recipes for decisions on the device, and for kernels that the compiler does not know.
#include "cookbook.hpp"

#include <utility>

#ifdef CUDART_CPU
#include <cudart_cpu/device.hpp>
#include <cudart_cpu/kernel.hpp>
#endif

namespace cookbook {
namespace {

void solver() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    // solver begins
    cudag::GraphBuilder b;
    auto guess = b.memset(x, 100.0f);
    cudag::Condition again = b.condition(1); // 1 at the start of each launch
    b.while_(again, [&](cudag::GraphBuilder& body) {
         auto step = body.kernel(config, newton, n, 2.0f, x);
         body.kernel({}, settle, 2.0f, x, again).after(step); // sets `again` to 0 when x[0] is good enough
     }).after(guess);
    cudag::Exec exec = std::move(b).build().instantiate();
    exec.launch(stream);
    stream.synchronize(); // x = sqrt(2), without a wait per iteration
    // solver ends
    expect(x, 1.414213f);
}

void branch() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    // branch begins
    cudag::GraphBuilder b;
    auto start = b.memset(x, 8.0f);
    cudag::Condition large = b.condition(0);
    auto decide = b.kernel({}, compare, 5.0f, x, large).after(start); // large = x[0] > 5
    b.if_(
         large, [&](cudag::GraphBuilder& then) { then.kernel(config, scale, n, 0.5f, x); },
         [&](cudag::GraphBuilder& otherwise) { otherwise.kernel(config, scale, n, 2.0f, x); })
        .after(decide);
    cudag::Exec exec = std::move(b).build().instantiate();
    exec.launch(stream);
    stream.synchronize(); // x = 8 / 2
    // branch ends
    expect(x, 4);
}

void chosen() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    // chosen begins
    cudag::DeviceScalar<unsigned> wanted(0U);
    cudag::GraphBuilder b;
    auto ones = b.memset(x, 1.0f);
    cudag::Condition choice = b.condition();
    auto set = b.set(choice, wanted); // reads `wanted` when it runs
    b.switch_(choice, {[&](cudag::GraphBuilder& body) { body.kernel(config, scale, n, 2.0f, x); },
                       [&](cudag::GraphBuilder& body) { body.kernel(config, scale, n, 3.0f, x); }})
        .after(set, ones);
    cudag::Exec exec = std::move(b).build().instantiate();
    wanted.set(1U, stream); // no update of the Exec
    exec.launch(stream);
    stream.synchronize(); // x = 3
    // chosen ends
    expect(x, 3);
}

void repeated() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    // repeated begins
    cudag::GraphBuilder b;
    auto ones = b.memset(x, 1.0f);
    b.repeat(10, [&](cudag::GraphBuilder& body) { body.kernel(config, scale, n, 2.0f, x); }).after(ones);
    cudag::Graph graph = std::move(b).build(); // two nodes, whatever the number
    cudag::Exec exec = graph.instantiate();
    exec.launch(stream);
    stream.synchronize(); // x = 2^10
    // repeated ends
    expect(x, 1024);
}

void resized() {
    cudag::Stream stream;
    cudag::DeviceBuffer<float> x(n);
    // resized begins
    cudag::DeviceScalar<int> count(n); // usually written by an earlier kernel
    cudag::GraphBuilder b;
    auto ones = b.memset(x, 1.0f);
    auto work = b.kernel({.grid = 4, .block = 256, .device_updatable = true}, scale, n, 2.0f, x);
    auto change = b.kernel({}, resize, work.on_device(), count).after(ones); // set_argument, set_grid
    work.after(change);
    cudag::Exec exec = std::move(b).build().instantiate();
    count.set(10, stream);
    exec.launch(stream);
    stream.synchronize(); // the first ten of x are 2, the others 1
    // resized ends
    expect(x.span().first(10), 2);
    expect(x.span().subspan(10), 1);
}

/// `fill(int* cells, int value)`, one cell per block, as NVRTC or nvcc --ptx could have compiled it.
const char* const ptx = R"(
.version 8.0
.target sm_52
.address_size 64
.visible .entry fill(.param .u64 cells, .param .u32 value)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [cells];
    ld.param.u32 %r1, [value];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r2, %ctaid.x;
    mul.wide.u32 %rd3, %r2, 4;
    add.s64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r1;
    ret;
}
)";

#ifdef CUDART_CPU
void fill(int* cells, int value) {
    cells[blockIdx.x] = value;
}
#endif

void library() {
#ifdef CUDART_CPU
    cudart_cpu::register_library_kernel("fill", fill); // in place of the PTX, on the CPU runtime
#endif
    cudag::Stream stream;
    cudag::DeviceScalar<int> cell(0);
    // library begins
    const cudag::Library compiled = cudag::Library::from_ptx(ptx); // or from_image, from_file("kernels.cubin")
    const cudag::Function function = compiled.function("fill");    // the graph keeps the library loaded
    cudag::GraphBuilder b;
    auto first = b.kernel({}, function, cell, 1);                                  // checked by size, at run time
    auto second = b.kernel({}, function.typed<int*, int>(), cell, 2).after(first); // checked by type, by the compiler
    cudag::Exec exec = std::move(b).build().instantiate();
    exec.update(second, cudag::arg<1>(42));
    exec.launch(stream);
    const int value = cell.get(stream); // 42
    // library ends
    expect(value == 42, "the kernel of the library did something else");
}

} // namespace

std::vector<Recipe> loop_recipes() {
    return {{"Stop a solver on the device", solver},
            {"Choose a branch on the device", branch, 12080},
            {"Choose a branch by a number from the host", chosen, 12080},
            {"Repeat a part a fixed number of times", repeated, 12080},
            {"Let a kernel size a later kernel", resized},
            {"Use kernels from NVRTC or a cubin", library, 12080}};
}

} // namespace cookbook
