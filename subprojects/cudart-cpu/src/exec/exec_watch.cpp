// Checks of nodes: writes outside their declared memory, missing waits for previous kernels.
#include "exec_watch.hpp"

#include "exec_model.hpp"
#include "kernel/grid_dependencies.hpp"
#include "memory/memory.hpp"
#include "runtime/call.hpp"
#include "runtime/checks.hpp"
#include "runtime/kernel_failure.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <utility>

namespace cudart_cpu::detail {

namespace {

enum class Wish { none, watch, rest };
std::atomic<Wish> wish = Wish::none; ///< the wish of the last call

/// A range of device memory, as it was before the work.
struct Before {
    const char* begin;
    std::vector<char> bytes;
};

const char* begin_of(const NodeRegion& region) {
    return reinterpret_cast<const char*>(region.begin);
}
std::size_t extent_of(const NodeRegion& region) {
    return (region.slices - 1) * region.slice_pitch + (region.rows - 1) * region.pitch + region.row_bytes;
}

bool contains(const NodeRegion& region, const char* byte) {
    if (byte < begin_of(region)) return false;
    auto at = static_cast<std::size_t>(byte - begin_of(region));
    if (at >= extent_of(region)) return false;
    if (region.slices > 1) at %= region.slice_pitch;
    if (region.rows > 1) at %= region.pitch;
    return at < region.row_bytes;
}

class WatchedWork final : public Work {
  public:
    WatchedWork(WorkPointer work, std::shared_ptr<const DeclaredNode> node, std::shared_ptr<const DeclaredNodes> nodes)
        : work_(std::move(work)), node_(std::move(node)), nodes_(std::move(nodes)) {}

    cudaGraphNodeType type() const noexcept override { return work_->type(); }
    std::string title() const override { return work_->title(); }

    void run() const override {
        const std::vector<Before> before = look();
        work_->run();
        for (const Before& range : before)
            compare(range);
    }

  private:
    /// Copies the declared and allocated memory, each byte once.
    std::vector<Before> look() const {
        std::vector<std::pair<const char*, const char*>> ranges;
        for (const auto& node : *nodes_)
            for (const NodeRegion& region : node->regions) {
                const std::optional<Range> memory = find_allocation(begin_of(region));
                if (!memory) continue;
                const char* const end = static_cast<const char*>(memory->base) + memory->bytes;
                ranges.emplace_back(begin_of(region), std::min(begin_of(region) + extent_of(region), end));
            }
        std::ranges::sort(ranges);
        std::vector<Before> before;
        const char* seen = nullptr;
        for (auto [begin, end] : ranges) {
            begin = std::max(begin, seen);
            if (begin >= end) continue;
            before.push_back({begin, {begin, end}});
            seen = end;
        }
        return before;
    }

    void compare(const Before& range) const {
        if (std::memcmp(range.begin, range.bytes.data(), range.bytes.size()) == 0) return;
        const auto may_write = [this](const char* byte) {
            return std::ranges::any_of(
                node_->regions, [&](const NodeRegion& region) { return region.is_written && contains(region, byte); });
        };
        for (std::size_t i = 0; i < range.bytes.size(); ++i)
            if (range.begin[i] != range.bytes[i] && !may_write(range.begin + i)) {
                set_kernel_failure(cudaErrorLaunchFailure,
                                   text(node_->name, " has written at ", static_cast<const void*>(range.begin + i),
                                        ", which is outside the memory that it was declared to write"));
                return;
            }
    }

    WorkPointer work_;
    std::shared_ptr<const DeclaredNode> node_;
    std::shared_ptr<const DeclaredNodes> nodes_;
};

class WaitingWork final : public Work {
  public:
    WaitingWork(WorkPointer work, std::shared_ptr<const std::string> name)
        : work_(std::move(work)), name_(std::move(name)) {}

    cudaGraphNodeType type() const noexcept override { return work_->type(); }
    std::string title() const override { return work_->title(); }

    void run() const override {
        std::atomic<bool> has_waited = false;
        const std::function<void()>* const outer = current_grid_dependencies();
        const std::function<void()> wait = [&] {
            has_waited = true;
            if (outer != nullptr) (*outer)();
        };
        {
            const GridDependencyScope scope(&wait);
            work_->run();
        }
        if (!has_waited && kernel_failure() == cudaSuccess)
            set_kernel_failure(cudaErrorLaunchFailure,
                               text(*name_, " is declared to wait for the kernels before it, but this launch has not "
                                            "called cudaGridDependencySynchronize"));
    }

  private:
    WorkPointer work_;
    std::shared_ptr<const std::string> name_;
};

} // namespace

bool watches_writes() noexcept {
    const Wish last = wish.load(std::memory_order_relaxed);
    return last == Wish::none ? checks_writes() : last == Wish::watch;
}

WorkPointer watched(WorkPointer work, std::shared_ptr<const DeclaredNode> node,
                    std::shared_ptr<const DeclaredNodes> nodes) {
    return std::make_shared<WatchedWork>(std::move(work), std::move(node), std::move(nodes));
}

WorkPointer checked_for_wait(WorkPointer work, std::shared_ptr<const std::string> name) {
    return std::make_shared<WaitingWork>(std::move(work), std::move(name));
}

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API bool cudart_cpu_watches_writes() {
    return watches_writes();
}

CUDART_CPU_API void cudart_cpu_watch_writes(bool watches) {
    wish = watches ? Wish::watch : Wish::rest;
}

CUDART_CPU_API void cudart_cpu_declare_node(cudaGraphExec_t exec, cudaGraphNode_t node, const char* name,
                                            const cudart_cpu::NodeRegion* regions, std::size_t count) {
    static_cast<void>(graph_api("cudart_cpu_declare_node", [&] {
        auto declared = std::make_shared<DeclaredNode>(DeclaredNode{name, {regions, regions + count}});
        std::erase_if(declared->regions, [](const cudart_cpu::NodeRegion& region) {
            return region.row_bytes == 0 || region.rows == 0 || region.slices == 0;
        });
        exec_of(exec).declare(node, std::move(declared));
    }));
}

CUDART_CPU_API void cudart_cpu_forget_declarations(cudaGraphExec_t exec) {
    static_cast<void>(graph_api("cudart_cpu_forget_declarations", [&] { exec_of(exec).forget_declarations(); }));
}

// No call of CUDA's: it leaves no error. If there is no memory for it, the launch is not checked.
CUDART_CPU_API void cudart_cpu_declare_wait(cudaGraphExec_t exec, cudaGraphNode_t node, const char* name) {
    try {
        under_graph_lock([&] { exec_of(exec).declare_wait(node, std::make_shared<const std::string>(name)); });
    } catch (...) {
        return;
    }
}
