// The numbers of green contexts, which stand in place of a device.
#include "numbered_contexts.hpp"

#include "driver.hpp"
#include "failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

namespace cudag::detail {

namespace {

/// The green contexts that cudag made and that are alive.
class ContextNumbers {
  public:
    int add(const NumberedContext& context) {
        const std::scoped_lock lock(mutex_);
        alive_.emplace(next_, context);
        return next_--;
    }
    void remove(int number) noexcept {
        const std::scoped_lock lock(mutex_);
        alive_.erase(number);
    }
    [[nodiscard]] std::optional<NumberedContext> find(int number) const {
        const std::scoped_lock lock(mutex_);
        const auto found = alive_.find(number);
        return found == alive_.end() ? std::nullopt : std::optional(found->second);
    }
    [[nodiscard]] int number_of(CUcontext context) const {
        const std::scoped_lock lock(mutex_);
        const auto found =
            std::ranges::find_if(alive_, [&](const auto& each) { return each.second.context == context; });
        return found == alive_.end() ? 0 : found->first;
    }

  private:
    mutable std::mutex mutex_;
    std::map<int, NumberedContext> alive_;
    int next_ = -2; // below any_device
};

ContextNumbers& context_numbers() {
    static auto* const numbers = new ContextNumbers; // contexts may go after main()
    return *numbers;
}

} // namespace

int number_context(const NumberedContext& context) {
    return context_numbers().add(context);
}
void forget_context(int number) noexcept {
    context_numbers().remove(number);
}

NumberedContext context_numbered(int number) {
    const std::optional<NumberedContext> found = context_numbers().find(number);
    if (!found)
        refuse(fmt::format("green context {} is destroyed; keep a copy of it as long as nodes are added to it",
                           shown_number(number)),
               {}, cudaErrorContextIsDestroyed);
    return *found;
}

int device_behind(int device) {
    return is_context_number(device) ? context_numbered(device).device : device;
}

std::string numbered_name(CUcontext context) {
    const int number = context_numbers().number_of(context);
    return number == 0 ? std::string() : numbered_name(number);
}

std::string numbered_name(int number) {
    std::string name = fmt::format("green context {}", shown_number(number));
    if (const auto found = context_numbers().find(number))
        name += fmt::format(" ({} multiprocessors)", found->multiprocessors);
    return name;
}

std::string place_name(int device) {
    return is_context_number(device) ? numbered_name(device) : fmt::format("device {}", device);
}

PlaceGuard::PlaceGuard(int device) {
    if (is_context_number(device)) {
        push_numbered_context(device);
        is_pushed_ = true;
        return;
    }
    int current = 0;
    checked<GraphError>(cudaGetDevice(&current), "cudaGetDevice");
    if (device == current) return;
    checked<GraphError>(cudaSetDevice(device), "cudaSetDevice");
    previous_ = current;
}

PlaceGuard::~PlaceGuard() {
    if (is_pushed_) pop_context();
    if (previous_ >= 0) report_release(cudaSetDevice(previous_), "cudaSetDevice");
}

void push_numbered_context(int number) {
    bind_context(); // so that the caller's context is current again afterwards
    checked_driver<GraphError>(driver().ctx_push_current(context_numbered(number).context), "cuCtxPushCurrent");
}

void pop_context() noexcept {
    CUcontext popped = nullptr;
    report_release(to_runtime(driver().ctx_pop_current(&popped)), "cuCtxPopCurrent");
}

} // namespace cudag::detail
