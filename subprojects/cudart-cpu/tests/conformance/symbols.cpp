// Device variables: their addresses and sizes, copies to and from them in streams.
#include "symbols.hpp"

#include "gate.hpp"
#include "nodes.hpp"

#include <vector>

namespace {

std::vector<int> read_variable() {
    std::vector<int> values(variable_count, poison);
    REQUIRE_CUDA(cudaMemcpyFromSymbol(values.data(), variable_symbol(), variable_count * sizeof(int), 0,
                                      cudaMemcpyDeviceToHost));
    return values;
}

void number(int first) {
    Call call(number_variable, first);
    call.launch(nullptr);
    REQUIRE_CUDA(cudaDeviceSynchronize());
}

} // namespace

TEST_CASE("a symbol has an address on the device and a size", "[symbols]") {
    void* address = nullptr;
    REQUIRE_CUDA(cudaGetSymbolAddress(&address, variable_symbol()));
    cudaPointerAttributes attributes{};
    REQUIRE_CUDA(cudaPointerGetAttributes(&attributes, address));
    REQUIRE(attributes.type == cudaMemoryTypeDevice);
    std::size_t size = 0;
    REQUIRE_CUDA(cudaGetSymbolSize(&size, variable_symbol()));
    REQUIRE(size == variable_count * sizeof(int));
    REQUIRE_CUDA(cudaGetSymbolSize(&size, factors_symbol()));
    REQUIRE(size == factor_count * sizeof(int));

    number(3);
    int third = 0;
    REQUIRE_CUDA(cudaMemcpy(&third, static_cast<int*>(address) + 2, sizeof(int), cudaMemcpyDeviceToHost));
    REQUIRE(third == 5);
}

TEST_CASE("what is no device variable is no symbol", "[symbols]") {
    int on_stack = 0;
    auto address = untouched<void*>();
    std::size_t size = 99;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&address, &on_stack));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidSymbol, cudaGetSymbolSize(&size, &on_stack));
    REQUIRE(address == untouched<void*>());
    REQUIRE(size == 99);
}

TEST_CASE("a kernel sees what was copied to symbols", "[symbols]") {
    const std::vector<int> values{1, 2, 3, 4, 5, 6, 7, 8};
    const std::vector<int> ten{10, 20};
    REQUIRE_CUDA(cudaMemcpyToSymbol(variable_symbol(), values.data(), 32, 0, cudaMemcpyHostToDevice));
    REQUIRE_CUDA(cudaMemcpyToSymbol(factors_symbol(), ten.data(), 8, 0, cudaMemcpyDefault));
    Call scale(scale_variable);
    scale.launch(nullptr);
    REQUIRE(read_variable() == std::vector{10, 20, 30, 40, 50, 60, 70, 80});
}

TEST_CASE("a copy to or from a symbol begins at its offset", "[symbols]") {
    number(0);
    const std::vector<int> values{7, 9};
    REQUIRE_CUDA(cudaMemcpyToSymbol(variable_symbol(), values.data(), 8, 12, cudaMemcpyHostToDevice));
    std::vector<int> back(3, poison);
    REQUIRE_CUDA(cudaMemcpyFromSymbol(back.data(), variable_symbol(), 8, 16, cudaMemcpyDeviceToHost));
    REQUIRE(back == std::vector{9, 5, poison});
    REQUIRE(read_variable() == std::vector{0, 1, 2, 7, 9, 5, 6, 7});
}

TEST_CASE("device memory is copied to and from symbols", "[symbols]") {
    number(0);
    DeviceInts device(2);
    device.write({70, 80});
    REQUIRE_CUDA(cudaMemcpyToSymbol(variable_symbol(), device.data(), 8, 0, cudaMemcpyDeviceToDevice));
    REQUIRE_CUDA(cudaMemcpyFromSymbol(device.data(), variable_symbol(), 8, 4, cudaMemcpyDefault));
    REQUIRE_CUDA(cudaDeviceSynchronize());
    REQUIRE(device.read() == std::vector{80, 2});
}

TEST_CASE("a copy to a symbol has a kind that leads to the device, one from a symbol a kind that leads from it",
          "[symbols]") {
    int host = 0;
    for (const cudaMemcpyKind kind : {cudaMemcpyHostToHost, cudaMemcpyDeviceToHost, static_cast<cudaMemcpyKind>(7)}) {
        REQUIRE_CUDA_ERROR(cudaErrorInvalidMemcpyDirection, cudaMemcpyToSymbol(variable_symbol(), &host, 4, 0, kind));
    }
    for (const cudaMemcpyKind kind : {cudaMemcpyHostToHost, cudaMemcpyHostToDevice, static_cast<cudaMemcpyKind>(7)}) {
        REQUIRE_CUDA_ERROR(cudaErrorInvalidMemcpyDirection, cudaMemcpyFromSymbol(&host, variable_symbol(), 4, 0, kind));
    }
}

TEST_CASE("a copy beyond the end of a symbol is refused", "[symbols]") {
    number(0);
    std::vector<int> host(9, poison);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaMemcpyToSymbol(variable_symbol(), host.data(), 36, 0, cudaMemcpyHostToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaMemcpyToSymbol(variable_symbol(), host.data(), 4, 32, cudaMemcpyHostToDevice));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue,
                       cudaMemcpyFromSymbol(host.data(), variable_symbol(), 8, 28, cudaMemcpyDeviceToHost));
    REQUIRE(read_variable() == std::vector{0, 1, 2, 3, 4, 5, 6, 7});
    REQUIRE(host == std::vector<int>(9, poison));
}

TEST_CASE("asynchronous copies to and from symbols run in their stream", "[symbols]") {
    number(0);
    // The first use of a symbol looks it up, and could wait for a stream that the gate holds up.
    void* address = nullptr;
    REQUIRE_CUDA(cudaGetSymbolAddress(&address, variable_symbol()));
    Stream stream(cudaStreamNonBlocking);
    PinnedInts pinned(2);
    PinnedInts back(2);
    pinned[0] = 5;
    pinned[1] = 6;
    Gate gate;
    gate.block(stream);
    REQUIRE_CUDA(cudaMemcpyToSymbolAsync(variable_symbol(), pinned.data(), 8, 4, cudaMemcpyHostToDevice, stream));
    REQUIRE_CUDA(cudaMemcpyFromSymbolAsync(back.data(), variable_symbol(), 8, 8, cudaMemcpyDeviceToHost, stream));
    REQUIRE(back.read() == std::vector{poison, poison});
    gate.open();
    stream.synchronize();
    REQUIRE(back.read() == std::vector{6, 3});
    REQUIRE_CUDA_ERROR(cudaErrorInvalidMemcpyDirection,
                       cudaMemcpyToSymbolAsync(variable_symbol(), pinned.data(), 8, 4, cudaMemcpyDeviceToHost, stream));
}
