// Texture and surface objects, as the host sees them.
#include "arrays.hpp"
#include "memory.hpp"

namespace {

const cudaChannelFormatDesc floats{32, 0, 0, 0, cudaChannelFormatKindFloat};

cudaResourceDesc of_array(cudaArray_t array) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

cudaResourceDesc of_linear(void* data, std::size_t bytes) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = data;
    resource.res.linear.desc = floats;
    resource.res.linear.sizeInBytes = bytes;
    return resource;
}

cudaResourceDesc of_rows(void* data, std::size_t pitch, std::size_t width, std::size_t height) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = data;
    resource.res.pitch2D.desc = floats;
    resource.res.pitch2D.width = width;
    resource.res.pitch2D.height = height;
    resource.res.pitch2D.pitchInBytes = pitch;
    return resource;
}

class FloatArray {
  public:
    explicit FloatArray(unsigned flags = 0, std::size_t depth = 0) {
        REQUIRE_CUDA(cudaMalloc3DArray(&array_, &floats, make_cudaExtent(8, 4, depth), flags));
    }
    ~FloatArray() { CHECK(cudaFreeArray(array_) == cudaSuccess); }
    FloatArray(const FloatArray&) = delete;
    FloatArray& operator=(const FloatArray&) = delete;

    operator cudaArray_t() const { return array_; }

  private:
    cudaArray_t array_ = nullptr;
};

/// Makes it and destroys it.
void make(const cudaResourceDesc& resource, const cudaTextureDesc& sampling = {},
          const cudaResourceViewDesc* view = nullptr) {
    cudaTextureObject_t texture = 0;
    REQUIRE_CUDA(cudaCreateTextureObject(&texture, &resource, &sampling, view));
    REQUIRE(texture != 0);
    REQUIRE_CUDA(cudaDestroyTextureObject(texture));
}

void refuse(cudaError_t code, const cudaResourceDesc& resource, const cudaTextureDesc& sampling = {},
            const cudaResourceViewDesc* view = nullptr) {
    cudaTextureObject_t texture = 77;
    REQUIRE_CUDA_ERROR(code, cudaCreateTextureObject(&texture, &resource, &sampling, view));
    REQUIRE(texture == 77);
}

cudaResourceViewDesc view_of_floats() {
    cudaResourceViewDesc view{};
    view.format = cudaResViewFormatFloat1;
    view.width = 8;
    view.height = 4;
    return view;
}

} // namespace

TEST_CASE("a texture object says how it was made", "[textures]") {
    const FloatArray array;
    const cudaResourceDesc resource = of_array(array);
    cudaTextureDesc sampling{};
    sampling.addressMode[0] = cudaAddressModeClamp;
    sampling.addressMode[1] = cudaAddressModeBorder;
    sampling.filterMode = cudaFilterModeLinear;
    sampling.normalizedCoords = 1;
    const cudaResourceViewDesc view = view_of_floats();
    cudaTextureObject_t texture = 0;
    REQUIRE_CUDA(cudaCreateTextureObject(&texture, &resource, &sampling, &view));

    cudaResourceDesc told_resource{};
    REQUIRE_CUDA(cudaGetTextureObjectResourceDesc(&told_resource, texture));
    REQUIRE(told_resource.resType == cudaResourceTypeArray);
    REQUIRE(told_resource.res.array.array == resource.res.array.array);
    cudaTextureDesc told_sampling{};
    REQUIRE_CUDA(cudaGetTextureObjectTextureDesc(&told_sampling, texture));
    REQUIRE(told_sampling.addressMode[0] == cudaAddressModeClamp);
    REQUIRE(told_sampling.addressMode[1] == cudaAddressModeBorder);
    REQUIRE(told_sampling.filterMode == cudaFilterModeLinear);
    REQUIRE(told_sampling.normalizedCoords == 1);
    cudaResourceViewDesc told_view{};
    REQUIRE_CUDA(cudaGetTextureObjectResourceViewDesc(&told_view, texture));
    REQUIRE(told_view.format == cudaResViewFormatFloat1);
    REQUIRE(told_view.width == 8);
    REQUIRE_CUDA(cudaDestroyTextureObject(texture));
}

TEST_CASE("textures are of arrays, of memory and of rows in memory", "[textures]") {
    const FloatArray array;
    make(of_array(array));
    DeviceInts memory(4096);
    make(of_linear(memory.data(), memory.size_bytes()));
    make(of_rows(memory.data(), 512, 100, 4));
}

TEST_CASE("a mipmapped array has a texture, also without normalized coordinates", "[textures]") {
    cudaMipmappedArray_t array = nullptr;
    REQUIRE_CUDA(cudaMallocMipmappedArray(&array, &floats, make_cudaExtent(8, 8, 0), 3, 0));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeMipmappedArray;
    resource.res.mipmap.mipmap = array;
    cudaTextureDesc sampling{};
    make(resource, sampling);
    sampling.normalizedCoords = 1;
    sampling.maxMipmapLevelClamp = 2;
    make(resource, sampling);
    REQUIRE_CUDA(cudaFreeMipmappedArray(array));
}

TEST_CASE("integers are filtered only as floats", "[textures]") {
    const IntArray array(8, 4);
    cudaTextureDesc sampling{};
    make(of_array(array), sampling);
    sampling.filterMode = cudaFilterModeLinear;
    refuse(cudaErrorInvalidFilterSetting, of_array(array), sampling);

    const cudaChannelFormatDesc bytes{8, 0, 0, 0, cudaChannelFormatKindUnsigned};
    cudaArray_t of_bytes = nullptr;
    REQUIRE_CUDA(cudaMallocArray(&of_bytes, &bytes, 8, 4, 0));
    refuse(cudaErrorInvalidFilterSetting, of_array(of_bytes), sampling);
    sampling.readMode = cudaReadModeNormalizedFloat;
    make(of_array(of_bytes), sampling);
    REQUIRE_CUDA(cudaFreeArray(of_bytes));
}

TEST_CASE("a texture needs all that describes it", "[textures]") {
    const FloatArray array;
    const cudaResourceDesc resource = of_array(array);
    const cudaTextureDesc sampling{};
    cudaTextureObject_t texture = 77;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaCreateTextureObject(nullptr, &resource, &sampling, nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaCreateTextureObject(&texture, nullptr, &sampling, nullptr));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidResourceHandle, cudaCreateTextureObject(&texture, &resource, nullptr, nullptr));
    REQUIRE(texture == 77);
}

TEST_CASE("there is no texture of no array", "[textures]") {
    refuse(cudaErrorInvalidResourceHandle, of_array(nullptr));
}

TEST_CASE("memory of a texture is aligned, and may be none", "[textures]") {
    DeviceInts memory(4096);
    refuse(cudaErrorInvalidValue, of_linear(memory.data() + 1, 1024));
    make(of_linear(memory.data(), 0));
}

TEST_CASE("a texture of memory may be given a view", "[textures]") {
    DeviceInts memory(4096);
    const cudaResourceViewDesc view = view_of_floats();
    make(of_linear(memory.data(), 1024), {}, &view);
}

TEST_CASE("a view that is not of its array is refused", "[textures]") {
    const FloatArray array;
    const auto refuse_view = [&](auto&& change) {
        cudaResourceViewDesc view = view_of_floats();
        change(view);
        refuse(cudaErrorInvalidValue, of_array(array), {}, &view);
    };
    refuse_view([](cudaResourceViewDesc& view) { view.width = 9; });
    refuse_view([](cudaResourceViewDesc& view) { view.height = 0; });
    refuse_view([](cudaResourceViewDesc& view) { view.lastMipmapLevel = 1; });
    refuse_view([](cudaResourceViewDesc& view) { view.lastLayer = 1; });
    refuse_view([](cudaResourceViewDesc& view) { view.format = cudaResViewFormatFloat4; });
}

TEST_CASE("a texture without a view may be asked for it", "[textures]") {
    const FloatArray array;
    const cudaResourceDesc resource = of_array(array);
    const cudaTextureDesc sampling{};
    cudaTextureObject_t texture = 0;
    cudaResourceViewDesc view{};
    REQUIRE_CUDA(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
    REQUIRE_CUDA(cudaGetTextureObjectResourceViewDesc(&view, texture));
    REQUIRE_CUDA(cudaDestroyTextureObject(texture));
}

TEST_CASE("a texture object that is none tells nothing", "[textures]") {
    const cudaTextureObject_t unknown = 0x7FFF'0000'0000'0001;
    cudaResourceDesc resource{};
    cudaTextureDesc sampling{};
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGetTextureObjectResourceDesc(&resource, unknown));
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaGetTextureObjectTextureDesc(&sampling, unknown));
}

TEST_CASE("a surface object says of which array it is", "[surfaces]") {
    const FloatArray array(cudaArraySurfaceLoadStore);
    const cudaResourceDesc resource = of_array(array);
    cudaSurfaceObject_t surface = 0;
    REQUIRE_CUDA(cudaCreateSurfaceObject(&surface, &resource));
    REQUIRE(surface != 0);
    cudaResourceDesc told{};
    REQUIRE_CUDA(cudaGetSurfaceObjectResourceDesc(&told, surface));
    REQUIRE(told.resType == cudaResourceTypeArray);
    REQUIRE(told.res.array.array == resource.res.array.array);
    REQUIRE_CUDA(cudaDestroySurfaceObject(surface));
}

TEST_CASE("a surface may be of an array without cudaArraySurfaceLoadStore", "[surfaces]") {
    const FloatArray array;
    const cudaResourceDesc resource = of_array(array);
    cudaSurfaceObject_t surface = 0;
    REQUIRE_CUDA(cudaCreateSurfaceObject(&surface, &resource));
    REQUIRE_CUDA(cudaDestroySurfaceObject(surface));
}

TEST_CASE("a surface is not of memory", "[surfaces]") {
    DeviceInts memory(1024);
    const cudaResourceDesc linear = of_linear(memory.data(), 1024);
    cudaSurfaceObject_t surface = 77;
    REQUIRE_CUDA_ERROR(cudaErrorInvalidValue, cudaCreateSurfaceObject(&surface, &linear));
}
