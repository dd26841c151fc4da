// Random lives of releasable pools: allocations, launches, releases and restorations, against plain C++.
#include <cudag/capture_pool.hpp>

#include <array>
#include <cstdint>
#include <list>
#include <random>
#include <utility>

#include "test.hpp"

using cudag::CapturePool;
using cudag::DeviceBuffer;
using cudag::Error;
using cudag::Exec;
using cudag::GraphBuilder;
using cudag::KeptContents;
using cudag::Stream;

namespace {

/// A buffer, its expected contents, and an Exec that stores into it.
struct Stored {
    DeviceBuffer<int> cell;
    int expected;
    Exec exec;
    cudag::KernelNode<int*, int> node;
};

class Life {
  public:
    explicit Life(unsigned seed) : random_(seed) {}

    void run(int operations) {
        for (int i = 0; i < operations; ++i)
            operate(static_cast<unsigned>(random_() % 10));
        for (CapturePool& pool : pools_)
            pool.restore();
        check_contents();
    }

  private:
    void operate(unsigned choice) {
        const unsigned number = random_() % 2;
        CapturePool& pool = pools_[number];
        std::list<Stored>& all = stored_[number];
        if (choice < 3) return add(pool, all);
        if (choice == 3) {
            if (!all.empty()) all.erase(any(all));
        } else if (choice == 4) {
            pool.release({.contents = random_() % 2 == 0 ? KeptContents::all : KeptContents::buffers});
            CHECK(pool.is_released());
        } else if (choice == 5) {
            pool.restore();
            check_contents();
        } else if (!all.empty()) {
            launch(pool, *any(all));
        }
    }

    [[nodiscard]] std::list<Stored>::iterator any(std::list<Stored>& all) {
        return std::next(all.begin(), static_cast<std::ptrdiff_t>(random_() % all.size()));
    }

    void add(CapturePool& pool, std::list<Stored>& all) {
        const std::size_t size = random_() % 8 == 0 ? (std::size_t{1} << 20U) : 1 + random_() % 1000;
        if (pool.is_released()) {
            CHECK_THROWS_AS(pool.allocate<int>(size), cudag::CaptureError);
            return;
        }
        DeviceBuffer<int> cell = pool.allocate<int>(size);
        GraphBuilder b;
        const auto node = random_() % 2 == 0 ? b.kernel({}, store, cell, 0) : b.kernel({}, store, cell.data(), 0);
        Exec exec = std::move(b).build().instantiate();
        exec.launch(stream_);
        all.push_back({std::move(cell), 0, std::move(exec), node});
    }

    void launch(const CapturePool& pool, Stored& stored) {
        const int value = static_cast<int>(random_() % 1000);
        stored.exec.update(stored.node, cudag::arg<1>(value));
        if (pool.is_released()) {
            CHECK_THROWS_AS(stored.exec.launch(stream_), Error);
            return;
        }
        stored.exec.launch(stream_);
        stored.expected = value;
    }

    void check_contents() const {
        stream_.synchronize();
        for (std::size_t i = 0; i < pools_.size(); ++i) {
            if (pools_[i].is_released()) continue;
            for (const Stored& stored : stored_[i])
                CHECK(read(stored.cell.span().first(1)) == std::vector{stored.expected});
        }
    }

    std::mt19937 random_;
    Stream stream_;
    std::array<CapturePool, 2> pools_{CapturePool("first", {.releasable = true}),
                                      CapturePool("second", {.releasable = true})};
    std::array<std::list<Stored>, 2> stored_;
};

} // namespace

TEST_CASE("contents survive random releases, and launches of released memory are refused", "[memory][release]") {
    const unsigned seed = GENERATE(range(1U, 9U));
    CAPTURE(seed);
    Life(seed).run(60);
}
