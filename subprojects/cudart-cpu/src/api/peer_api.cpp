// Access to other devices' memory, and copies between devices.
// All devices' memory is the host's: access that was not enabled goes unnoticed.
#include "capture/capture_rules.hpp"
#include "runtime/call.hpp"
#include "runtime/device_model.hpp"
#include "runtime/number_in.hpp"
#include "runtime/peer_access.hpp"
#include "runtime/text.hpp"
#include "submit/copy_submit.hpp"

#include <cudart_cpu/control.hpp>

#include <atomic>

using namespace cudart_cpu::detail;

namespace {

/// Whether the first device has enabled access to the second's memory, and whether a test made it impossible.
std::atomic<bool> enabled[max_devices][max_devices];
std::atomic<bool> impossible[max_devices][max_devices];

std::atomic<bool>& access_of_current_to(int peer) {
    require_device(peer);
    return enabled[current_device()][peer];
}

void copy(void* dst, int dst_device, const void* src, int src_device, std::size_t count, cudaStream_t stream,
          CopyCall call) {
    require_device(dst_device);
    require_device(src_device);
    Stream& target = stream_of(stream);
    refuse_capturing_now(target);
    submit_copy(copy_1d(dst, src, count, cudaMemcpyDefault), target, call);
}

void copy(const cudaMemcpy3DPeerParms* params, cudaStream_t stream, CopyCall call) {
    require_pointer(params, "p");
    require_device(params->dstDevice);
    require_device(params->srcDevice);
    cudaMemcpy3DParms one{};
    one.srcArray = params->srcArray;
    one.srcPos = params->srcPos;
    one.srcPtr = params->srcPtr;
    one.dstArray = params->dstArray;
    one.dstPos = params->dstPos;
    one.dstPtr = params->dstPtr;
    one.extent = params->extent;
    one.kind = cudaMemcpyDefault;
    Stream& target = stream_of(stream);
    refuse_capturing_now(target);
    submit_copy(one, target, call);
}

} // namespace

bool cudart_cpu::detail::can_access_peer(int device, int peer) noexcept {
    return device != peer && !impossible[device][peer];
}

void cudart_cpu::detail::disable_peer_access_of(int device) noexcept {
    for (std::atomic<bool>& access : enabled[device])
        access = false;
}

void cudart_cpu::set_peer_access(int device, int peer, bool possible) {
    require_device(device);
    require_device(peer);
    impossible[device][peer] = !possible;
}

CUDART_CPU_API cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer) {
    return api("cudaDeviceCanAccessPeer", [&] {
        require_pointer(can_access, "canAccessPeer");
        require_device(device);
        require_device(peer);
        *can_access = can_access_peer(device, peer) ? 1 : 0;
    });
}

CUDART_CPU_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    return api("cudaDeviceEnablePeerAccess", [&] {
        std::atomic<bool>& access = access_of_current_to(peer);
        if (flags != 0) {
            fail(cudaErrorInvalidValue, text("the flags of peer access are ", flags, "; they must be 0"));
        }
        if (peer == current_device()) {
            fail(cudaErrorPeerAccessUnsupported, text("device ", peer, " is no peer of its own"));
        }
        if (impossible[current_device()][peer]) {
            fail(cudaErrorPeerAccessUnsupported, text("device ", current_device(), " has no access to device ", peer));
        }
        if (access.exchange(true)) {
            fail(cudaErrorPeerAccessAlreadyEnabled, text("access to device ", peer, " is enabled already"));
        }
    });
}

CUDART_CPU_API cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    return api("cudaDeviceDisablePeerAccess", [&] {
        if (!access_of_current_to(peer).exchange(false)) {
            fail(cudaErrorPeerAccessNotEnabled, text("access to device ", peer, " is not enabled"));
        }
    });
}

CUDART_CPU_API cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int source, int target) {
    return api("cudaDeviceGetP2PAttribute", [&] {
        require_pointer(value, "value");
        require_device(source);
        require_device(target);
        if (source == target) fail(cudaErrorInvalidDevice, text("device ", source, " is no peer of its own"));
        constexpr int only_some_atomics = 5; // new in CUDA 13
        switch (const int number = number_in(attribute)) {
        case cudaDevP2PAttrPerformanceRank:
        case only_some_atomics:
            *value = 0;
            return;
        case cudaDevP2PAttrAccessSupported:
        case cudaDevP2PAttrNativeAtomicSupported:
        case cudaDevP2PAttrCudaArrayAccessSupported:
            *value = can_access_peer(source, target) ? 1 : 0;
            return;
        default:
            fail(cudaErrorInvalidValue, text("attribute ", number, " of two devices is unknown"));
        }
    });
}

CUDART_CPU_API cudaError_t cudaMemcpyPeer(void* dst, int dst_device, const void* src, int src_device,
                                          std::size_t count) {
    return api("cudaMemcpyPeer",
               [&] { copy(dst, dst_device, src, src_device, count, nullptr, CopyCall::synchronous); });
}

CUDART_CPU_API cudaError_t cudaMemcpyPeerAsync(void* dst, int dst_device, const void* src, int src_device,
                                               std::size_t count, cudaStream_t stream) {
    return api("cudaMemcpyPeerAsync",
               [&] { copy(dst, dst_device, src, src_device, count, stream, CopyCall::asynchronous); });
}

CUDART_CPU_API cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* params) {
    return api("cudaMemcpy3DPeer", [&] { copy(params, nullptr, CopyCall::synchronous); });
}

CUDART_CPU_API cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* params, cudaStream_t stream) {
    return api("cudaMemcpy3DPeerAsync", [&] { copy(params, stream, CopyCall::asynchronous); });
}
