// GraphedFunction: replays that are verified by another capture.
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "graphed.hpp"

using cudag::CaptureError;
using cudag::check;
using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::FrozenValueError;
using cudag::GraphedFunction;
using cudag::GraphedFunctionOptions;
using cudag::launch;
using cudag::Stream;

namespace {

/// cell = the sum of the input + `by`
struct SumAndMore {
    DeviceBuffer<int> cell{2};
    int by = 1;
    int calls = 0;
    bool waits = false;
    bool throws = false;

    auto function() {
        return [this](cudaStream_t s, DeviceSpan<const int> in) {
            ++calls;
            launch(s, {}, sum, cell.data(), in);
            launch(s, {}, add, cell.data(), cell.data(), by);
            if (waits) check(cudaStreamSynchronize(s));
            if (throws) throw std::out_of_range("half-way");
            return cell.span().subspan(0, 1);
        };
    }
};

} // namespace

TEST_CASE("a graphed function names a value that changed since its capture", "[capture][verify]") {
    const Stream stream;
    const bool bind = GENERATE(false, true);
    SumAndMore work;
    GraphedFunction f(work.function(), {.warm_up_runs = 0, .bind_inputs = bind, .verify = 1});
    const auto first = device({1, 2}), second = device({3, 4});
    CHECK(read(stream, f.forward(stream, first)) == std::vector{4});
    CHECK(read(stream, f.forward(stream, second)) == std::vector{8});
    work.by = 5;
    for (int i = 0; i < 2; ++i) {
        const auto error = refused<FrozenValueError>([&] { f.forward(stream, first); });
        CHECK_THAT(error.what(), ContainsSubstring("cudag: GraphedFunction at ") &&
                                     ContainsSubstring(": forward, replay 2: the function, captured again, records") &&
                                     ContainsSubstring("or call reset() after a change") &&
                                     ContainsSubstring("\n  kernel \"forward(2)\" (add) at ") &&
                                     ContainsSubstring(": argument 2: 1 -> 5"));
        CHECK(error.differences().size() == 1);
        CHECK(error.labels() == Labels{"forward(2)"});
        CHECK(read(stream, work.cell.span()).front() == 8); // nothing was launched
    }
    CHECK(f.replays() == 2);
    CHECK(f.captures() == 1);
    work.by = 1;
    CHECK(read(stream, f.forward(stream, first)) == std::vector{4});
    work.by = 5;
    f.reset();
    CHECK(read(stream, f.forward(stream, first)) == std::vector{8});
    CHECK(read(stream, f.forward(stream, second)) == std::vector{12});
}

TEST_CASE("every n-th replay of a shape calls the graphed function", "[capture][verify]") {
    const Stream stream;
    SumAndMore work;
    GraphedFunction f(work.function(), {.warm_up_runs = 1, .capacity = 2, .verify = 3});
    const auto pair = device({1, 2}), one = device({5});
    std::vector<unsigned> verified;
    for (unsigned i = 0; i < 8; ++i) { // a capture, seven replays
        const int before = work.calls;
        f.forward(stream, pair);
        if (work.calls != before) verified.push_back(i);
        if (i % 2 == 0) f.forward(stream, one); // a capture, three replays
    }
    CHECK(verified == std::vector{0U, 3U, 6U});
    CHECK(work.calls == 4 + 3);
    CHECK(f.captures() == 2);
    stream.synchronize();
}

TEST_CASE("without .verify no replay calls the graphed function", "[capture][verify]") {
    const Stream stream;
    SumAndMore work;
    GraphedFunction f(work.function(), {.warm_up_runs = 0});
    const auto in = device({1, 2});
    for (work.by = 1; work.by < 5; ++work.by)
        f.forward(stream, in);
    CHECK(work.calls == 1);
    CHECK(read(stream, work.cell.span()).front() == 4);
}

TEST_CASE("inputs, bound or copied, and own memory are no frozen values", "[capture][verify]") {
    const Stream stream;
    const bool bind = GENERATE(false, true);
    CAPTURE(bind);
    cudag::GraphedFunctionOptions options{.bind_inputs = bind, .verify = 1};
    options.capture.mode = cudag::CaptureMode::relaxed; // it allocates memory
    DeviceBuffer<int> result(1);
    GraphedFunction f(
        [&](cudaStream_t s, DeviceSpan<const int> a, DeviceSpan<int> b, DeviceSpan<const int> none) {
            CHECK(none.empty());
            auto own = std::make_shared<DeviceBuffer<int>>(8);
            int* memory = nullptr;
            check(cudaMallocAsync(reinterpret_cast<void**>(&memory), 64, s));
            launch(s, {}, sum, own->data() + 3, a);
            launch(s, {}, add, memory + 1, own->data() + 3, 1);
            cudag::memcpy_async(s, b.subspan(0, 1), a.subspan(1, 1));
            launch(s, {}, add, result.data(), memory + 1, 1);
            check(cudaFreeAsync(memory, s));
            return own;
        },
        options);
    const DeviceBuffer<int>* output = nullptr;
    for (int i = 0; i < 4; ++i) {
        const auto a = device({i, 2}), b = device({i});
        const DeviceBuffer<int>* const own = f.forward(stream, a, b, DeviceSpan<const int>()).get();
        CHECK((output == nullptr || own == output)); // that of the graph, not of a verification
        output = own;
        CHECK(read(stream, result.span()) == std::vector{i + 4});
        const std::vector host{i, 3};
        f.forward(stream, host, b, DeviceSpan<const int>()); // copied in any case
        CHECK(read(stream, result.span()) == std::vector{i + 5});
    }
    CHECK(f.captures() == 1);
    CHECK(f.replays() == 8);
}

TEST_CASE("a graphed function that can no longer be captured is an error of its own", "[capture][verify]") {
    const Stream stream;
    SumAndMore work;
    GraphedFunction f(work.function(), {.warm_up_runs = 0, .verify = 1});
    const auto in = device({1, 2});
    f.forward(stream, in);
    work.waits = true;
    CHECK_THAT(refused<CaptureError>([&] { f.forward(stream, in); }).what(),
               ContainsSubstring("forward, replay 1: the function could not be captured again for its verification") &&
                   ContainsSubstring("cudaErrorStreamCapture"));
    work.waits = false;
    work.throws = true;
    CHECK_THROWS_AS(f.forward(stream, in), std::out_of_range);
    work.throws = false;
    work.by = 2;
    static_cast<void>(refused<FrozenValueError>([&] { f.forward(stream, in); }));
    work.by = 1;
    CHECK(read(stream, f.forward(stream, in)) == std::vector{4});
    CHECK(f.replays() == 2);
}

TEST_CASE("a graphed function that records nothing any more has lost its nodes", "[capture][verify]") {
    const Stream stream;
    DeviceBuffer<int> cell(1);
    bool works = true;
    GraphedFunction f(
        [&](cudaStream_t s, DeviceSpan<const int> in) {
            if (works) launch(s, {}, sum, cell.data(), in);
        },
        {.warm_up_runs = 0, .verify = 1});
    const auto in = device({1, 2});
    f.forward(stream, in);
    works = false;
    CHECK_THAT(refused<FrozenValueError>([&] { f.forward(stream, in); }).what(),
               ContainsSubstring("node: there -> missing"));
    works = true;
    f.forward(stream, in);
    CHECK(read(stream, cell.span()) == std::vector{3});
}
