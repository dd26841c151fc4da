// What errors, races and differences say of captured nodes.
#include <fmt/format.h>

#include "cuda_version.hpp"
#include "test.hpp"

using cudag::capture;
using cudag::CaptureError;
using cudag::check;
using cudag::Event;
using cudag::Graph;
using cudag::launch;
using cudag::Stream;
using cudag::StreamCapture;

namespace {

Graph captured_call(const Stream& stream, const cudag::DeviceBuffer<int>& cells, int value, bool by_cudag) {
    return capture(stream, [&](cudaStream_t s) {
        int* to = cells.data();
        if (by_cudag) return launch(s, {}, store, to, value);
        void* arguments[] = {&to, &value};
        check(cudaLaunchKernel(reinterpret_cast<const void*>(&store), dim3(1), dim3(1), arguments, 0, s));
    });
}

} // namespace

TEST_CASE("a difference of captured kernels prints numbers as their type", "[capture][words]") {
    const Stream stream;
    const auto cells = device({0});
    const bool by_cudag = GENERATE(true, false);
    const auto differences =
        diff(captured_call(stream, cells, 128, by_cudag), captured_call(stream, cells, -7, by_cudag));
    REQUIRE(differences.size() == 1);
    CHECK(differences[0].field == "argument 1");
    CHECK(differences[0].old_value == "128");
    CHECK(differences[0].new_value == "-7");
}

TEST_CASE("a difference of every kind of number is printed as its type", "[capture][words]") {
    const Stream stream;
    const cudag::DeviceBuffer<Numbers> out(1);
    const auto graph = [&](double by) {
        return capture(stream, [&](cudaStream_t s) {
            Numbers* to = out.data();
            auto i8 = static_cast<signed char>(-by);
            auto u8 = static_cast<unsigned char>(by);
            auto i16 = static_cast<short>(-by);
            auto u16 = static_cast<unsigned short>(by);
            auto i32 = static_cast<int>(-by);
            auto u32 = static_cast<unsigned>(by);
            auto i64 = static_cast<long long>(-by);
            auto u64 = static_cast<unsigned long long>(by);
            auto f32 = static_cast<float>(by + 0.5);
            auto f64 = -by - 0.25;
            void* arguments[] = {&to, &i8, &u8, &i16, &u16, &i32, &u32, &i64, &u64, &f32, &f64};
            check(cudaLaunchKernel(reinterpret_cast<const void*>(&write_numbers), dim3(1), dim3(1), arguments, 0, s));
        });
    };
    std::vector<std::string> texts;
    for (const cudag::Difference& difference : diff(graph(1), graph(2)))
        texts.push_back(difference.old_value + " " + difference.new_value);
    CHECK(texts == std::vector<std::string>{"-1 -2", "1 2", "-1 -2", "1 2", "-1 -2", "1 2", "-1 -2", "1 2", "1.5 2.5",
                                            "-1.25 -2.25"});
}

TEST_CASE("a difference of objects is printed as bytes, which are no number", "[capture][words]") {
    const Stream stream;
    const cudag::DeviceBuffer<Objects> out(1);
    const Point point{1, 2, 'a'}; // one object: what stands in its padding is compared, too
    const auto graph = [&](Colour colour) {
        return capture(stream, [&](cudaStream_t s) { launch(s, {}, write_objects, out.data(), point, colour, true); });
    };
    const auto differences = diff(graph(Colour::red), graph(Colour::green));
    REQUIRE(differences.size() == 1);
    CHECK(differences[0].old_value == "bytes 03");
    CHECK(differences[0].new_value == "bytes 07");
}

TEST_CASE("captured kernels of one step are told apart by their names", "[capture][words]") {
    const Stream stream;
    const auto cells = device({0, 0});
    unsigned line = 0;
    Graph graph = capture(stream, [&](StreamCapture& c) {
        line = __LINE__ + 1;
        c.step("frame", [&](cudaStream_t s) {
            launch(s, {}, store, cells.data(), 1);
            launch(s, {}, add, cells.data() + 1, cells.data(), 2);
        });
    });
    const auto place = "captured_words.cpp:" + std::to_string(line);
    CHECK_THAT(to_string(graph.nodes()[0]),
               Catch::Matchers::StartsWith("kernel \"frame\" (store) at ") && ContainsSubstring(place));
    CHECK_THAT(to_string(graph.nodes()[1]),
               Catch::Matchers::StartsWith("kernel \"frame\" (add) at ") && ContainsSubstring(place));
    const auto error =
        refused<cudag::UpdateError>([&] { graph.update(graph.nodes()[0], cudag::LaunchConfig{.block = 4096}); });
    CHECK_THAT(error.what(), ContainsSubstring("\"frame\" (store) at "));
}

TEST_CASE("a race of captured kernels names them", "[capture][words]") {
    const Stream stream;
    const Stream side;
    const auto cells = device({0});
    const Graph graph = capture(stream, [&](StreamCapture& c) {
        c.step("frame", [&] {
            c.fork(side);
            launch(stream, {}, sum, cells, cells.span());
            launch(side, {}, sum, cells, cells.span());
            c.join(side);
        });
    });
    const auto races = graph.races();
    REQUIRE(races.size() == 1);
    CHECK_THAT(to_string(races[0]), ContainsSubstring("kernel \"frame\" (sum) at "));
}

TEST_CASE("a fork that is not joined is told by its step, its stream and its work", "[capture][words]") {
    const Stream stream;
    const Stream side;
    const auto cells = device({0});
    const auto error = refused<CaptureError>([&] {
        static_cast<void>(capture(stream, [&](StreamCapture& c) {
            c.step("fan out", [&] {
                launch(stream, {}, nothing);
                c.fork(side);
            });
            c.step("lost", [&] {
                launch(side, {}, store, cells.data(), 1);
                launch(stream, {}, nothing);
            });
        }));
    });
    const std::string handle = fmt::format("stream {}", static_cast<const void*>(side.get()));
    CHECK_THAT(error.what(), ContainsSubstring("is not joined: " + handle + " in step \"fan out\" at ") &&
                                 ContainsSubstring("nothing waits for kernel store in step \"lost\" at "));
}

TEST_CASE("a fork by an event that is never joined is told by the work in it", "[capture][words]") {
    const Stream stream;
    const Stream side;
    const Event event({.timing = false});
    const auto cells = device({0});
    const auto work = [&] {
        launch(stream, {}, nothing);
        check(cudaEventRecord(event.get(), stream.get()));
        check(cudaStreamWaitEvent(side.get(), event.get(), 0));
        launch(side, {}, store, cells.data(), 1);
        cudag::memset_async(side, cells, 1);
        launch(stream, {}, nothing);
    };
    SECTION("in a step") {
        const auto error = refused<CaptureError>(
            [&] { static_cast<void>(capture(stream, [&](StreamCapture& c) { c.step("lost", work); })); });
        CHECK_THAT(error.what(), ContainsSubstring("a stream that an event forked is not joined") &&
                                     ContainsSubstring("nothing waits for kernel store in step \"lost\" at ") &&
                                     ContainsSubstring(", memset in step \"lost\" at "));
    }
    SECTION("without steps") {
        const auto error =
            refused<CaptureError>([&] { static_cast<void>(capture(stream, [&](cudaStream_t) { work(); })); });
        CHECK_THAT(error.what(), ContainsSubstring("a stream that an event forked is not joined; record it in steps"));
    }
}

TEST_CASE("an event that Event::record marked in a capture is told of capture.record", "[capture][words]") {
    const Stream stream;
    Event event;
    const Graph graph = capture(stream, [&](StreamCapture&) {
        launch(stream, {}, nothing);
        event.record(stream);
    });
    CHECK_THAT(refused<cudag::Error>([&] { event.synchronize(); }).what(), ContainsSubstring("capture.record(event)"));
    CHECK_THAT(refused<cudag::Error>([&] { static_cast<void>(event.query()); }).what(),
               ContainsSubstring("capture.record(event)"));
    const StreamCapture running(stream);
    event.record(stream);
    const auto during = refused<CaptureError>([&] { static_cast<void>(event.query()); });
    CHECK(during.code() == cuda_code(cudaErrorCapturedEvent));
    CHECK_THAT(during.what(), ContainsSubstring("capture.record(event)"));
}
