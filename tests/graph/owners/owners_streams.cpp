// Which launches keep a graph's owners: those in any stream, also in one that has gone, or by others.
#include <memory>
#include <optional>
#include <utility>

#include "gate.hpp"
#include "watched.hpp"

using cudag::check;
using cudag::DeviceBuffer;
using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::Stream;

namespace {

/// One of CUDA's, of which cudag does not know whether it still exists.
class PlainStream {
  public:
    PlainStream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
    ~PlainStream() { destroy(); }
    PlainStream(const PlainStream&) = delete;
    PlainStream& operator=(const PlainStream&) = delete;

    [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }
    void destroy() noexcept {
        if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(std::exchange(stream_, nullptr)));
    }

  private:
    cudaStream_t stream_ = nullptr;
};

/// Stores 7 in `cell` once the gate is open.
Graph held_up(Gate& gate, Watched& cell) {
    GraphBuilder b;
    const auto wait = b.host(gate.node());
    b.kernel({}, store, cell.take(), 7).after(wait);
    return std::move(b).build();
}

} // namespace

TEST_CASE("a launch in any stream keeps the owners when Graph, Exec and the stream are gone", "[owners][stream]") {
    const int way = GENERATE(0, 1, 2, 3, 4);
    CAPTURE(way);
    Watched cell;
    const Stream stream;
    PlainStream plain;
    std::optional<Stream> short_lived(std::in_place);
    Gate gate;
    {
        Exec exec = held_up(gate, cell).instantiate();
        switch (way) {
        case 0:
            exec.launch(plain.get());
            break;
        case 1:
            exec.launch(cudaStreamPerThread);
            break;
        case 2:
            exec.launch(plain.get());
            gate.wait_until_entered();
            plain.destroy();
            break;
        case 3:
            check(cudaGraphLaunch(exec.native(), plain.get()));
            break;
        case 4:
            exec.launch(*short_lived);
            gate.wait_until_entered();
            short_lived.reset();
            break;
        }
        gate.wait_until_entered();
    }
    CHECK(cell.alive());
    stream.synchronize();
    CHECK(cell.alive());
    gate.open();
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(released(cell, stream));
    CHECK(cell.value() == 7);
}

TEST_CASE("an Exec that changes from stream to stream keeps the owners until its last launch has ended",
          "[owners][stream]") {
    const bool ends_in_plain = GENERATE(false, true);
    Watched cell;
    const Stream stream;
    const PlainStream plain;
    Gate gate;
    {
        Exec exec = held_up(gate, cell).instantiate();
        exec.launch(ends_in_plain ? cudag::StreamRef(stream) : cudag::StreamRef(plain.get()));
        exec.launch(ends_in_plain ? cudag::StreamRef(plain.get()) : cudag::StreamRef(stream));
        gate.wait_until_entered();
    }
    CHECK(cell.alive());
    gate.open();
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(released(cell, stream));
    CHECK(cell.value() == 7);
}

TEST_CASE("the Exec of a captured graph keeps what captured work was given", "[owners][capture]") {
    Watched launched, retained;
    const Stream stream;
    const PlainStream plain;
    {
        const Stream captured;
        const Graph graph = cudag::capture(captured, [&](cudag::StreamCapture& capture) {
            cudag::launch(capture.stream(), {}, store, launched.take(), 8);
            capture.retain(retained.take());
        });
        Exec exec = graph.clone().instantiate();
        exec.launch(plain.get());
        CHECK(launched.alive());
        CHECK(retained.alive());
    }
    check(cudaStreamSynchronize(plain.get()));
    CHECK(released(launched, stream));
    CHECK(released(retained, stream));
    CHECK(launched.value() == 8);
}

TEST_CASE("a capture that fails keeps nothing that its work was given", "[owners][capture]") {
    Watched cell;
    const Stream stream;
    struct Failed {};
    const auto fail = [&] {
        static_cast<void>(cudag::capture(stream, [&](cudaStream_t captured) {
            cudag::launch(captured, {}, store, cell.take(), 8);
            CHECK(cell.alive());
            throw Failed();
        }));
    };
    CHECK_THROWS_AS(fail(), Failed);
    CHECK_FALSE(cell.alive());
}
