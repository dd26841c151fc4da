// Textures and surfaces, by their objects: elements, points and lines between them.
#include "kernel_test.hpp"

#include <atomic>
#include <thread>

namespace {

constexpr int width = 8;
constexpr int height = 6;

__global__ void fetch_elements(cudaTextureObject_t texture, int* out, int n) {
    const int i = threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<int>(texture, i);
}

__global__ void fetch_points(cudaTextureObject_t texture, const float2* at, float* out, int n) {
    const int i = threadIdx.x;
    if (i < n) out[i] = tex2D<float>(texture, at[i].x, at[i].y);
}

__global__ void fetch_colors(cudaTextureObject_t texture, float4* out) {
    out[threadIdx.x] = tex2D<float4>(texture, static_cast<float>(threadIdx.x) + 0.5f, 0.5f);
}

__global__ void gather_points(cudaTextureObject_t texture, float4* out) {
    *out = tex2Dgather<float4>(texture, 3.0f, 2.0f, 0);
}

__global__ void invert(cudaSurfaceObject_t surface) {
    const int x = threadIdx.x;
    const int y = threadIdx.y;
    const float value = surf2Dread<float>(surface, x * static_cast<int>(sizeof(float)), y);
    surf2Dwrite(100.0f - value, surface, x * static_cast<int>(sizeof(float)), y);
    surf2Dwrite(-1.0f, surface, (x + width) * static_cast<int>(sizeof(float)), y, cudaBoundaryModeZero); // outside
}

__global__ void fetch_volume(cudaTextureObject_t texture, float* out) {
    const int i = threadIdx.x + 4 * (threadIdx.y + 3 * threadIdx.z);
    out[i] = tex3D<float>(texture, threadIdx.x + 0.5f, threadIdx.y + 0.5f, threadIdx.z + 0.5f);
}

std::vector<float> pixels() {
    std::vector<float> values(width * height);
    for (int i = 0; i < width * height; ++i)
        values[i] = static_cast<float>(i * i % 29);
    return values;
}

class Array {
  public:
    template <class T>
    Array(const std::vector<T>& values, int columns, int rows, unsigned flags = 0) {
        const cudaChannelFormatDesc desc = cudaCreateChannelDesc<T>();
        OK(cudaMallocArray(&array, &desc, columns, rows, flags));
        OK(cudaMemcpy2DToArray(array, 0, 0, values.data(), columns * sizeof(T), columns * sizeof(T), rows,
                               cudaMemcpyHostToDevice));
    }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    ~Array() { cudaFreeArray(array); }

    cudaResourceDesc resource() const {
        cudaResourceDesc resource{};
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array;
        return resource;
    }

    cudaArray_t array = nullptr;
};

cudaTextureObject_t texture_of(const cudaResourceDesc& resource, const cudaTextureDesc& sampling) {
    cudaTextureObject_t texture = 0;
    OK(cudaCreateTextureObject(&texture, &resource, &sampling, nullptr));
    return texture;
}

int clamped(int value, int size) {
    return value < 0 ? 0 : value >= size ? size - 1 : value;
}

std::vector<float> fetched(const Array& array, const cudaTextureDesc& sampling, const std::vector<float2>& places) {
    const cudaTextureObject_t texture = texture_of(array.resource(), sampling);
    const Device<float2> at(places);
    const Device<float> out(places.size());
    fetch_points<<<1, 64>>>(texture, at.get(), out.get(), static_cast<int>(places.size()));
    std::vector<float> values = out.read();
    OK(cudaDestroyTextureObject(texture));
    return values;
}

/// Holds a stream up until it is opened.
class Gate {
  public:
    explicit Gate(cudaStream_t stream) { OK(cudaLaunchHostFunc(stream, &Gate::pass, this)); }
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;
    ~Gate() {
        open();
        cudaDeviceSynchronize();
    }

    void open() { open_ = true; }

  private:
    static void CUDART_CB pass(void* gate) {
        while (!static_cast<Gate*>(gate)->open_)
            std::this_thread::yield();
    }

    std::atomic<bool> open_{false};
};

} // namespace

KERNEL_TEST("elements of linear memory") {
    std::vector<int> values(20);
    for (int i = 0; i < 20; ++i)
        values[i] = 7 * i - 30;
    const Device<int> memory(values);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory.get();
    resource.res.linear.desc = cudaCreateChannelDesc<int>();
    resource.res.linear.sizeInBytes = 20 * sizeof(int);
    const cudaTextureObject_t texture = texture_of(resource, {});
    const Device<int> out(20);
    fetch_elements<<<1, 32>>>(texture, out.get(), 20);
    expect_same(out.read(), values, "elements");
    OK(cudaDestroyTextureObject(texture));
}

KERNEL_TEST("points of an array, clamped or with a border") {
    const std::vector<float> values = pixels();
    const Array array(values, width, height);
    std::vector<float2> places;
    std::vector<float> clamp;
    std::vector<float> border;
    for (int y = -2; y < height + 2; y += 3)
        for (int x = -2; x < width + 2; x += 2) {
            places.push_back(make_float2(x + 0.25f, y + 0.75f));
            clamp.push_back(values[clamped(y, height) * width + clamped(x, width)]);
            border.push_back(x < 0 || y < 0 || x >= width || y >= height ? 0.0f : values[y * width + x]);
        }
    cudaTextureDesc sampling{};
    sampling.addressMode[0] = sampling.addressMode[1] = cudaAddressModeClamp;
    sampling.filterMode = cudaFilterModePoint;
    expect_same(fetched(array, sampling, places), clamp, "clamped");
    sampling.addressMode[0] = sampling.addressMode[1] = cudaAddressModeBorder;
    expect_same(fetched(array, sampling, places), border, "border");
}

KERNEL_TEST("coordinates that are not normalized clamp where they would wrap or mirror") {
    const std::vector<float> values = pixels();
    const Array array(values, width, height);
    const std::vector<float2> places{{-0.5f, 0.5f}, {width + 0.5f, 1.5f}, {2.5f, -3.5f}, {2.5f, height + 4.5f}};
    const std::vector<float> clamp{values[0], values[2 * width - 1], values[2], values[(height - 1) * width + 2]};
    for (const cudaTextureAddressMode mode : {cudaAddressModeWrap, cudaAddressModeMirror})
        for (const cudaTextureFilterMode filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
            cudaTextureDesc sampling{};
            sampling.addressMode[0] = sampling.addressMode[1] = mode;
            sampling.filterMode = filter;
            expect_same(fetched(array, sampling, places), clamp, "both dimensions");
            sampling.addressMode[1] = cudaAddressModeBorder;
            std::vector<float> border = clamp;
            border[2] = border[3] = 0;
            expect_same(fetched(array, sampling, places), border, "the first dimension");
        }
}

KERNEL_TEST("lines between points, and coordinates from 0 to 1") {
    const std::vector<float> values = pixels();
    const Array array(values, width, height);
    std::vector<float2> places;
    std::vector<float> expected;
    for (int i = 0; i < 32; ++i) {
        const float x = 0.5f + static_cast<float>(i % 8) * 0.875f;
        const float y = 0.5f + static_cast<float>(i / 8) * 1.25f;
        places.push_back(make_float2(x, y));
        const int x0 = static_cast<int>(x - 0.5f);
        const int y0 = static_cast<int>(y - 0.5f);
        const float a = x - 0.5f - static_cast<float>(x0);
        const float b = y - 0.5f - static_cast<float>(y0);
        const auto at = [&](int column, int row) {
            return values[clamped(row, height) * width + clamped(column, width)];
        };
        expected.push_back((1 - b) * ((1 - a) * at(x0, y0) + a * at(x0 + 1, y0)) +
                           b * ((1 - a) * at(x0, y0 + 1) + a * at(x0 + 1, y0 + 1)));
    }
    cudaTextureDesc sampling{};
    sampling.addressMode[0] = sampling.addressMode[1] = cudaAddressModeClamp;
    sampling.filterMode = cudaFilterModeLinear;
    expect_near(fetched(array, sampling, places), expected, 1e-6, "between");
    for (float2& place : places)
        place = make_float2(place.x / width + 1, place.y / height);
    sampling.normalizedCoords = 1;
    sampling.addressMode[0] = cudaAddressModeWrap;
    std::vector<float2> inside(places.begin(), places.begin() + 6);
    expected.resize(6);
    expect_near(fetched(array, sampling, inside), expected, 1e-2, "from 0 to 1");
}

KERNEL_TEST("bytes that are read as numbers from 0 to 1") {
    const std::vector<uchar4> colors{{0, 51, 102, 255}, {255, 0, 204, 153}};
    const Array array(colors, 2, 1);
    cudaTextureDesc sampling{};
    sampling.readMode = cudaReadModeNormalizedFloat;
    const cudaTextureObject_t texture = texture_of(array.resource(), sampling);
    const Device<float4> out(2);
    fetch_colors<<<1, 2>>>(texture, out.get());
    const std::vector<float4> got = out.read();
    expect_near<float>({got[0].x, got[0].y, got[0].z, got[0].w, got[1].x, got[1].y, got[1].z, got[1].w},
                       {0, 0.2f, 0.4f, 1, 1, 0, 0.8f, 0.6f}, 1e-6, "colors");
    OK(cudaDestroyTextureObject(texture));
}

KERNEL_TEST("four elements around a point") {
    const std::vector<float> values = pixels();
    const Array array(values, width, height, cudaArrayTextureGather);
    const cudaTextureObject_t texture = texture_of(array.resource(), {});
    const Device<float4> out(1);
    gather_points<<<1, 1>>>(texture, out.get());
    const float4 got = out.read()[0];
    expect_same<float>({got.x, got.y, got.z, got.w},
                       {values[2 * width + 2], values[2 * width + 3], values[width + 3], values[width + 2]},
                       "gathered");
    OK(cudaDestroyTextureObject(texture));
}

KERNEL_TEST("surfaces that kernels read and write") {
    std::vector<float> values = pixels();
    const Array array(values, width, height, cudaArraySurfaceLoadStore);
    cudaSurfaceObject_t surface = 0;
    const cudaResourceDesc resource = array.resource();
    OK(cudaCreateSurfaceObject(&surface, &resource));
    invert<<<1, dim3(width, height)>>>(surface);
    OK(cudaDeviceSynchronize());
    std::vector<float> got(values.size());
    OK(cudaMemcpy2DFromArray(got.data(), width * sizeof(float), array.array, 0, 0, width * sizeof(float), height,
                             cudaMemcpyDeviceToHost));
    for (float& value : values)
        value = 100.0f - value;
    expect_same(got, values, "inverted");
    OK(cudaDestroySurfaceObject(surface));
}

KERNEL_TEST("objects that are destroyed stay for launches that are pending") {
    const std::vector<float> values = pixels();
    const Array array(values, width, height);
    const Array other(std::vector<float>(width * height, -1.0f), width, height);
    Array writable(values, width, height, cudaArraySurfaceLoadStore);
    const cudaTextureObject_t texture = texture_of(array.resource(), {});
    cudaSurfaceObject_t surface = 0;
    const cudaResourceDesc resource = writable.resource();
    OK(cudaCreateSurfaceObject(&surface, &resource));
    const Device<float2> at(std::vector<float2>{{0.5f, 0.5f}, {3.5f, 1.5f}});
    const Device<float> out(2);
    const Device<float> of_graph(2);
    cudaStream_t stream = nullptr;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    fetch_points<<<1, 2, 0, stream>>>(texture, at.get(), of_graph.get(), 2);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    {
        Gate gate(stream);
        fetch_points<<<1, 2, 0, stream>>>(texture, at.get(), out.get(), 2);
        OK(cudaGraphLaunch(exec, stream));
        invert<<<1, dim3(width, height), 0, stream>>>(surface);
        OK(cudaDestroyTextureObject(texture));
        OK(cudaDestroySurfaceObject(surface));
        for (int i = 0; i < 10000; ++i) // none of these takes the place of one that is in use
            OK(cudaDestroyTextureObject(texture_of(other.resource(), {})));
        gate.open();
        OK(cudaStreamSynchronize(stream));
    }
    const std::vector<float> expected{values[0], values[width + 3]};
    expect_same(out.read(), expected, "in a stream");
    expect_same(of_graph.read(), expected, "in a graph");
    std::vector<float> got(values.size());
    OK(cudaMemcpy2DFromArray(got.data(), width * sizeof(float), writable.array, 0, 0, width * sizeof(float), height,
                             cudaMemcpyDeviceToHost));
    expect(got[5] == 100.0f - values[5], "the surface");
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
}

KERNEL_TEST("points of a volume") {
    std::vector<float> values(24);
    for (int i = 0; i < 24; ++i)
        values[i] = static_cast<float>(i * 5 % 7);
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    OK(cudaMalloc3DArray(&array, &desc, make_cudaExtent(4, 3, 2)));
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(values.data(), 4 * sizeof(float), 4, 3);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(4, 3, 2);
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&copy));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    const cudaTextureObject_t texture = texture_of(resource, {});
    const Device<float> out(24);
    fetch_volume<<<1, dim3(4, 3, 2)>>>(texture, out.get());
    expect_same(out.read(), values, "volume");
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFreeArray(array));
}
