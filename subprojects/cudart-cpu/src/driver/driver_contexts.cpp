// The driver's functions for contexts, also green ones.
#include "driver_frame.hpp"
#include "driver_functions.hpp"

#include "runtime/device_model.hpp"
#include "runtime/device_settings.hpp"
#include "runtime/driver_version.hpp"
#include "runtime/handle_table.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"
#include "stream/event.hpp"
#include "submit/event_submit.hpp"

#include <cudart_cpu/control.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>

namespace cudart_cpu::detail::driver {

namespace {

constexpr unsigned newest_context_version = 3020; // as the driver reports for all contexts of CUDA 4 and later

/// Runs `body` with `context` as the current one.
template <class Body>
auto within_context(CUcontext context, Body&& body) {
    struct Pushed {
        explicit Pushed(CUcontext handle) { push_context(handle); }
        Pushed(const Pushed&) = delete;
        Pushed& operator=(const Pushed&) = delete;
        ~Pushed() { pop_context(); }
    };
    const Pushed pushed(context);
    return body();
}

CUcontext create(int device, unsigned flags) {
    require_device(device);
    constexpr unsigned known = CU_CTX_FLAGS_MASK;
    const unsigned schedule = flags & CU_CTX_SCHED_MASK;
    if ((flags & ~known) != 0 || (schedule & (schedule - 1)) != 0)
        fail(cudaErrorInvalidValue, text("context flags ", flags, " do not exist or exclude each other"));
    return make_context({device, flags, static_cast<unsigned>(multiprocessors())});
}

/// Returns the named context, or the current one for null.
CUcontext named_or_current(CUcontext context) {
    if (context != nullptr) return context;
    require_current_context();
    return current_context();
}

void wait_for_context(CUcontext context) {
    within_context(context, [] { return through([] { return cudaDeviceSynchronize(); }); });
}

} // namespace

CUresult device_primary_ctx_retain(CUcontext* context, CUdevice device) {
    return answer("cuDevicePrimaryCtxRetain", [&] {
        require_pointer(context, "pctx");
        require_device(device);
        retain_primary(device);
        *context = primary_context(device);
    });
}
CUresult device_primary_ctx_release(CUdevice device) {
    return answer("cuDevicePrimaryCtxRelease_v2", [&] {
        require_device(device);
        if (!release_primary(device))
            fail(cudaErrorDeviceUninitialized, text("the primary context of device ", device, " is not retained"));
    });
}
CUresult device_primary_ctx_set_flags(CUdevice device, unsigned flags) {
    return answer("cuDevicePrimaryCtxSetFlags_v2", [&] {
        require_device(device);
        set_device_flags(device, flags);
    });
}
CUresult device_primary_ctx_get_state(CUdevice device, unsigned* flags, int* active) {
    return answer("cuDevicePrimaryCtxGetState", [&] {
        require_device(device);
        require_pointer(flags, "flags");
        require_pointer(active, "active");
        *flags = device_flags(device) & ~static_cast<unsigned>(CU_CTX_MAP_HOST);
        *active = is_primary_active(device) ? 1 : 0;
    });
}
CUresult device_primary_ctx_reset(CUdevice device) {
    return answer("cuDevicePrimaryCtxReset_v2", [&] {
        require_device(device);
        const bool had_context = has_context();
        within_context(primary_context(device), [] { return through([] { return cudaDeviceReset(); }); });
        if (!had_context) unbind_context();
    });
}

CUresult ctx_create_v2(CUcontext* context, unsigned flags, CUdevice device) {
    return answer("cuCtxCreate_v2", [&] {
        require_pointer(context, "pctx");
        *context = create(device, flags);
        push_context(*context);
    });
}
CUresult ctx_create_v3(CUcontext* context, CUexecAffinityParam* affinities, int count, unsigned flags,
                       CUdevice device) {
    return answer("cuCtxCreate_v3", [&] {
        require_pointer(context, "pctx");
        if (affinities != nullptr || count != 0)
            fail(cudaErrorNotSupported, "cudart-cpu has no execution affinity of contexts");
        *context = create(device, flags);
        push_context(*context);
    });
}
#if CUDA_VERSION >= 12050
CUresult ctx_create_v4(CUcontext* context, CUctxCreateParams* params, unsigned flags, CUdevice device) {
    return answer("cuCtxCreate_v4", [&] {
        require_pointer(context, "pctx");
        if (params != nullptr && (params->numExecAffinityParams != 0 || params->cigParams != nullptr))
            fail(cudaErrorNotSupported, "cudart-cpu has no parameters of contexts");
        *context = create(device, flags);
        push_context(*context);
    });
}
#endif
CUresult ctx_destroy(CUcontext context) {
    return answer("cuCtxDestroy_v2", [&] {
        if (context == nullptr) fail(cudaErrorInvalidValue, "ctx cannot be NULL");
        context_of(context); // throws
        wait_for_context(context);
        end_context(context);
    });
}

CUresult ctx_set_current(CUcontext context) {
    return answer("cuCtxSetCurrent", [&] { set_current_context(context); });
}
CUresult ctx_get_current(CUcontext* context) {
    return answer("cuCtxGetCurrent", [&] {
        require_pointer(context, "pctx");
        *context = current_context();
    });
}
CUresult ctx_push_current(CUcontext context) {
    return answer("cuCtxPushCurrent_v2", [&] {
        require_pointer(context, "ctx");
        push_context(context);
    });
}
CUresult ctx_pop_current(CUcontext* context) {
    return answer("cuCtxPopCurrent_v2", [&] {
        const CUcontext popped = pop_context();
        if (context != nullptr) *context = popped;
    });
}
CUresult ctx_get_device(CUdevice* device) {
    return answer_in_context("cuCtxGetDevice", [&] {
        require_pointer(device, "device");
        *device = current_device();
    });
}
CUresult ctx_get_device_v2(CUdevice* device, CUcontext context) {
    return answer("cuCtxGetDevice_v2", [&] {
        require_pointer(device, "device");
        *device = context_of(named_or_current(context)).device;
    });
}
CUresult ctx_get_id(CUcontext context, unsigned long long* id) {
    return answer("cuCtxGetId", [&] {
        require_pointer(id, "ctxId");
        const CUcontext asked = named_or_current(context);
        context_of(asked); // throws
        *id = reinterpret_cast<std::uintptr_t>(asked);
    });
}
CUresult ctx_get_api_version(CUcontext context, unsigned* version) {
    return answer("cuCtxGetApiVersion", [&] {
        require_pointer(version, "version");
        context_of(named_or_current(context)); // throws
        *version = newest_context_version;
    });
}
CUresult ctx_get_flags(unsigned* flags) {
    return answer_in_context("cuCtxGetFlags", [&] {
        require_pointer(flags, "flags");
        *flags = context_of(current_context()).flags & ~static_cast<unsigned>(CU_CTX_MAP_HOST);
    });
}
CUresult ctx_set_flags(unsigned flags) {
    return answer_in_context("cuCtxSetFlags", [&] {
        if (!is_primary(current_context()))
            fail(cudaErrorNotSupported, "cudart-cpu sets flags of primary contexts only");
        set_device_flags(current_device(), flags);
    });
}
CUresult ctx_synchronize() {
    return answer_in_context("cuCtxSynchronize", [] { wait_for_context(current_context()); });
}
CUresult ctx_synchronize_v2(CUcontext context) {
    return answer("cuCtxSynchronize_v2", [&] { wait_for_context(named_or_current(context)); });
}
CUresult ctx_enable_peer_access(CUcontext peer, unsigned flags) {
    return answer_in_context("cuCtxEnablePeerAccess", [&] {
        const int device = context_of(peer).device;
        through([=] { return cudaDeviceEnablePeerAccess(device, flags); });
    });
}
CUresult ctx_disable_peer_access(CUcontext peer) {
    return answer_in_context("cuCtxDisablePeerAccess", [&] {
        const int device = context_of(peer).device;
        through([=] { return cudaDeviceDisablePeerAccess(device); });
    });
}

CUresult stream_get_ctx(CUstream stream, CUcontext* context) {
    return answer("cuStreamGetCtx", [&] {
        require_pointer(context, "pctx");
        require_context_of(stream);
        const CUcontext own = stream_of(stream).context();
        *context = own != nullptr ? own : current_context();
    });
}

// Green contexts: each has a part of its device's multiprocessors, which only its properties show.

namespace {

// New in CUDA 12.5.
constexpr auto invalid_resource_type = static_cast<cudaError_t>(914);
constexpr auto invalid_resource_configuration = static_cast<cudaError_t>(915);

constexpr unsigned least_partition = 8; // of compute capability 9.0
constexpr unsigned least_scattered = 2;
constexpr unsigned ignore_coscheduling = 1; // named from CUDA 12.6 on

CUcontext context_of_green(CUgreenCtx green) {
    const auto context = reinterpret_cast<CUcontext>(green);
    if (green == nullptr) fail(cudaErrorInvalidValue, "the green context is NULL");
    if (is_primary(context) || !context_of(context).is_green)
        fail(cudaErrorInvalidValue, text(context, " is no green context"));
    return context;
}

// The multiprocessors of a resource stand in the part of it that CUDA keeps for itself.
static_assert(sizeof(MultiprocessorSet) <= sizeof(CUdevResource::_internal_padding));
static_assert(std::is_trivially_copyable_v<MultiprocessorSet>);

MultiprocessorSet set_of(const CUdevResource& resource) noexcept {
    MultiprocessorSet set;
    std::memcpy(static_cast<void*>(&set), resource._internal_padding, sizeof set);
    return set;
}
MultiprocessorSet all_multiprocessors() {
    MultiprocessorSet all;
    for (std::size_t i = 0; i < std::min(all.size(), static_cast<std::size_t>(multiprocessors())); ++i)
        all.set(i);
    return all;
}
/// Takes the first `count` multiprocessors from `set`.
MultiprocessorSet take_first(MultiprocessorSet& set, unsigned count) noexcept {
    MultiprocessorSet taken;
    for (std::size_t i = 0; i < set.size() && count != 0; ++i) {
        if (!set[i]) continue;
        set.reset(i);
        taken.set(i);
        --count;
    }
    return taken;
}

CUdevResource multiprocessor_resource(unsigned count, const MultiprocessorSet& set) {
    CUdevResource resource{};
    std::memcpy(static_cast<void*>(resource._internal_padding), &set, sizeof set);
    resource.type = CU_DEV_RESOURCE_TYPE_SM;
    resource.sm.smCount = count;
#if CUDA_VERSION >= 13000
    resource.sm.minSmPartitionSize = least_partition;
    resource.sm.smCoscheduledAlignment = least_partition;
#endif
    return resource;
}

void require_multiprocessors(const CUdevResource& resource) {
    if (number_in(resource.type) != CU_DEV_RESOURCE_TYPE_SM || resource.sm.smCount == 0 ||
        resource.sm.smCount > static_cast<unsigned>(multiprocessors()))
        fail(invalid_resource_type, "the resource has no multiprocessors of this device");
}

/// The resource of queues, which headers have from 13.1 on.
struct WorkqueueConfig {
    int type;
    unsigned char padding[92];
    int device;
    unsigned concurrency;
    int scope;
};
static_assert(offsetof(WorkqueueConfig, device) == offsetof(CUdevResource, sm));
constexpr int workqueue_config = 1000; // CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG
constexpr int workqueues_since = 13010;
constexpr unsigned most_workqueues = 8; // CUDA_DEVICE_MAX_CONNECTIONS, unless set

bool is_workqueue_config(int type) noexcept {
    return type == workqueue_config && driver_version() >= workqueues_since;
}

/// Work here has no queues of its own: the values are checked, and reported again.
WorkqueueConfig required_workqueues(const CUdevResource& resource) {
    WorkqueueConfig config{};
    std::memcpy(&config, &resource, sizeof config);
    require_device(config.device);
    if (config.concurrency == 0 || config.scope < 0 || config.scope > 1)
        fail(invalid_resource_configuration, "wqConcurrencyLimit must not be 0, and sharingScope be a known one");
    return config;
}

/// `context` tells the multiprocessors, and the queues if there are any of its own.
void give_resource(CUdevResource* resource, CUdevResourceType type, const DriverContext& context) {
    require_pointer(resource, "resource");
    if (is_workqueue_config(number_in(type))) {
        const bool has_own = context.concurrency != 0;
        const WorkqueueConfig config{
            workqueue_config, {}, context.device, has_own ? context.concurrency : most_workqueues, context.scope};
        *resource = CUdevResource{};
        std::memcpy(static_cast<void*>(resource), &config, sizeof config);
        return;
    }
    if (number_in(type) != CU_DEV_RESOURCE_TYPE_SM)
        fail(invalid_resource_type, text("cudart-cpu has no resource of type ", number_in(type)));
    *resource =
        multiprocessor_resource(context.multiprocessors, context.is_green ? context.set : all_multiprocessors());
}

struct Descriptor {
    unsigned multiprocessors = 0;
    unsigned concurrency = 0;
    int scope = 0;
    MultiprocessorSet set{};
};

/// Never released, like the driver's: nothing ends them.
HandleTable<Descriptor, CUdevResourceDesc>& descriptors() {
    static auto& table = *new HandleTable<Descriptor, CUdevResourceDesc>;
    return table;
}

} // namespace

CUresult device_get_dev_resource(CUdevice device, CUdevResource* resource, CUdevResourceType type) {
    return answer("cuDeviceGetDevResource", [&] {
        require_device(device);
        give_resource(resource, type, {device, 0, static_cast<unsigned>(multiprocessors())});
    });
}
CUresult ctx_get_dev_resource(CUcontext context, CUdevResource* resource, CUdevResourceType type) {
    return answer("cuCtxGetDevResource", [&] { give_resource(resource, type, context_of(context)); });
}
CUresult green_ctx_get_dev_resource(CUgreenCtx green, CUdevResource* resource, CUdevResourceType type) {
    return answer("cuGreenCtxGetDevResource",
                  [&] { give_resource(resource, type, context_of(context_of_green(green))); });
}
CUresult dev_sm_resource_split_by_count(CUdevResource* results, unsigned* groups, const CUdevResource* input,
                                        CUdevResource* remaining, unsigned flags, unsigned least) {
    return answer("cuDevSmResourceSplitByCount", [&] {
        require_pointer(groups, "nbGroups");
        require_pointer(input, "input");
        require_multiprocessors(*input);
        const unsigned all = input->sm.smCount;
        const unsigned asked = std::max(least, 1u);
        const bool is_scattered = (flags & ignore_coscheduling) != 0;
        const unsigned unit = is_scattered ? least_scattered : least_partition;
        if (asked > all)
            fail(invalid_resource_configuration, text("parts of ", asked, " multiprocessors do not fit into ", all));
        const unsigned size = std::min((asked + unit - 1) / unit * unit, all);
        const unsigned fitting = all / size;
        if (results == nullptr) {
            *groups = fitting;
            return;
        }
        *groups = std::min(*groups, fitting);
        MultiprocessorSet rest = set_of(*input);
        for (unsigned i = 0; i < *groups; ++i)
            results[i] = multiprocessor_resource(size, take_first(rest, size));
        if (remaining == nullptr) return;
        const unsigned left = all - *groups * size;
        *remaining = left == 0 ? CUdevResource{} : multiprocessor_resource(left, rest);
    });
}
CUresult dev_resource_generate_desc(CUdevResourceDesc* descriptor, CUdevResource* resources, unsigned count) {
    return answer("cuDevResourceGenerateDesc", [&] {
        require_pointer(descriptor, "phDesc");
        require_pointer(resources, "resources");
        if (count == 0) fail(cudaErrorInvalidValue, "a descriptor needs a resource");
        Descriptor total;
        for (unsigned i = 0; i < count; ++i) {
            if (is_workqueue_config(number_in(resources[i].type))) {
                const WorkqueueConfig config = required_workqueues(resources[i]);
                total.concurrency = config.concurrency;
                total.scope = config.scope;
                continue;
            }
            require_multiprocessors(resources[i]);
            total.set |= set_of(resources[i]);
            total.multiprocessors += resources[i].sm.smCount;
        }
        total.multiprocessors = std::min(total.multiprocessors, static_cast<unsigned>(multiprocessors()));
        *descriptor = descriptors().add(std::make_shared<Descriptor>(total));
    });
}
CUresult green_ctx_create(CUgreenCtx* green, CUdevResourceDesc descriptor, CUdevice device, unsigned flags) {
    return answer("cuGreenCtxCreate", [&] {
        require_pointer(green, "phCtx");
        require_device(device);
        if (flags != CU_GREEN_CTX_DEFAULT_STREAM)
            fail(cudaErrorInvalidValue, "flags must be CU_GREEN_CTX_DEFAULT_STREAM");
        const auto found = descriptors().find(descriptor);
        if (!found) fail(cudaErrorInvalidValue, "the descriptor of resources is none");
        *green = reinterpret_cast<CUgreenCtx>(
            make_context({device, 0, found->multiprocessors, true, found->concurrency, found->scope, found->set}));
    });
}
CUresult green_ctx_destroy(CUgreenCtx green) {
    return answer("cuGreenCtxDestroy", [&] {
        const CUcontext context = context_of_green(green);
        wait_for_context(context);
        end_context(context);
    });
}
CUresult ctx_from_green_ctx(CUcontext* context, CUgreenCtx green) {
    return answer("cuCtxFromGreenCtx", [&] {
        require_pointer(context, "pContext");
        *context = context_of_green(green);
    });
}
CUresult green_ctx_stream_create(CUstream* stream, CUgreenCtx green, unsigned flags, int priority) {
    return answer("cuGreenCtxStreamCreate", [&] {
        require_pointer(stream, "phStream");
        if (flags != CU_STREAM_NON_BLOCKING)
            fail(cudaErrorInvalidValue, "streams of green contexts are CU_STREAM_NON_BLOCKING");
        within_context(context_of_green(green),
                       [&] { return through([&] { return cudaStreamCreateWithPriority(stream, flags, priority); }); });
    });
}
CUresult stream_get_green_ctx(CUstream stream, CUgreenCtx* green) {
    return answer("cuStreamGetGreenCtx", [&] {
        require_pointer(green, "phCtx");
        const CUcontext context = stream_of(stream).context();
        const bool is_green = context != nullptr && context_of(context).is_green;
        *green = is_green ? reinterpret_cast<CUgreenCtx>(context) : nullptr;
    });
}
CUresult stream_get_ctx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green) {
    return answer("cuStreamGetCtx_v2", [&] {
        require_pointer(context, "pCtx");
        require_pointer(green, "pGreenCtx");
        require_context_of(stream);
        const CUcontext own = stream_of(stream).context();
        const CUcontext found = own != nullptr ? own : current_context();
        const bool is_green = context_of(found).is_green;
        *context = is_green ? primary_context(context_of(found).device) : found;
        *green = is_green ? reinterpret_cast<CUgreenCtx>(found) : nullptr;
    });
}
CUresult green_ctx_get_id(CUgreenCtx green, unsigned long long* id) {
    return answer("cuGreenCtxGetId", [&] {
        require_pointer(id, "greenCtxId");
        *id = reinterpret_cast<std::uintptr_t>(context_of_green(green));
    });
}

// Whole contexts recorded and waited for: here, all streams of the device.

namespace {

void record_context(CUcontext context, CUevent event) {
    within_context(context, [&] {
        Event& target = event_of(event);
        record(target, stream_of(CU_STREAM_LEGACY));
    });
}
void wait_in_context(CUcontext context, CUevent event) {
    within_context(context, [&] { wait(stream_of(CU_STREAM_LEGACY), event_of(event)); });
}

} // namespace

CUresult ctx_record_event(CUcontext context, CUevent event) {
    return answer("cuCtxRecordEvent", [&] { record_context(named_or_current(context), event); });
}
CUresult ctx_wait_event(CUcontext context, CUevent event) {
    return answer("cuCtxWaitEvent", [&] { wait_in_context(named_or_current(context), event); });
}
CUresult green_ctx_record_event(CUgreenCtx green, CUevent event) {
    return answer("cuGreenCtxRecordEvent", [&] { record_context(context_of_green(green), event); });
}
CUresult green_ctx_wait_event(CUgreenCtx green, CUevent event) {
    return answer("cuGreenCtxWaitEvent", [&] { wait_in_context(context_of_green(green), event); });
}

} // namespace cudart_cpu::detail::driver

std::vector<unsigned> cudart_cpu::multiprocessors_of(void* green_context) {
    using namespace cudart_cpu::detail;
    std::vector<unsigned> numbers;
    try {
        const DriverContext context = context_of(static_cast<CUcontext>(green_context));
        for (std::size_t i = 0; context.is_green && i < context.set.size(); ++i)
            if (context.set[i]) numbers.push_back(static_cast<unsigned>(i));
    } catch (const Failure&) { // it has ended
    }
    return numbers;
}
