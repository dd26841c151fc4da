// CUDA's virtual memory management, behind releasable pools.
#include "virtual_memory.hpp"

#include "cuda/driver.hpp"
#include "cuda/driver_function.hpp"

#include <utility>

namespace cudag::detail {

namespace {

/// The driver's functions; fetched by the first releasable pool.
struct VirtualMemoryCalls {
    decltype(&::cuMemGetAllocationGranularity) granularity = nullptr;
    decltype(&::cuMemAddressReserve) reserve = nullptr;
    decltype(&::cuMemAddressFree) free = nullptr;
    decltype(&::cuMemCreate) create = nullptr;
    decltype(&::cuMemRelease) release = nullptr;
    decltype(&::cuMemMap) map = nullptr;
    decltype(&::cuMemUnmap) unmap = nullptr;
    decltype(&::cuMemSetAccess) set_access = nullptr;
};

const VirtualMemoryCalls& calls() {
    static const VirtualMemoryCalls loaded = [] { // a constant
        constexpr const char* effect = ", so no memory can be releasable";
        VirtualMemoryCalls all;
        fetch_needed(all.granularity, "cuMemGetAllocationGranularity", effect);
        fetch_needed(all.reserve, "cuMemAddressReserve", effect);
        fetch_needed(all.free, "cuMemAddressFree", effect);
        fetch_needed(all.create, "cuMemCreate", effect);
        fetch_needed(all.release, "cuMemRelease", effect);
        fetch_needed(all.map, "cuMemMap", effect);
        fetch_needed(all.unmap, "cuMemUnmap", effect);
        fetch_needed(all.set_access, "cuMemSetAccess", effect);
        return all;
    }();
    return loaded;
}

CUmemAllocationProp properties_of_memory(int device) noexcept {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device;
    return properties;
}

void require_call(CUresult result, const char* operation, Subject&& subject) {
    if (result != CUDA_SUCCESS) [[unlikely]]
        raise_call<Error>(to_runtime(result), operation, std::move(subject), Api::driver);
}

} // namespace

VirtualMemory::VirtualMemory(int device, Subject&& subject) : device_(device) {
    bind_context();
    const CUmemAllocationProp properties = properties_of_memory(device);
    require_call(calls().granularity(&unit_, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
                 "cuMemGetAllocationGranularity", std::move(subject));
}

VirtualMemory::~VirtualMemory() {
    for (const Piece& piece : pieces_) {
        if (!is_released_) {
            report_release(to_runtime(calls().unmap(piece.address, piece.bytes)), "cuMemUnmap");
            report_release(to_runtime(calls().release(piece.memory)), "cuMemRelease");
        }
        report_release(to_runtime(calls().free(piece.address, piece.bytes)), "cuMemAddressFree");
    }
}

std::size_t VirtualMemory::rounded(std::size_t bytes) const noexcept {
    std::size_t sum = 0;
    return __builtin_add_overflow(bytes, unit_ - 1, &sum) ? 0 : sum / unit_ * unit_;
}

CUresult VirtualMemory::make(Piece& piece) const noexcept {
    const CUmemAllocationProp properties = properties_of_memory(device_);
    return calls().create(&piece.memory, piece.bytes, &properties, 0);
}

/// Maps the memory of a piece, with access. On failure nothing is mapped.
CUresult VirtualMemory::map(const Piece& piece) const noexcept {
    if (const CUresult result = calls().map(piece.address, piece.bytes, 0, piece.memory, 0); result != CUDA_SUCCESS)
        return result;
    CUmemAccessDesc access{};
    access.location = properties_of_memory(device_).location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    const CUresult result = calls().set_access(piece.address, piece.bytes, &access, 1);
    if (result != CUDA_SUCCESS) static_cast<void>(calls().unmap(piece.address, piece.bytes));
    return result;
}

std::byte* VirtualMemory::obtain(std::size_t bytes, Subject&& subject) {
    pieces_.reserve(pieces_.size() + 1);
    Piece piece{0, bytes, 0};
    require_call(calls().reserve(&piece.address, bytes, 0, 0, 0), "cuMemAddressReserve", Subject(subject));
    CUresult result = make(piece);
    const char* operation = "cuMemCreate";
    if (result == CUDA_SUCCESS) {
        operation = "cuMemMap";
        result = map(piece);
        if (result != CUDA_SUCCESS) static_cast<void>(calls().release(piece.memory));
    }
    if (result != CUDA_SUCCESS) {
        static_cast<void>(calls().free(piece.address, bytes));
        require_call(result, operation, std::move(subject));
    }
    pieces_.push_back(piece);
    return reinterpret_cast<std::byte*>(piece.address);
}

void VirtualMemory::release(Subject&& subject) {
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
        const CUresult result = calls().unmap(pieces_[i].address, pieces_[i].bytes);
        if (result == CUDA_SUCCESS) continue;
        while (i-- > 0) // their memory is still there
            report_release(to_runtime(map(pieces_[i])), "cuMemMap");
        require_call(result, "cuMemUnmap", std::move(subject));
    }
    is_released_ = true;
    for (const Piece& piece : pieces_)
        report_release(to_runtime(calls().release(piece.memory)), "cuMemRelease");
}

void VirtualMemory::restore(Subject&& subject) {
    std::size_t made = 0, mapped = 0;
    CUresult result = CUDA_SUCCESS;
    const char* operation = "cuMemCreate";
    for (; made < pieces_.size() && result == CUDA_SUCCESS; ++made)
        result = make(pieces_[made]);
    if (result != CUDA_SUCCESS) {
        --made;
    } else {
        operation = "cuMemMap";
        for (; mapped < pieces_.size() && result == CUDA_SUCCESS; ++mapped)
            result = map(pieces_[mapped]);
        if (result != CUDA_SUCCESS) --mapped;
    }
    if (result != CUDA_SUCCESS) {
        while (mapped-- > 0)
            report_release(to_runtime(calls().unmap(pieces_[mapped].address, pieces_[mapped].bytes)), "cuMemUnmap");
        while (made-- > 0)
            report_release(to_runtime(calls().release(pieces_[made].memory)), "cuMemRelease");
        require_call(result, operation, std::move(subject));
    }
    is_released_ = false;
}

} // namespace cudag::detail
