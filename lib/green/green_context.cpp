// GreenContext: the multiprocessors that contexts get, and their streams.
#include <cudag/green_context.hpp>

#include "cuda/compat.hpp"
#include "cuda/device_guard.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "green_calls.hpp"
#include "green_context_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace cudag {

namespace detail {

GreenContextState::~GreenContextState() {
    if (number_ != 0) forget_context(number_);
    report_release(to_runtime(green_calls().destroy(green_)), "cuGreenCtxDestroy");
}

void GreenContextState::convert(int device, unsigned multiprocessors) {
    CUcontext context = nullptr;
    checked_driver<Error>(green_calls().convert(&context, green_), "cuCtxFromGreenCtx");
    context_ = {context, device, multiprocessors};
    number_ = number_context(context_);
}

CUstream create_stream(const GreenContextState& context, int priority) {
    const GreenStreamCreate create = green_stream_create();
    CUstream stream = nullptr;
    checked_driver<Error>(create(&stream, context.green(), CU_STREAM_NON_BLOCKING, priority), "cuGreenCtxStreamCreate");
    return stream;
}

namespace {

/// A resource as CUDA 13.1 has it; earlier headers lack the queues.
struct WorkqueueResource {
    int type;
    unsigned char padding[92];
    int device;
    unsigned concurrency;
    int scope;
};
static_assert(sizeof(WorkqueueResource) <= sizeof(CUdevResource));
static_assert(offsetof(WorkqueueResource, device) == offsetof(CUdevResource, sm));
constexpr int workqueue_config = 1000;
constexpr unsigned ignore_coscheduling = 1; // named from CUDA 12.6 on

/// Multiprocessors of a device in groups, which CUDA does not divide.
class DeviceParts {
  public:
    explicit DeviceParts(const GreenContextOptions& options) : options_(options) {
        calls(); // refuses drivers without green contexts first
        int devices = 0;
        checked(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
        if (options.device && (*options.device < 0 || *options.device >= devices))
            refuse<Error>(fmt::format("GreenContext: there is no device {}; CUDA sees {}, numbered from 0",
                                      *options.device, devices == 1 ? "1 device" : fmt::format("{} devices", devices)),
                          {}, cudaErrorInvalidDevice);
        if (options.device)
            device_ = *options.device;
        else
            checked(cudaGetDevice(&device_), "cudaGetDevice");
        require_workqueues();
        const DeviceGuard guard(device_);
        static_cast<void>(current_context()); // CUDA makes it once, instead of once for each green context
        checked_driver<Error>(calls().device_resource(device_, &all_, CU_DEV_RESOURCE_TYPE_SM),
                              "cuDeviceGetDevResource");
    }

    [[nodiscard]] unsigned multiprocessors() const noexcept { return all_.sm.smCount; }

    void require_count(unsigned count) const {
        if (count == 0) refuse<Error>("GreenContext: 0 multiprocessors; a context has at least 1");
        if (count > multiprocessors())
            refuse<Error>(
                fmt::format("GreenContext: {} multiprocessors; device {} has {}", count, device_, multiprocessors()));
    }

    /// Takes `count` multiprocessors, or more.
    [[nodiscard]] std::shared_ptr<const GreenContextState> take(unsigned count) const {
        CUdevResource part{};
        unsigned parts = 1;
        const CUresult result = calls().split(&part, &parts, &all_, nullptr, flags(), count);
        const bool is_whole = result != CUDA_SUCCESS || parts == 0; // rounded up, they would be too many
        return make({is_whole ? all_ : part});
    }

    /// Takes disjoint groups for each count.
    [[nodiscard]] std::vector<std::shared_ptr<const GreenContextState>> split(std::span<const unsigned> counts) const {
        CUdevResource first{};
        unsigned number = 1;
        checked_driver<Error>(calls().split(&first, &number, &all_, nullptr, flags(), 1),
                              "cuDevSmResourceSplitByCount");
        const unsigned size = first.sm.smCount;
        checked_driver<Error>(calls().split(nullptr, &number, &all_, nullptr, flags(), size),
                              "cuDevSmResourceSplitByCount");
        std::vector<CUdevResource> groups(number);
        CUdevResource left{};
        checked_driver<Error>(calls().split(groups.data(), &number, &all_, &left, flags(), size),
                              "cuDevSmResourceSplitByCount");
        groups.resize(number);
        if (left.type == CU_DEV_RESOURCE_TYPE_SM && left.sm.smCount == 0) left = {};
        const std::size_t wanted = wanted_groups(counts, size);
        const bool has_rest = std::ranges::count(counts, GreenContext::rest) != 0;
        const bool is_left = groups.size() > wanted || left.type == CU_DEV_RESOURCE_TYPE_SM;
        if (wanted > groups.size() || (has_rest && !is_left))
            refuse<Error>(fmt::format("GreenContext::split: the parts take {} multiprocessors{}, in groups of {}; "
                                      "device {} has {}, of which {} are in such groups",
                                      wanted * size, has_rest ? ", which leaves none for the rest" : "", size, device_,
                                      multiprocessors(), groups.size() * size),
                          {}, cudaErrorInvalidValue);
        std::vector<std::shared_ptr<const GreenContextState>> made;
        auto next = groups.begin();
        for (const unsigned count : counts) {
            const std::size_t taken = count == GreenContext::rest ? groups.size() - wanted : groups_of(count, size);
            std::vector<CUdevResource> part(next, next + static_cast<std::ptrdiff_t>(taken));
            next += static_cast<std::ptrdiff_t>(taken);
            if (count == GreenContext::rest && left.type == CU_DEV_RESOURCE_TYPE_SM) part.push_back(left);
            made.push_back(make(std::move(part)));
        }
        return made;
    }

  private:
    static const GreenCalls& calls() { return green_calls(); }
    [[nodiscard]] unsigned flags() const noexcept { return options_.scattered ? ignore_coscheduling : 0U; }
    static std::size_t groups_of(unsigned count, unsigned size) noexcept {
        return count / size + (count % size == 0 ? 0 : 1);
    }

    void require_workqueues() const {
        if (!options_.workqueues) return;
        require_green_driver(since::workqueues, "GreenContext: workqueues");
        if (options_.workqueues->concurrency == 0)
            refuse<Error>("GreenContext: workqueues.concurrency is 0; at least one stream or branch runs at a time");
    }

    [[nodiscard]] std::size_t wanted_groups(std::span<const unsigned> counts, unsigned size) const {
        std::size_t wanted = 0;
        std::size_t rests = 0;
        for (const unsigned count : counts) {
            if (count == GreenContext::rest) {
                ++rests;
                continue;
            }
            require_count(count);
            wanted += groups_of(count, size);
        }
        if (counts.empty()) refuse<Error>("GreenContext::split: no counts; give the multiprocessors of each part");
        if (rests > 1) refuse<Error>("GreenContext::split: several parts are the rest; only one can be");
        return wanted;
    }

    /// Makes a context of resources that come from one split.
    [[nodiscard]] std::shared_ptr<const GreenContextState> make(std::vector<CUdevResource> resources) const {
        unsigned count = 0;
        for (const CUdevResource& resource : resources)
            count += resource.sm.smCount;
        if (options_.workqueues) {
            WorkqueueResource queues{};
            queues.type = workqueue_config;
            queues.device = device_;
            queues.concurrency = options_.workqueues->concurrency;
            queues.scope = options_.workqueues->scope == WorkqueueScope::balanced ? 1 : 0;
            CUdevResource native{};
            std::memcpy(static_cast<void*>(&native), &queues, sizeof queues);
            resources.push_back(native);
        }
        CUdevResourceDesc description = nullptr;
        checked_driver<Error>(calls().describe(&description, resources.data(), static_cast<unsigned>(resources.size())),
                              "cuDevResourceGenerateDesc");
        CUgreenCtx green = nullptr;
        checked_driver<Error>(calls().create(&green, description, device_, CU_GREEN_CTX_DEFAULT_STREAM),
                              "cuGreenCtxCreate");
        std::shared_ptr<GreenContextState> state;
        try {
            state = std::make_shared<GreenContextState>(green);
        } catch (...) {
            ignore(to_runtime(calls().destroy(green)));
            throw;
        }
        state->convert(device_, count);
        return state;
    }

    GreenContextOptions options_;
    int device_ = 0;
    CUdevResource all_{};
};

std::shared_ptr<const GreenContextState> taken_part(unsigned multiprocessors, const GreenContextOptions& options) {
    const DeviceParts parts(options);
    parts.require_count(multiprocessors);
    return parts.take(multiprocessors);
}

} // namespace

} // namespace detail

GreenContext::GreenContext(unsigned multiprocessors, const GreenContextOptions& options)
    : state_(detail::taken_part(multiprocessors, options)) {}
GreenContext::GreenContext(std::shared_ptr<const detail::GreenContextState> state) noexcept
    : state_(std::move(state)) {}

std::vector<GreenContext> GreenContext::split(std::span<const unsigned> multiprocessors,
                                              const GreenContextOptions& options) {
    std::vector<GreenContext> contexts;
    for (auto& state : detail::DeviceParts(options).split(multiprocessors))
        contexts.push_back(GreenContext(std::move(state)));
    return contexts;
}

unsigned GreenContext::multiprocessors() const noexcept {
    return state_->context().multiprocessors;
}
int GreenContext::device() const noexcept {
    return state_->context().device;
}
CUctx_st* GreenContext::get() const noexcept {
    return state_->context().context;
}

} // namespace cudag
