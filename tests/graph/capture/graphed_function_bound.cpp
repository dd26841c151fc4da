// GraphedFunction: inputs that replays read where they are.
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "bind_kernels.hpp"
#include "cuda_version.hpp"
#include "graphed.hpp"
#include "opaque.hpp"

using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::GraphedFunction;
using cudag::launch;
using cudag::Stream;

namespace {

const cudag::GraphedFunctionOptions bound{.bind_inputs = true};

/// Tells where its input is, and sums it.
class Watch {
  public:
    auto function() {
        return [this](cudaStream_t stream, DeviceSpan<const int> in) {
            launch(stream, {}, write_address, place_.data(), in.data());
            launch(stream, {}, sum, sum_.data(), in);
        };
    }
    [[nodiscard]] const int* place(const Stream& stream) const {
        return reinterpret_cast<const int*>(read(stream, place_.span()).front()); // NOLINT: an address of the device
    }
    [[nodiscard]] int result(const Stream& stream) const { return read(stream, sum_.span()).front(); }

  private:
    DeviceBuffer<std::uint64_t> place_{1};
    DeviceBuffer<int> sum_{1};
};

} // namespace

TEST_CASE("a graphed function reads bound inputs where they are", "[capture][graphed][bind]") {
    const Stream stream;
    Watch watch;
    GraphedFunction f(watch.function(), bound);
    const std::array buffers{device({1, 2}), device({3, 4}), device({5, 6})};
    for (const std::size_t i : {0U, 1U, 2U, 2U, 0U}) {
        f.forward(stream, buffers[i]);
        CHECK(watch.place(stream) == buffers[i].data());
        CHECK(watch.result(stream) == total(read(buffers[i])));
    }
    CHECK(f.copied_inputs() == 0);
    CHECK(f.captures() == 1);
    CHECK(f.replays() == 5);
}

TEST_CASE("a graphed function copies its inputs unless told otherwise", "[capture][graphed][bind]") {
    const Stream stream;
    Watch watch;
    GraphedFunction f(watch.function());
    const auto input = device({1, 2});
    f.forward(stream, input);
    f.forward(stream, input);
    CHECK(watch.place(stream) != input.data());
    CHECK(f.copied_inputs() == 2);
}

TEST_CASE("inputs of a graphed function that cannot be bound are copied, in turn with others",
          "[capture][graphed][bind]") {
    const Stream stream;
    Watch watch;
    GraphedFunction f(watch.function(), bound);
    const std::vector host{7, 8};
    const auto good = device({1, 2});
    const auto longer = device({9, 10, 11});
    const auto unaligned = longer.span().subspan(1, 2);
    f.forward(stream, good);
    CHECK(f.copied_inputs() == 0);
    f.forward(stream, host);
    CHECK(watch.result(stream) == 15);
    const int* const static_input = watch.place(stream);
    CHECK(static_input != good.data());
    f.forward(stream, unaligned);
    CHECK(watch.place(stream) == static_input);
    CHECK(watch.result(stream) == 21);
    CHECK(f.copied_inputs() == 2);
    const cudag::PinnedBuffer<int> pinned(2);
    pinned[0] = pinned[1] = 30;
    f.forward(stream, pinned);
    CHECK(watch.place(stream) == static_input);
    CHECK(watch.result(stream) == 60);
    CHECK(f.copied_inputs() == 3);
    f.forward(stream, good);
    CHECK(watch.place(stream) == good.data());
    CHECK(watch.result(stream) == 3);
    f.forward(stream, DeviceSpan<const int>(static_input, 2)); // in place already
    CHECK(watch.place(stream) == static_input);
    CHECK(watch.result(stream) == 60);
    CHECK(f.copied_inputs() == 3);
}

TEST_CASE("inputs that a graphed function may write to are copied", "[capture][graphed][bind]") {
    const Stream stream;
    GraphedFunction f(
        [](cudaStream_t s, DeviceSpan<int> cell, DeviceSpan<const int> plus) {
            launch(s, {}, add, cell.data(), plus.data(), 1);
            return cell;
        },
        bound);
    const auto cell = device({10});
    const auto plus = device({20});
    for (int i = 0; i < 2; ++i)
        CHECK(read(stream, f.forward(stream, cell, plus)) == std::vector{21});
    CHECK(read(cell) == std::vector{10});
    CHECK(f.copied_inputs() == 2);
    REQUIRE(f.last_copied().size() == 1);
    CHECK(f.last_copied()[0].input == 0);
    CHECK_THAT(f.last_copied()[0].reason, StartsWith("the function may write to it: "));
}

TEST_CASE("what a graphed function writes to may be its next input, and is copied", "[capture][graphed][bind]") {
    const Stream stream;
    const DeviceBuffer<int> workspace(256);
    GraphedFunction f(
        [&](cudaStream_t s, DeviceSpan<const int> in) {
            int* const out = workspace.data() + 64; // as aligned as an allocation
            launch(s, {}, store, workspace.data(), 100);
            launch(s, {}, store, out, 1000);
            launch(s, {}, add, workspace.data(), in.data(), 1);
            launch(s, {}, add, out, workspace.data(), 10);
            return DeviceSpan<const int>(out, 1);
        },
        bound);
    const auto first = device({0});
    const auto once = f.forward(stream, first);
    CHECK(read(stream, once) == std::vector{11});
    CHECK(f.copied_inputs() == 0);
    CHECK(read(stream, f.forward(stream, once)) == std::vector{22});
    CHECK(read(stream, f.forward(stream, once)) == std::vector{33});
    CHECK(f.copied_inputs() == 2);
    // in the same allocation as what the graph uses, though no node names that place
    write(workspace.span().subspan(128, 1), {5});
    CHECK(read(stream, f.forward(stream, workspace.span().subspan(128, 1))) == std::vector{16});
    CHECK(f.copied_inputs() == 3);
}

TEST_CASE("memory that a graphed function allocates may be its next input, and is copied",
          "[capture][graphed][bind][memory]") {
    const Stream stream;
    cudag::GraphedFunctionOptions options = bound;
    options.instantiate.auto_free_on_launch = true;
    GraphedFunction f(
        [](cudaStream_t s, DeviceSpan<const int> in) {
            void* memory = nullptr;
            cudag::check(cudaMallocAsync(&memory, sizeof(int), s));
            launch(s, {}, store, static_cast<int*>(memory), 100);
            launch(s, {}, add, static_cast<int*>(memory), in.data(), 1);
            return DeviceSpan<const int>(static_cast<int*>(memory), 1);
        },
        options);
    const auto first = device({0});
    const auto once = f.forward(stream, first);
    CHECK(read(stream, once) == std::vector{1});
    CHECK(f.copied_inputs() == 0);
    CHECK(read(stream, f.forward(stream, once)) == std::vector{2});
    CHECK(f.copied_inputs() == 1);
}

TEST_CASE("inputs of a graphed function are bound apart, also to the same memory", "[capture][graphed][bind]") {
    const Stream stream;
    const DeviceBuffer<int> out(2);
    GraphedFunction f(
        [&](cudaStream_t s, DeviceSpan<const int> a, DeviceSpan<const int> b) {
            launch(s, {}, sum, out.data(), a);
            launch(s, {}, sum, out.data() + 1, b);
        },
        bound);
    const auto x = device({1, 2});
    const auto y = device({3, 4});
    const auto sums = [&](const auto& a, const auto& b) {
        f.forward(stream, a, b);
        return read(stream, out.span());
    };
    CHECK(sums(x, y) == std::vector{3, 7});
    CHECK(sums(y, x) == std::vector{7, 3});
    CHECK(sums(y, y) == std::vector{7, 7});
    CHECK(sums(x, std::vector{5, 6}) == std::vector{3, 11});
    CHECK(sums(std::vector{5, 7}, x) == std::vector{12, 3});
    CHECK(f.copied_inputs() == 2);
}

TEST_CASE("an input that a graphed function copies in two dimensions is copied", "[capture][graphed][bind]") {
    const Stream stream;
    const DeviceBuffer<int> out(4);
    GraphedFunction f(
        [&](cudaStream_t s, DeviceSpan<const int> in) {
            cudag::check(cudaMemcpy2DAsync(out.data(), 2 * sizeof(int), in.data(), 4 * sizeof(int), 2 * sizeof(int), 2,
                                           cudaMemcpyDeviceToDevice, s));
        },
        bound);
    const auto x = device({1, 2, 3, 4, 5, 6, 7, 8});
    const auto y = device({8, 7, 6, 5, 4, 3, 2, 1});
    f.forward(stream, x);
    CHECK(read(stream, out.span()) == std::vector{1, 2, 5, 6});
    f.forward(stream, y);
    CHECK(read(stream, out.span()) == std::vector{8, 7, 4, 3});
    CHECK(f.copied_inputs() == 2);
}

TEST_CASE("each shape of a graphed function binds its own inputs, and an empty one none", "[capture][graphed][bind]") {
    const Stream stream;
    Watch watch;
    cudag::GraphedFunctionOptions options = bound;
    options.capacity = 3;
    GraphedFunction f(watch.function(), options);
    const auto two = device({1, 2});
    const auto three = device({1, 2, 3});
    const DeviceSpan<const int> none;
    for (int i = 0; i < 2; ++i) {
        f.forward(stream, two);
        CHECK(watch.place(stream) == two.data());
        f.forward(stream, three);
        CHECK(watch.place(stream) == three.data());
        f.forward(stream, none);
        CHECK(watch.result(stream) == 0);
    }
    CHECK(f.captures() == 3);
    CHECK(f.copied_inputs() == 0);
}

TEST_CASE("a bound input is read by the replay that it was given to, whatever is bound since",
          "[capture][graphed][bind]") {
    const Stream stream;
    const DeviceBuffer<int> sums(1);
    GraphedFunction f([&](cudaStream_t s, DeviceSpan<const int> in) { launch(s, {}, sum, sums.data(), in); }, bound);
    const auto x = device({1, 2});
    const auto y = device({3, 4});
    f.forward(stream, x);
    stream.synchronize();
    Gate gate;
    hold_up(stream.get(), gate);
    f.forward(stream, x);
    const DeviceBuffer<int> after_x(1);
    cudag::memcpy_async(stream, after_x, sums);
    f.forward(stream, y);
    gate.open();
    CHECK(read(stream, after_x.span()) == std::vector{3});
    CHECK(read(stream, sums.span()) == std::vector{7});
    CHECK(f.copied_inputs() == 0);
}

TEST_CASE("an input that a graphed function copies is bound to memory of pools only", "[capture][graphed][bind]") {
    const Stream stream;
    const DeviceBuffer<int> out(2);
    GraphedFunction f(
        [&](cudaStream_t s, DeviceSpan<const int> copied, DeviceSpan<const int> read_only) {
            cudag::memcpy_async(s, out.span().subspan(0, 1), copied);
            launch(s, {}, add, out.data() + 1, read_only.data(), 0);
        },
        bound);
    cudag::CapturePool pool;
    const auto pooled = pool.allocate<int>(1);
    write(pooled.span(), {1});
    const auto plain = device({2});
    const auto other = device({3});
    f.forward(stream, pooled, other);
    CHECK(read(stream, out.span()) == std::vector{1, 3});
    CHECK(f.copied_inputs() == 0);
    CHECK(f.last_copied().empty());
    f.forward(stream, plain, plain);
    CHECK(read(stream, out.span()) == std::vector{2, 2});
    CHECK(f.copied_inputs() == 1);
    REQUIRE(f.last_copied().size() == 1);
    CHECK(f.last_copied()[0].input == 0);
    const std::string refusal = f.last_copied()[0].reason;
    CHECK_THAT(refusal, StartsWith("cudag: "));
    f.forward(stream, other, plain);
    CHECK(read(stream, out.span()) == std::vector{3, 2});
    CHECK(f.copied_inputs() == 2);
    f.forward(stream, pooled, other); // which it could bind: it is not tried again
    CHECK(read(stream, out.span()) == std::vector{1, 3});
    CHECK(f.copied_inputs() == 3);
    CHECK(f.last_copied() == std::vector{cudag::CopiedInput{0, refusal}});
}

TEST_CASE("an input whose address stands in an object of a graphed function's kernel is bound",
          "[capture][graphed][bind]") {
    const Stream stream;
    const DeviceBuffer<int> out(1);
    GraphedFunction f(
        [&](cudaStream_t s, DeviceSpan<const int> in) {
            launch(s, {}, load_from, Input{7, in.data()}, out.data());
        },
        bound);
    const auto x = device({1});
    const auto y = device({2});
    for (const auto* input : {&x, &y, &x}) {
        f.forward(stream, *input);
        CHECK(read(stream, out.span()) == read(*input));
    }
    CHECK(f.last_copied().empty());
    CHECK(f.copied_inputs() == 0);
}

TEST_CASE("a bound input that is taken as [begin, end) ends where it ends", "[capture][graphed][bind]") {
    const Stream stream;
    const DeviceBuffer<int> out(1), x(64), y(64);
    GraphedFunction f(
        [&](cudaStream_t s, DeviceSpan<const int> a, DeviceSpan<const int> b) {
            launch(s, {}, count_range, a.data(), a.data() + a.size(), out.data());
            launch(s, {}, add, out.data(), out.data(), 0);
            static_cast<void>(b);
        },
        bound);
    for (const auto* input : {&x, &y, &x}) {
        f.forward(stream, *input, y);
        CHECK(read(stream, out.span()) == std::vector{64});
    }
    REQUIRE(f.last_copied().size() == 1);
    CHECK(f.last_copied()[0] == cudag::CopiedInput{1, "no node has its address"});
}

TEST_CASE("a graphed function with a node that cudag does not know copies its inputs, and says why",
          "[capture][graphed][bind]") {
    if (reads_conditionals()) return; // then it is known
    const Stream stream;
    const auto out = device({0, 0});
    GraphedFunction f(
        [&](cudaStream_t s, DeviceSpan<const int> in) {
            launch(s, {}, add, out.data(), in.data(), 0);
            enqueue_conditional(s, out.data() + 1, 2);
        },
        bound);
    const auto one = device({1});
    for (int i = 0; i < 2; ++i)
        f.forward(stream, one);
    CHECK(read(stream, out.span()).front() == 1);
    CHECK(f.copied_inputs() == 2);
    REQUIRE(f.last_copied().size() == 1);
    CHECK_THAT(f.last_copied()[0].reason,
               ContainsSubstring("conditional") && ContainsSubstring("cudag did not make this node"));
}

TEST_CASE("a graphed function tells which inputs it has copied, and why", "[capture][graphed][bind]") {
    const Stream stream;
    Watch watch;
    GraphedFunction f(watch.function(), bound);
    CHECK(f.last_copied().empty());
    const auto input = device({1, 2});
    f.forward(stream, input);
    CHECK(f.last_copied().empty());
    f.forward(stream, numbers_of_two);
    CHECK(f.last_copied() == std::vector{cudag::CopiedInput{0, "it is host memory"}});
    f.forward(stream, input);
    CHECK(f.last_copied().empty());
}
