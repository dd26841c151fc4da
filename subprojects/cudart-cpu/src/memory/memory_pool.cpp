// Pools of stream-ordered memory: attributes and accounts.
#include "memory_pool.hpp"

#include "runtime/call.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"

#include <algorithm>
#include <cstring>

namespace cudart_cpu::detail {

namespace {

/// The unit in which a device gives memory to a pool.
constexpr std::uint64_t chunk_bytes = std::uint64_t{32} << 20;

std::uint64_t chunks(std::uint64_t bytes) {
    return (bytes + chunk_bytes - 1) / chunk_bytes * chunk_bytes;
}

[[noreturn]] void refuse_attribute(int attribute) {
    fail(cudaErrorInvalidValue, text("attribute ", attribute, " of a memory pool does not exist or cannot be set"));
}

template <class T>
T read(const void* value) {
    T result;
    std::memcpy(&result, value, sizeof result);
    return result;
}

template <class T>
void write(void* value, T what) {
    std::memcpy(value, &what, sizeof what);
}

} // namespace

void MemoryPool::take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t most = chunks(max_bytes_);
    if (most != 0 && bytes > most - std::min(used_, most)) {
        fail(cudaErrorMemoryAllocation, text(bytes, " bytes requested, the pool has at most ", most));
    }
    used_ += bytes;
    used_high_ = std::max(used_high_, used_);
    reserved_ = std::max(reserved_, needed());
    reserved_high_ = std::max(reserved_high_, reserved_);
}

void MemoryPool::free(std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    used_ -= bytes;
}

void MemoryPool::release() noexcept {
    const std::lock_guard lock(mutex_);
    keep(threshold_);
}

void MemoryPool::get(cudaMemPoolAttr attribute, void* value) const {
    const std::lock_guard lock(mutex_);
    switch (const int number = number_in(attribute)) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        return write(value, switches_.at(number));
    case cudaMemPoolAttrReleaseThreshold:
        return write(value, threshold_);
    case cudaMemPoolAttrReservedMemCurrent:
        return write(value, reserved_);
    case cudaMemPoolAttrReservedMemHigh:
        return write(value, reserved_high_);
    case cudaMemPoolAttrUsedMemCurrent:
        return write(value, used_);
    case cudaMemPoolAttrUsedMemHigh:
        return write(value, used_high_);
    default:
        refuse_attribute(number);
    }
}

void MemoryPool::set(cudaMemPoolAttr attribute, const void* value) {
    const std::lock_guard lock(mutex_);
    switch (const int number = number_in(attribute)) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        switches_[number] = read<int>(value) != 0 ? 1 : 0;
        return;
    case cudaMemPoolAttrReleaseThreshold:
        threshold_ = read<std::uint64_t>(value);
        return;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
        if (read<std::uint64_t>(value) != 0) {
            fail(cudaErrorInvalidValue, "a high watermark can only be set to 0");
        }
        high_mark(attribute) = number == cudaMemPoolAttrUsedMemHigh ? used_ : reserved_;
        return;
    default:
        refuse_attribute(number);
    }
}

void MemoryPool::trim_to(std::size_t bytes) noexcept {
    const std::lock_guard lock(mutex_);
    keep(bytes);
}

cudaMemAccessFlags MemoryPool::access(int device) const {
    const std::lock_guard lock(mutex_);
    if (device == device_) {
        return cudaMemAccessFlagsProtReadWrite;
    }
    const auto peer = peers_.find(device);
    return peer == peers_.end() ? cudaMemAccessFlagsProtNone : peer->second;
}

void MemoryPool::set_access(int device, cudaMemAccessFlags flags) {
    if (number_in(flags) == cudaMemAccessFlagsProtRead) {
        fail(cudaErrorNotSupported, "Mempools do not support Read-Only flag");
    }
    if (device == device_ && flags != cudaMemAccessFlagsProtReadWrite) {
        fail(cudaErrorInvalidDevice, text("device ", device, " always reads and writes the memory of its own pool"));
    }
    const std::lock_guard lock(mutex_);
    peers_[device] = flags;
}

std::uint64_t MemoryPool::needed() const noexcept {
    return chunks(used_);
}

void MemoryPool::keep(std::uint64_t bytes) noexcept {
    reserved_ = std::max(needed(), chunks(std::min(reserved_, bytes)));
}

std::uint64_t& MemoryPool::high_mark(cudaMemPoolAttr attribute) {
    return attribute == cudaMemPoolAttrUsedMemHigh ? used_high_ : reserved_high_;
}

} // namespace cudart_cpu::detail
