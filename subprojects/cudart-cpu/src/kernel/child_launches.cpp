// Kernels launched by a kernel (dynamic parallelism): they run when the kernel's grid has ended.
#include "child_launches.hpp"

#include "grid_run.hpp"
#include "runtime/device_model.hpp"
#include "runtime/kernel_failure.hpp"
#include "runtime/round_up.hpp"
#include "translated_modules.hpp"

#include <utility>
#include <vector>

namespace cudart_cpu::detail {

namespace {

bool is_configuration(dim3 grid, dim3 block, unsigned shared_bytes) {
    return grid.x != 0 && grid.y != 0 && grid.z != 0 && block.x != 0 && block.y != 0 && block.z != 0 &&
           std::size_t{block.x} * block.y * block.z <= max_threads_per_block && grid.x <= max_grid[0] &&
           grid.y <= max_grid[1] && grid.z <= max_grid[2] && shared_bytes <= static_cast<unsigned>(optin_shared_limit);
}

/// The places of the parameters in their buffer, as the launching code has them.
std::vector<void*> places(const ptx::KernelRow& kernel, std::byte* params) {
    std::vector<void*> all;
    std::size_t at = 0;
    for (ptx::u32 i = 0; i < kernel.param_count; ++i) {
        at = round_up(at, kernel.params[2 * i + 1]);
        all.push_back(params + at);
        at += kernel.params[2 * i];
    }
    return all;
}

} // namespace

std::size_t ChildLaunches::params_bytes(const ptx::KernelRow& kernel) {
    std::size_t bytes = 0;
    for (ptx::u32 i = 0; i < kernel.param_count; ++i)
        bytes = round_up(bytes, kernel.params[2 * i + 1]) + kernel.params[2 * i];
    return bytes;
}

void* ChildLaunches::prepare(const void* kernel, dim3 grid, dim3 block, unsigned shared_bytes) {
    const auto [module, row] = find_kernel_by_code(kernel);
    if (row == nullptr || !is_configuration(grid, block, shared_bytes)) return nullptr;
    auto params = std::make_unique<std::byte[]>(round_up(params_bytes(*row) + 1, 64));
    void* const place = params.get();
    const std::lock_guard lock(mutex_);
    prepared_.emplace(place, ChildLaunch{module, row, grid, block, shared_bytes, std::move(params)});
    return place;
}

const ptx::KernelRow* ChildLaunches::kernel_of(void* params) {
    const std::lock_guard lock(mutex_);
    const auto found = prepared_.find(params);
    return found == prepared_.end() ? nullptr : found->second.kernel;
}

bool ChildLaunches::launch(void* params, bool is_tail) {
    const std::lock_guard lock(mutex_);
    const auto found = prepared_.find(params);
    if (found == prepared_.end()) return false;
    (is_tail ? tail_ : now_).push_back(std::move(found->second));
    prepared_.erase(found);
    return true;
}

bool ChildLaunches::take(ChildLaunch& next) {
    const std::lock_guard lock(mutex_);
    std::list<ChildLaunch>& from = now_.empty() ? tail_ : now_;
    if (from.empty()) return false;
    next = std::move(from.front());
    from.pop_front();
    return true;
}

void ChildLaunches::run() {
    ChildLaunch next{};
    while (!has_kernel_failed() && take(next)) {
        const std::vector<void*> args = places(*next.kernel, next.params.get());
        LaunchExtent extent;
        extent.shared_bytes = next.shared_bytes;
        std::make_shared<GridRun>(*next.module, *next.kernel, next.grid, next.block, extent, args.data())->run();
    }
}

} // namespace cudart_cpu::detail
