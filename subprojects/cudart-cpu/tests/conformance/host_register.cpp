// Memory of the program's own that is pinned by cudaHostRegister.
#include "handles.hpp"
#include "memory.hpp"

#include <cstdlib>
#include <memory>
#include <vector>

namespace {

constexpr std::size_t page = 4096;

struct Free {
    void operator()(int* memory) const { std::free(memory); }
};

std::unique_ptr<int[], Free> pages(std::size_t count) {
    return std::unique_ptr<int[], Free>(static_cast<int*>(std::aligned_alloc(page, count * page)));
}

cudaPointerAttributes attributes_of(const void* pointer) {
    cudaPointerAttributes attributes{};
    REQUIRE_CUDA(cudaPointerGetAttributes(&attributes, pointer));
    return attributes;
}

} // namespace

TEST_CASE("registered memory is host memory until it is unregistered", "[host-register]") {
    const auto memory = pages(2);
    REQUIRE(attributes_of(memory.get()).type == cudaMemoryTypeUnregistered);
    REQUIRE_CUDA(cudaHostRegister(memory.get(), 2 * page, cudaHostRegisterDefault));
    REQUIRE(attributes_of(memory.get()).type == cudaMemoryTypeHost);
    REQUIRE(attributes_of(memory.get() + 1030).type == cudaMemoryTypeHost);
    void* device = nullptr;
    REQUIRE_CUDA(cudaHostGetDevicePointer(&device, memory.get(), 0));
    REQUIRE(device == memory.get());
    REQUIRE_CUDA(cudaHostUnregister(memory.get()));
    REQUIRE(attributes_of(memory.get()).type == cudaMemoryTypeUnregistered);
}

TEST_CASE("copies from registered memory are asynchronous, and right", "[host-register]") {
    const auto memory = pages(1);
    REQUIRE_CUDA(cudaHostRegister(memory.get(), page, cudaHostRegisterPortable | cudaHostRegisterMapped));
    DeviceInts device(4);
    Stream stream;
    for (int i = 0; i < 4; ++i)
        memory[static_cast<std::size_t>(i)] = i + 1;
    REQUIRE_CUDA(cudaMemcpyAsync(device.data(), memory.get(), device.size_bytes(), cudaMemcpyHostToDevice, stream));
    stream.synchronize();
    REQUIRE(device.read() == std::vector{1, 2, 3, 4});
    REQUIRE_CUDA(cudaHostUnregister(memory.get()));
}

TEST_CASE("memory is registered once", "[host-register]") {
    const auto memory = pages(2);
    REQUIRE_CUDA(cudaHostRegister(memory.get(), 2 * page, 0));
    REQUIRE_CUDA_ERROR(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(memory.get(), 2 * page, 0));
    REQUIRE_CUDA_ERROR(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(memory.get(), page, 0));
    REQUIRE_CUDA_ERROR(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(memory.get() + 1024, page, 0));
    REQUIRE_CUDA(cudaHostUnregister(memory.get()));
    REQUIRE_CUDA(cudaHostRegister(memory.get() + 1024, page, 0));
    REQUIRE_CUDA_ERROR(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(memory.get(), 2 * page, 0));
    REQUIRE_CUDA(cudaHostUnregister(memory.get() + 1024));
}

TEST_CASE("only the start of registered memory is unregistered", "[host-register]") {
    const auto memory = pages(2);
    REQUIRE_CUDA_ERROR(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(memory.get()));
    REQUIRE_CUDA(cudaHostRegister(memory.get(), 2 * page, 0));
    REQUIRE_CUDA(cudaHostUnregister(memory.get()));
    REQUIRE_CUDA_ERROR(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(memory.get()));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaHostUnregister(nullptr));
}

TEST_CASE("the middle of registered memory is no start of it", "[host-register]") {
    const auto memory = pages(2);
    REQUIRE_CUDA(cudaHostRegister(memory.get(), 2 * page, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaHostUnregister(memory.get() + 1024));
    REQUIRE_CUDA(cudaHostUnregister(memory.get()));
}

TEST_CASE("what cannot be registered is refused", "[host-register]") {
    const auto memory = pages(1);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaHostRegister(nullptr, page, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaHostRegister(memory.get(), 0, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaHostRegister(memory.get(), page, 0x100));
    REQUIRE(attributes_of(memory.get()).type == cudaMemoryTypeUnregistered);
}

TEST_CASE("CUDA's own memory is not registered", "[host-register]") {
    PinnedInts pinned(1024);
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaHostRegister(pinned.data(), page, 0));
}

TEST_CASE("registered memory is not freed by CUDA", "[host-register]") {
    const auto memory = pages(1);
    REQUIRE_CUDA(cudaHostRegister(memory.get(), page, 0));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaFreeHost(memory.get()));
    REQUIRE_CUDA(cudaHostUnregister(memory.get()));
}

TEST_CASE("flags of registered memory can be asked for", "[host-register]") {
    const auto memory = pages(1);
    REQUIRE_CUDA(cudaHostRegister(memory.get(), page, cudaHostRegisterPortable));
    unsigned flags = 0;
    REQUIRE_CUDA(cudaHostGetFlags(&flags, memory.get()));
    REQUIRE((flags & cudaHostRegisterPortable) != 0);
    REQUIRE_CUDA(cudaHostUnregister(memory.get()));
}
