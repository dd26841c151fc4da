// Blocks of a CapturePool: best fit, split and merged within one allocation of CUDA.
#include "pool_state.hpp"

#include "cuda/device_guard.hpp"
#include "cuda/made_memory.hpp"
#include "cuda/relaxed_capture.hpp"
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

/// The pools visible to `find`.
struct Registry {
    std::mutex mutex;
    std::unordered_map<std::uint64_t, std::weak_ptr<PoolState>> pools;
};

/// The registry; never destroyed, since pools may outlive static objects.
Registry& registry() noexcept {
    alignas(Registry) static std::byte memory[sizeof(Registry)]; // static, since an allocation could fail
    static auto* all = new (memory) Registry;
    return *all;
}

std::uint64_t next_id() noexcept {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

} // namespace

void PoolBlockRelease::operator()(void* memory) noexcept {
    const auto last = std::move(pool); // a weak_ptr to the block must not keep the pool
    last->release(static_cast<std::byte*>(memory));
}

PoolState::PoolState(std::string_view label, const SourceLocation& location) : PoolState() {
    id_ = next_id();
    holder_.emplace("CapturePool", std::string(label), location);
    name_ = holder_->name();
    const RelaxedCapture allow_allocation;
    pool_ = make_pool({name_, {}, location});
    checked(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    checked(cudaMalloc(&waits_, 1), "cudaMalloc");
    note_pool(this, id_);
}

PoolState::~PoolState() {
    forget_pool(this);
    {
        const std::scoped_lock lock(registry().mutex);
        registry().pools.erase(id_);
    }
    const RelaxedCapture allow_free;
    if (waits_ != nullptr) report_release(cudaFree(waits_), "cudaFree");
    for (const auto& [address, block] : blocks_)
        if (block.is_first) report_release(cudaFreeAsync(address, stream_), "cudaFreeAsync");
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
    Blocks one; // made first: nothing may fail after CUDA has allocated the memory
    auto node = one.extract(one.emplace(nullptr, Block{bytes, 0, true, make_free()}).first);

    const RelaxedCapture allow_allocation;
    const DeviceGuard device(stream_);
    void* memory = nullptr;
    const auto raise = [&](cudaError_t status, const char* operation) {
        subject.text += fmt::format(" (the pool holds {} bytes)", reserved_);
        raise_call<Error>(status, operation, std::move(subject));
    };
    if (const cudaError_t status = cudaMallocFromPoolAsync(&memory, bytes, pool_, stream_); status != cudaSuccess)
        raise(status, "cudaMallocFromPoolAsync");
    // the memory now belongs to the stream, afterwards to any stream
    if (const cudaError_t status = cudaStreamSynchronize(stream_); status != cudaSuccess) {
        report_release(cudaFreeAsync(memory, stream_), "cudaFreeAsync");
        raise(status, "cudaStreamSynchronize");
    }
    node.key() = static_cast<std::byte*>(memory);
    reserved_ += bytes;
    holder_->set(reserved_);
    const auto block = blocks_.insert(std::move(node)).position;
    set_free(block);
    return block;
}

void PoolState::take(Blocks::iterator block, std::size_t bytes) {
    const std::size_t rest = block->second.bytes - bytes;
    if (rest == 0) return set_taken(block);
    const auto next = blocks_.emplace_hint(std::next(block), block->first + bytes, Block{rest, 0, false, make_free()});
    set_taken(block);
    block->second.bytes = bytes;
    set_free(next);
}

void PoolState::release(std::byte* address) noexcept {
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
    return {name_, bytes_, bytes_high_, reserved_};
}

std::size_t PoolState::reserved_bytes() const {
    const std::scoped_lock lock(mutex_);
    return reserved_;
}

} // namespace cudag::detail
