// Disabled memset nodes: CUDA loses the order of small ones.
#include "disabled_memset.hpp"

#include "cuda/device_guard.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "cuda/numbered_contexts.hpp"
#include "cuda/relaxed_capture.hpp"

#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

namespace cudag::detail {

namespace {

constexpr std::size_t largest_small = 4096;
constexpr std::size_t scratch_bytes = std::size_t{64} * 1024;

enum class Kind { device, host };

/// The location of a node's memory.
struct Home {
    int device;
    Kind kind;
};

Home home_of(const void* memory) {
    Home home{0, Kind::device};
    cudaPointerAttributes attributes{};
    const cudaError_t status = cudaPointerGetAttributes(&attributes, memory);
    ignore(status);
    if (status == cudaSuccess && attributes.type == cudaMemoryTypeHost) home.kind = Kind::host;
    const bool known = status == cudaSuccess && attributes.type != cudaMemoryTypeUnregistered;
    if (known && attributes.device >= 0)
        home.device = attributes.device;
    else
        checked<UpdateError>(cudaGetDevice(&home.device), "cudaGetDevice");
    return home;
}

/// Memory that is never written, since only disabled nodes refer to it. Keyed by context id: ids are unique even after
/// a cudaDeviceReset, unlike addresses. Never freed: execs may refer to it until the process ends, and then CUDA is
/// gone.
class Scratch {
  public:
    /// The scratch memory of the current device. Throws UpdateError if CUDA has no memory.
    void* get(Kind kind) {
        unsigned long long context = 0;
        const CUresult result = driver().ctx_get_id(current_context(), &context);
        if (result != CUDA_SUCCESS) raise_call<UpdateError>(to_runtime(result), "cuCtxGetId", {}, Api::driver);
        const std::scoped_lock lock(mutex_);
        void*& memory = memory_[{context, kind}];
        if (memory == nullptr) memory = allocate(kind);
        return memory;
    }

  private:
    static void* allocate(Kind kind) {
        const RelaxedCapture allow_allocation;
        void* memory = nullptr;
        if (kind == Kind::device)
            checked<UpdateError>(cudaMalloc(&memory, scratch_bytes), "cudaMalloc");
        else
            checked<UpdateError>(cudaMallocHost(&memory, scratch_bytes), "cudaMallocHost"); // all devices can access it
        return memory;
    }

    std::mutex mutex_;
    std::map<std::pair<unsigned long long, Kind>, void*> memory_;
};

void* scratch_at(const Home& home) {
    static auto* scratch = new Scratch;
    const DeviceGuard guard(home.device);
    return scratch->get(home.kind);
}

/// Sets parameters in the node's context, as CUDA requires: the context of the memory or, if another device accesses
/// it, the current one.
NativeResult set_in_context(cudaGraphExec_t exec, cudaGraphNode_t node, const NodeParams& params, int device,
                            int place) {
    if (is_context_number(place)) {
        const PlaceGuard context(place);
        return set_native({node, exec}, params);
    }
    const NativeResult result = set_native({node, exec}, params);
    if (result.status == cudaSuccess) return result;
    int current = 0;
    if (const cudaError_t status = cudaGetDevice(&current); status != cudaSuccess || current == device) return result;
    const DeviceGuard guard(device);
    const NativeResult again = set_native({node, exec}, params);
    if (again.status == cudaSuccess) ignore(result);
    return again;
}

} // namespace

bool loses_order(const NodeParams& params) noexcept {
    const auto* set = std::get_if<const SetParams*>(&params);
    return set != nullptr && (*set)->height == 1 && (*set)->size * (*set)->element_bytes <= largest_small;
}

NativeResult park(cudaGraphExec_t exec, cudaGraphNode_t node, const NodeParams& params, int place) {
    const SetParams& set = *std::get<const SetParams*>(params);
    const Home home = home_of(set.destination);
    const SetParams parked{scratch_at(home), scratch_bytes / set.element_bytes, set.element_bytes, 0};
    return set_in_context(exec, node, &parked, home.device, place);
}

NativeResult unpark(cudaGraphExec_t exec, cudaGraphNode_t node, const NodeParams& params, int place) {
    return set_in_context(exec, node, params, home_of(std::get<const SetParams*>(params)->destination).device, place);
}

} // namespace cudag::detail
