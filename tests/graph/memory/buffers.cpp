// Device and pinned memory.
#include <limits>
#include <utility>

#include "test.hpp"

using cudag::DeviceBuffer;
using cudag::Error;
using cudag::PinnedBuffer;

TEST_CASE("a buffer knows its size in elements and bytes", "[memory]") {
    const DeviceBuffer<double> device_memory(5);
    CHECK(device_memory.size() == 5);
    CHECK(device_memory.size_bytes() == 40);
    CHECK_FALSE(device_memory.empty());
    CHECK(device_memory.data() != nullptr);
    CHECK(device_memory.span().data() == device_memory.data());
    CHECK(device_memory.span().size() == 5);

    const PinnedBuffer<short> pinned(6);
    CHECK(pinned.size() == 6);
    CHECK(pinned.size_bytes() == 12);
    CHECK(pinned.end() - pinned.begin() == 6);
    CHECK(pinned.span().data() == pinned.data());
    CHECK(&pinned[3] == pinned.data() + 3);
}

TEST_CASE("CUDA knows a buffer's memory as what it is", "[memory]") {
    const auto type = [](const void* pointer) {
        cudaPointerAttributes attributes{};
        cudag::check(cudaPointerGetAttributes(&attributes, pointer));
        return attributes.type;
    };
    const DeviceBuffer<int> device_memory(1);
    const PinnedBuffer<int> pinned(1);
    CHECK(type(device_memory.data()) == cudaMemoryTypeDevice);
    CHECK(type(pinned.data()) == cudaMemoryTypeHost);
}

TEST_CASE("a buffer of no elements has no memory", "[memory]") {
    const DeviceBuffer<int> device_memory(0);
    CHECK(device_memory.data() == nullptr);
    CHECK(device_memory.empty());
    CHECK(device_memory.size_bytes() == 0);
    CHECK(device_memory.span().empty());
    const PinnedBuffer<int> pinned(0);
    CHECK(pinned.data() == nullptr);
    CHECK(pinned.begin() == pinned.end());
}

TEST_CASE("a buffer moves, and what it was is empty", "[memory]") {
    auto first = device({1, 2});
    int* const memory = first.data();
    DeviceBuffer<int> second = std::move(first);
    CHECK(second.data() == memory);
    CHECK(second.size() == 2);
    CHECK(first.data() == nullptr);
    CHECK(first.empty());
    first = std::move(second);
    CHECK(first.data() == memory);
    CHECK(second.empty());
    CHECK(read(first) == std::vector{1, 2});
}

TEST_CASE("assigning to a buffer frees what it had", "[memory]") {
    DeviceBuffer<int> buffer(1);
    const std::weak_ptr<void> memory = buffer.owner();
    buffer = DeviceBuffer<int>(2);
    CHECK(memory.expired());
    CHECK(buffer.size() == 2);
}

TEST_CASE("a size that overflows is refused before CUDA is asked", "[memory]") {
    const std::size_t count = std::numeric_limits<std::size_t>::max() / sizeof(double) + 1;
    const auto device_error = refused<Error>([&] { DeviceBuffer<double> buffer(count); });
    CHECK(device_error.code() == cuda_code(cudaErrorMemoryAllocation));
    CHECK(device_error.operation().empty());
    CHECK_THAT(device_error.what(), ContainsSubstring("DeviceBuffer") && ContainsSubstring(std::to_string(count)) &&
                                        ContainsSubstring("overflows"));
    const auto pinned_error = refused<Error>([&] { PinnedBuffer<double> buffer(count); });
    CHECK_THAT(pinned_error.what(), ContainsSubstring("PinnedBuffer") && ContainsSubstring("overflows"));
}

TEST_CASE("memory that the device does not have is refused with CUDA's function", "[memory]") {
    const std::size_t count = std::size_t{1} << 50U;
    const auto error = refused<Error>([&] { DeviceBuffer<char> buffer(count); });
    CHECK(error.code() == cuda_code(cudaErrorMemoryAllocation));
    CHECK(error.operation() == "cudaMalloc");
    CHECK_THAT(error.what(), ContainsSubstring("cudaMalloc") && ContainsSubstring(std::to_string(count)));
    CHECK_NOTHROW(DeviceBuffer<char>(16));
}

TEST_CASE("a DeviceSpan sees a part of a buffer", "[memory]") {
    const auto buffer = device({1, 2, 3, 4});
    const cudag::DeviceSpan<int> part = buffer.span().subspan(1, 2);
    CHECK(part.size_bytes() == 8);
    CHECK(read(part) == std::vector{2, 3});
    const cudag::DeviceSpan<const int> view = part;
    CHECK(view.data() == part.data());
    CHECK(cudag::DeviceSpan<int>().empty());
}
