// The driver's contexts: which there are, and those of each thread.
#include "contexts.hpp"

#include "call.hpp"
#include "device_model.hpp"
#include "device_settings.hpp"
#include "handle_table.hpp"
#include "text.hpp"

#include <atomic>
#include <optional>

namespace cudart_cpu::detail {

namespace {

struct Primary {
    std::atomic<int> references{0};
    std::atomic<bool> used{false};
};
Primary primaries[max_devices]; // their addresses are the handles

HandleTable<DriverContext, CUcontext>& made_contexts() {
    static auto& table = *new HandleTable<DriverContext, CUcontext>;
    return table;
}

/// The driver's choice for this thread; null for the primary context of the current device.
thread_local CUcontext chosen = nullptr;
/// The context of new nodes, if not the current one.
thread_local const CUcontext* given_to_nodes = nullptr;
/// The contexts below the current one.
thread_local std::vector<CUcontext> below;

std::optional<int> device_of_primary(CUcontext handle) noexcept {
    for (std::size_t device = 0; device < device_count(); ++device)
        if (handle == primary_context(static_cast<int>(device))) return static_cast<int>(device);
    return std::nullopt;
}

void choose(CUcontext handle) {
    set_current_device(context_of(handle).device);
    chosen = is_primary(handle) ? nullptr : handle;
    bind_context();
}

} // namespace

CUcontext primary_context(int device) noexcept {
    return reinterpret_cast<CUcontext>(&primaries[device]);
}

CUcontext make_context(const DriverContext& context) {
    return made_contexts().add(std::make_shared<DriverContext>(context));
}

void end_context(CUcontext handle) {
    if (!made_contexts().take(handle))
        fail(cudaErrorDeviceUninitialized, text("context ", handle, " is not alive, or a primary one"));
    if (chosen == handle) pop_context();
    std::erase(below, handle);
}

DriverContext context_of(CUcontext handle) {
    if (const std::optional<int> device = device_of_primary(handle))
        return {*device, device_flags(*device), static_cast<unsigned>(multiprocessors())};
    const std::shared_ptr<DriverContext> context = made_contexts().find(handle);
    if (!context) fail(cudaErrorDeviceUninitialized, text("context ", handle, " is not alive"));
    return *context;
}

bool is_primary(CUcontext handle) noexcept {
    return device_of_primary(handle).has_value();
}

CUcontext current_context() noexcept {
    if (!has_context()) return nullptr;
    return chosen != nullptr ? chosen : primary_context(current_device());
}

void require_current_context() {
    if (!has_context()) fail(cudaErrorDeviceUninitialized, "this thread has no context");
    if (chosen != nullptr && !made_contexts().find(chosen))
        fail(cudaErrorContextIsDestroyed, text("this thread's context, ", chosen, ", was destroyed"));
}

CUcontext context_for_nodes() noexcept {
    return given_to_nodes != nullptr ? *given_to_nodes : chosen;
}

CUcontext separate_context(CUcontext handle) {
    if (is_primary(handle)) return nullptr;
    context_of(handle); // throws
    return handle;
}

NodesInContext::NodesInContext(CUcontext handle) noexcept
    : previous_(given_to_nodes), context_(handle != nullptr && is_primary(handle) ? nullptr : handle) {
    given_to_nodes = &context_;
}
NodesInContext::~NodesInContext() {
    given_to_nodes = previous_;
}

void set_current_context(CUcontext handle) {
    if (handle != nullptr) return choose(handle);
    if (has_context()) pop_context();
}

void push_context(CUcontext handle) {
    context_of(handle); // throws
    if (has_context()) below.push_back(current_context());
    choose(handle);
}

CUcontext pop_context() {
    if (!has_context()) fail(cudaErrorDeviceUninitialized, "this thread has no context");
    const CUcontext popped = current_context();
    chosen = nullptr;
    if (below.empty()) {
        unbind_context();
        return popped;
    }
    const CUcontext next = below.back();
    below.pop_back();
    choose(next);
    return popped;
}

void choose_primary_context() noexcept {
    chosen = nullptr;
}

void retain_primary(int device) noexcept {
    ++primaries[device].references;
}

bool release_primary(int device) noexcept {
    int references = primaries[device].references;
    while (references > 0)
        if (primaries[device].references.compare_exchange_weak(references, references - 1)) return true;
    return false;
}

void note_primary_use(int device) noexcept {
    primaries[device].used.store(true, std::memory_order_relaxed);
}

void forget_primary_use(int device) noexcept {
    primaries[device].references = 0;
    primaries[device].used = false;
}

bool is_primary_active(int device) noexcept {
    return primaries[device].references > 0 || primaries[device].used;
}

} // namespace cudart_cpu::detail
