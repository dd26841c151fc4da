// Blocks of a CapturePool: best fit, split and merged within one allocation of CUDA.
#include "pool_state.hpp"

#include "cuda/device_guard.hpp"
#include "cuda/made_memory.hpp"
#include "cuda/never_destroyed.hpp"
#include "cuda/relaxed_capture.hpp"
#include "cuda/released_memory.hpp"
#include "held_blocks.hpp"
#include "owners/pool_numbers.hpp"
#include "owners/reclaim.hpp"

#include <cudag/capture_pool.hpp>
#include <cudag/format.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace cudag::detail {

namespace {

cudaMemPool_t make_pool(Subject&& subject) {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    checked(cudaGetDevice(&properties.location.id), "cudaGetDevice");
    cudaMemPool_t pool = nullptr;
    const cudaError_t status = cudaMemPoolCreate(&pool, &properties);
    if (status != cudaSuccess) raise_call<Error>(status, "cudaMemPoolCreate", std::move(subject));
    return pool;
}

/// The live pools, and those visible to `find`.
struct Registry {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, std::weak_ptr<PoolState>> pools;
    std::unordered_set<const PoolState*> live; ///< all pools
};

/// The registry; never destroyed, since pools may outlive static objects.
Registry& registry() noexcept {
    return never_destroyed<Registry>();
}

std::uint64_t next_block_number() noexcept {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

std::uint64_t next_id() noexcept {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

} // namespace

void PoolBlockRelease::operator()(void* memory) noexcept {
    const auto last = std::move(pool); // a weak_ptr to the block must not keep the pool
    last->give_back(static_cast<std::byte*>(memory));
}

PoolState::PoolState(std::string_view label, bool is_releasable, const SourceLocation& location) : PoolState() {
    id_ = next_id();
    holder_.emplace("CapturePool", std::string(label), location);
    name_ = holder_->name();
    label_ = label;
    const RelaxedCapture allow_allocation;
    if (is_releasable) {
        int device = 0;
        checked(cudaGetDevice(&device), "cudaGetDevice");
        virtual_.emplace(device, Subject{name_, {}, location});
    } else {
        pool_ = make_pool({name_, {}, location});
    }
    checked(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    checked(cudaMalloc(&waits_, 1), "cudaMalloc");
    note_pool(this, id_);
    const std::scoped_lock lock(registry().mutex);
    registry().live.insert(this);
}

PoolState::~PoolState() {
    forget_pool(this);
    {
        const std::scoped_lock lock(registry().mutex);
        registry().pools.erase(id_);
        registry().live.erase(this);
    }
    const RelaxedCapture allow_free;
    if (waits_ != nullptr)
        report_release(cudaFree(waits_), "cudaFree");
    else if (virtual_)
        report_release(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    if (is_released_) forget_released(this);
    for (const auto& [address, block] : blocks_)
        if (block.is_first && !virtual_) report_release(cudaFreeAsync(address, stream_), "cudaFreeAsync");
    if (pool_ != nullptr)
        report_release(cudaMemPoolDestroy(pool_), "cudaMemPoolDestroy"); // takes effect when all its memory is free
    if (stream_ != nullptr) report_release(cudaStreamDestroy(stream_), "cudaStreamDestroy");
}

std::shared_ptr<void> PoolState::allocate(std::size_t count, std::size_t size, const SourceLocation& location) {
    const auto subject = [&] {
        return Subject{
            fmt::format("{}: allocation of {} elements of {} bytes at {}", name_, count, size, location), {}, location};
    };
    reclaim(); // before the lock: it may destroy blocks of this pool
    std::unique_lock lock(mutex_);
    if (sealed_)
        refuse<CaptureError>("the pool is sealed; allocate before seal(), or call unseal()", subject(),
                             cudaErrorNotPermitted);
    if (is_released_)
        refuse<CaptureError>("the pool's memory is released; call restore() before", subject(), cudaErrorNotReady);
    if (count == 0) return nullptr;
    std::size_t used = 0;
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &used) || __builtin_add_overflow(used, pool_alignment - 1, &bytes))
        refuse<Error>("the size overflows; ask for fewer elements", subject(), cudaErrorMemoryAllocation);
    bytes -= bytes % pool_alignment;

    auto block = smallest_free(bytes);
    if (block == blocks_.end()) block = obtain(bytes, subject());
    take(block, bytes);
    block->second.used = used;
    block->second.number = next_block_number();
    ++count_;
    bytes_ += used;
    bytes_high_ = std::max(bytes_high_, bytes_);
    std::byte* const address = block->first;
    lock.unlock(); // a failure below releases the block
    std::shared_ptr<void> made(address, PoolBlockRelease{shared_from_this()});
    note_made(address, used);
    return made;
}

PoolState::FreeBlocks::node_type PoolState::make_free() {
    FreeBlocks one;
    return one.extract(one.emplace(0, nullptr).first);
}

void PoolState::set_free(Blocks::iterator block) noexcept {
    block->second.free.value() = {block->second.bytes, block->first};
    free_.insert(std::move(block->second.free));
}

void PoolState::set_taken(Blocks::iterator block) noexcept {
    block->second.free = free_.extract({block->second.bytes, block->first});
}

PoolState::Blocks::iterator PoolState::smallest_free(std::size_t bytes) {
    const auto found = free_.lower_bound({bytes, nullptr});
    return found == free_.end() ? blocks_.end() : blocks_.find(found->second);
}

PoolState::Blocks::iterator PoolState::obtain(std::size_t bytes, Subject&& subject) {
    if (virtual_) {
        bytes = virtual_->rounded(bytes);
        if (bytes == 0)
            refuse<Error>("the size overflows; ask for fewer elements", std::move(subject), cudaErrorMemoryAllocation);
    }
    Blocks one; // made first: nothing may fail after CUDA has allocated the memory
    auto node = one.extract(one.emplace(nullptr, Block{bytes, 0, true, make_free()}).first);

    const RelaxedCapture allow_allocation;
    const DeviceGuard device(stream_);
    subject.text += fmt::format(" (the pool holds {} bytes)", reserved_);
    node.key() = virtual_ ? virtual_->obtain(bytes, std::move(subject)) : obtain_from_cuda(bytes, std::move(subject));
    reserved_ += bytes;
    holder_->set(reserved_);
    const auto block = blocks_.insert(std::move(node)).position;
    set_free(block);
    return block;
}

std::byte* PoolState::obtain_from_cuda(std::size_t bytes, Subject&& subject) {
    void* memory = nullptr;
    if (const cudaError_t status = cudaMallocFromPoolAsync(&memory, bytes, pool_, stream_); status != cudaSuccess)
        raise_call<Error>(status, "cudaMallocFromPoolAsync", std::move(subject));
    // the memory now belongs to the stream, afterwards to any stream
    if (const cudaError_t status = cudaStreamSynchronize(stream_); status != cudaSuccess) {
        report_release(cudaFreeAsync(memory, stream_), "cudaFreeAsync");
        raise_call<Error>(status, "cudaStreamSynchronize", std::move(subject));
    }
    return static_cast<std::byte*>(memory);
}

void PoolState::take(Blocks::iterator block, std::size_t bytes) {
    const std::size_t rest = block->second.bytes - bytes;
    if (rest == 0) return set_taken(block);
    const auto next = blocks_.emplace_hint(std::next(block), block->first + bytes, Block{rest, 0, false, make_free()});
    set_taken(block);
    block->second.bytes = bytes;
    set_free(next);
}

const PoolState::Block* PoolState::find_block(const void* address) const noexcept {
    auto* const wanted = static_cast<std::byte*>(const_cast<void*>(address));
    const auto next = blocks_.upper_bound(wanted);
    if (next == blocks_.begin()) return nullptr;
    const auto& [begin, block] = *std::prev(next);
    return static_cast<std::size_t>(wanted - begin) < block.bytes ? &block : nullptr;
}

PoolState::Place PoolState::place_of(const void* address) noexcept {
    const std::scoped_lock lock(registry().mutex);
    for (const PoolState* const pool : registry().live) {
        const std::scoped_lock inner(pool->mutex_);
        if (const Block* const block = pool->find_block(address)) return {pool, block->used == 0 ? 0 : block->number};
    }
    return {};
}

void PoolState::give_back(std::byte* address) noexcept {
    const std::scoped_lock lock(mutex_);
    auto block = blocks_.find(address);
    --count_;
    bytes_ -= std::exchange(block->second.used, 0);
    absorb_next(block);
    if (!block->second.is_first && std::prev(block)->second.used == 0) {
        block = std::prev(block);
        set_taken(block);
        absorb_next(block);
    }
    set_free(block);
}

void PoolState::absorb_next(Blocks::iterator block) noexcept {
    const auto next = std::next(block);
    if (next == blocks_.end() || next->second.is_first || next->second.used != 0) return;
    block->second.bytes += next->second.bytes;
    free_.erase({next->second.bytes, next->first}); // no effect if it was never inserted
    blocks_.erase(next);
}

std::uint64_t PoolState::id() {
    const std::scoped_lock lock(registry().mutex);
    registry().pools.emplace(id_, weak_from_this());
    return id_;
}

std::shared_ptr<PoolState> PoolState::find(std::uint64_t id) {
    const std::scoped_lock lock(registry().mutex);
    const auto found = registry().pools.find(id);
    return found == registry().pools.end() ? nullptr : found->second.lock();
}

void PoolState::keep(std::shared_ptr<const void> owner) {
    const std::scoped_lock lock(mutex_);
    if (owner) owners_.push_back(std::move(owner));
}

void PoolState::clear() {
    std::vector<std::shared_ptr<const void>> owners; // destroyed after the lock, since that runs user code
    const std::scoped_lock lock(mutex_);
    owners_.swap(owners);
}

std::size_t PoolState::recorded_count() const {
    const std::scoped_lock lock(mutex_);
    return owners_.size();
}

void PoolState::set_sealed(bool sealed) {
    const std::scoped_lock lock(mutex_);
    sealed_ = sealed;
}

bool PoolState::is_sealed() const {
    const std::scoped_lock lock(mutex_);
    return sealed_;
}

std::size_t PoolState::count() const {
    const std::scoped_lock lock(mutex_);
    return count_;
}

std::size_t PoolState::bytes() const {
    const std::scoped_lock lock(mutex_);
    return bytes_;
}

PoolFootprint PoolState::footprint() const {
    const std::scoped_lock lock(mutex_);
    if (!is_released_) return {name_, bytes_, bytes_high_, reserved_};
    return {name_, bytes_, bytes_high_, 0, reserved_, kept_.bytes};
}

std::size_t PoolState::reserved_bytes() const {
    const std::scoped_lock lock(mutex_);
    return is_released_ ? 0 : reserved_;
}

bool PoolState::is_released() const {
    const std::scoped_lock lock(mutex_);
    return is_released_;
}

Subject PoolState::subject_of(const char* call) const {
    return {fmt::format("{}: {}", name_, call), {label_}, {}};
}

ReleasedMemory PoolState::release(const ReleaseOptions& options) {
    if (!virtual_)
        refuse<Error>("this pool's memory cannot be released; make the pool with {.releasable = true}",
                      subject_of("release"), cudaErrorNotPermitted);
    const std::scoped_lock releasing(release_mutex_);
    if (is_released()) return {};
    begin_release();
    try {
        const RelaxedCapture allow_calls;
        const DeviceGuard device(stream_);
        wait_for_device(); // without the lock: host nodes in flight may give buffers back
        const std::scoped_lock lock(mutex_);
        HostCopy copy = parts_to_keep(options.contents);
        copy_to_host(copy);
        virtual_->release(subject_of("release"));
        kept_ = std::move(copy);
        holder_->set(0);
        return {reserved_, 0, kept_.bytes, 0};
    } catch (...) {
        end_release();
        throw;
    }
}

/// Makes launches and allocations be refused.
void PoolState::begin_release() {
    const std::scoped_lock lock(mutex_);
    auto gone = std::make_shared<ReleasedPool>(ReleasedPool{this, name_, label_, {}});
    for (const VirtualMemory::Piece& piece : virtual_->pieces())
        gone->ranges.push_back({piece.address, piece.address + piece.bytes});
    note_released(std::move(gone));
    is_released_ = true;
}

void PoolState::end_release() noexcept {
    const std::scoped_lock lock(mutex_);
    is_released_ = false;
    forget_released(this);
}

std::size_t PoolState::restore() {
    const std::scoped_lock releasing(release_mutex_);
    if (!is_released()) return 0;
    {
        const RelaxedCapture allow_calls;
        const DeviceGuard device(stream_);
        const std::scoped_lock lock(mutex_);
        virtual_->restore(subject_of("restore"));
        try {
            copy_from_host(kept_);
        } catch (...) {
            virtual_->release(subject_of("restore"));
            throw;
        }
        kept_ = {};
        holder_->set(reserved_);
    }
    end_release();
    return reserved_;
}

PoolState::HostCopy PoolState::parts_to_keep(KeptContents contents) const {
    HostCopy copy;
    const auto add = [&copy](std::byte* address, std::size_t bytes) {
        copy.parts.push_back({address, bytes, copy.bytes});
        copy.bytes += bytes;
    };
    if (contents == KeptContents::all)
        for (const VirtualMemory::Piece& piece : virtual_->pieces())
            add(reinterpret_cast<std::byte*>(piece.address), piece.bytes);
    if (contents == KeptContents::buffers)
        for (const auto& [address, block] : blocks_)
            if (block.used != 0) add(address, block.used);
    return copy;
}

void PoolState::copy_to_host(HostCopy& copy) const {
    if (copy.bytes == 0) return;
    copy.data.reset(new (std::nothrow) std::byte[copy.bytes]); // pageable: pinning takes longer than the copies
    if (copy.data == nullptr)
        refuse<Error>(fmt::format("the host lacks {} bytes of memory for the contents; keep less of them (see "
                                  "KeptContents)",
                                  copy.bytes),
                      subject_of("release"), cudaErrorMemoryAllocation);
    for (const Kept& part : copy.parts)
        checked(cudaMemcpyAsync(copy.data.get() + part.at, part.address, part.bytes, cudaMemcpyDeviceToHost, stream_),
                "cudaMemcpyAsync");
    checked(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

void PoolState::copy_from_host(const HostCopy& copy) const {
    for (const Kept& part : copy.parts)
        checked(cudaMemcpyAsync(part.address, copy.data.get() + part.at, part.bytes, cudaMemcpyHostToDevice, stream_),
                "cudaMemcpyAsync");
    if (!copy.parts.empty()) checked(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
}

void PoolState::wait_for_device() {
    // cudaDeviceSynchronize would break captures
    if (waits_ != nullptr) checked(cudaFree(waits_), "cudaFree");
    waits_ = nullptr;
    ignore(cudaMalloc(&waits_, 1)); // if the device is full, the next wait breaks captures
    if (waits_ == nullptr) checked(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

} // namespace cudag::detail
