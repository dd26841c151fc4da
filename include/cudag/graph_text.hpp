// Graphs as text: written, compared with graphs, and built again in another process.
#pragma once

#include <cudag/config.hpp>
#include <cudag/detail/condition_kernels.hpp>
#include <cudag/detail/graph_names.hpp>
#include <cudag/detail/host_task.hpp>
#include <cudag/detail/kernel_call.hpp>
#include <cudag/detail/operand.hpp>
#include <cudag/detail/passkey.hpp>
#include <cudag/diff.hpp>
#include <cudag/event.hpp>
#include <cudag/external_semaphore.hpp>
#include <cudag/function.hpp>
#include <cudag/graph.hpp>
#include <cudag/library.hpp>
#include <cudag/plan.hpp>
#include <cudag/source_location.hpp>

#include <cuda_runtime_api.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudag {

/// The names of what graphs use: memory, kernels, host functions, events, semaphores and arrays. A text has these names
/// in place of addresses and handles; `load` looks them up.
///
///     cudag::GraphNames names;
///     names.memory("x", x).memory("host", host).kernel(scale);
///     std::string text = to_text(graph, names); // "argument 0: x"
///
/// Names of memory, events, semaphores and arrays are words such as `x`, `layer.3/k`: a letter or `_`, then letters,
/// digits and any of `_.-/[]`. Others are texts in one line. Each name is given once. A call that breaks a rule throws
/// GraphError and adds nothing. DeviceBuffers, PinnedBuffers and shared_ptrs stay alive with these names, and with the
/// graphs loaded by them; all else is borrowed. Threads: const calls may run concurrently.
class CUDAG_EXPORT GraphNames {
  public:
    /// Names a range of memory: a DeviceBuffer, PinnedBuffer, DeviceSpan or host range, or a shared_ptr to one.
    template <class Memory>
    GraphNames& memory(std::string name, Memory&& memory) { // cudag: memory(name, range) names memory of known size
        if constexpr (detail::require_operand<Memory>()) {
            detail::Owners owners;
            const auto operand = detail::to_operand(memory, 0, owners);
            add(detail::NamedMemory{std::move(name), const_cast<void*>(static_cast<const volatile void*>(operand.data)),
                                    operand.size * sizeof(*operand.data), std::move(owners)});
        }
        return *this;
    }
    /// Names `bytes` bytes at `address`.
    GraphNames& memory(std::string name, void* address, std::size_t bytes) {
        add(detail::NamedMemory{std::move(name), address, bytes, {}});
        return *this;
    }

    /// Names a kernel. Without a name, it has its own, as in CUDA's tools: "scale<float>".
    template <class... Parameter>
    GraphNames& kernel(std::string name, void (*function)(Parameter...)) { // cudag: kernel(name, kernel)
        add(detail::NamedKernel{std::move(name), detail::kernel_symbol(function),
                                &detail::SignatureOf<Parameter...>::value, std::nullopt});
        return *this;
    }
    template <class... Parameter>
    GraphNames& kernel(void (*function)(Parameter...)) {
        return kernel(std::string(), function);
    }
    GraphNames& kernel(std::string name, const Function& function) {
        add(detail::NamedKernel{std::move(name), nullptr, nullptr, function});
        return *this;
    }
    GraphNames& kernel(const Function& function) { return kernel(std::string(), function); }
    /// Names all kernels of a library as CUDA's tools do.
    GraphNames& library(const Library& library);

    /// Names a function for host nodes. In a text, a host node has the name of its function or, if that has none, its
    /// label.
    template <class Callable>
    requires std::invocable<std::decay_t<Callable>&>
    GraphNames& host(std::string name, Callable&& callable) {
        add(detail::NamedHost{std::move(name), nullptr, nullptr,
                              std::make_shared<detail::HostTask>(detail::host_task(std::forward<Callable>(callable)))});
        return *this;
    }
    /// Names a call of `cudaLaunchHostFunc`, as captured host nodes have it.
    GraphNames& host(std::string name, cudaHostFn_t function, void* data) {
        add(detail::NamedHost{std::move(name), function, data, nullptr});
        return *this;
    }

    GraphNames& event(std::string name, const Event& event) { return this->event(std::move(name), event.get()); }
    GraphNames& event(std::string name, cudaEvent_t event) {
        add(detail::NamedHandle{std::move(name), detail::HandleKind::event, event, nullptr});
        return *this;
    }
    GraphNames& semaphore(std::string name, const SemaphoreRef& semaphore) {
        add(detail::NamedHandle{std::move(name), detail::HandleKind::semaphore, semaphore.get(), semaphore.owner()});
        return *this;
    }
    GraphNames& array(std::string name, cudaArray_t array) {
        add(detail::NamedHandle{std::move(name), detail::HandleKind::array, array, nullptr});
        return *this;
    }

    /// Returns everything named, for cudag itself.
    [[nodiscard]] const detail::NameLists& lists(detail::Passkey) const noexcept { return lists_; }
    GraphNames(detail::Passkey, detail::NameLists&& lists) noexcept : lists_(std::move(lists)) {}
    GraphNames() = default;

  private:
    void add(detail::NamedMemory&& memory);
    void add(detail::NamedKernel&& kernel);
    void add(detail::NamedHost&& host);
    void add(detail::NamedHandle&& handle);

    detail::NameLists lists_;
};

struct GraphTextOptions {
    /// The plan to write, such as `exec.plan().plan()`, or that of a TunedPlan: `load` returns it.
    std::optional<Plan> plan = std::nullopt;
};

/// Returns the graph as text: each node with its label, parameters, declared accesses and predecessors, and the nodes
/// inside it. Equal graphs have equal texts, in every process. What `names` does not name gets numbered names, such as
/// `memory1`, in the order of the nodes; the format is on the page "Graphs as text". Reads a captured graph. Throws
/// GraphError for a moved-from or an inner graph.
[[nodiscard]] CUDAG_EXPORT std::string to_text(const Graph& graph, const GraphNames& names = {},
                                               const GraphTextOptions& options = {});

/// Returns all differences of a graph from an earlier text, as `diff` of two graphs does, with names in place of
/// addresses: `before` in a Difference is a node of `graph`, `after` is empty. Labels, plans and sizes of named memory
/// are no difference. Throws GraphError for a text that is none, with the wrong line.
///
///     std::string text = to_text(graph); // from a file
///     graph.update(graph.find_one(scale), cudag::arg<1>(3.0f));
///     for (const cudag::Difference& difference : cudag::diff(graph, text))
///         std::puts(to_string(difference).c_str());
[[nodiscard]] CUDAG_EXPORT std::vector<Difference> diff(const Graph& graph, std::string_view text,
                                                        const GraphNames& names = {});

/// A graph built from a text, and the plan of the text; the default plan if it has none.
struct LoadedGraph {
    Graph graph;
    Plan plan;
};

namespace detail {
[[nodiscard]] CUDAG_EXPORT LoadedGraph load_graph(std::string_view text, const GraphNames& names,
                                                  const SourceLocation& where);
} // namespace detail

/// Builds the graph of a text: the same nodes, labels, parameters, accesses and edges, with the memory and functions in
/// `names`. Races are not refused: see `Graph::races`.
///
///     cudag::GraphNames names = names_of(graph);
///     std::string text = to_text(graph, names);
///     auto [loaded, plan] = cudag::load(text, names);
///     exec = loaded.instantiate({.plan = plan});
///
/// Throws GraphError, with the line of the text, for:
///   - a text of no graph, or of another version
///   - a name without its entry in `names`
///   - a node without a description in texts
/// and as GraphBuilder does for its calls.
[[nodiscard]] inline LoadedGraph load(std::string_view text, const GraphNames& names,
                                      SourceLocation location = SourceLocation::current()) {
    detail::know_condition_kernels();
    return detail::load_graph(text, names, location);
}

/// Returns `names`, and in addition names for everything else that the graph uses: `load` then builds a copy in this
/// process, even of graphs that CUDA cannot clone. Memory, events and host functions are borrowed from `graph`.
[[nodiscard]] CUDAG_EXPORT GraphNames names_of(const Graph& graph, const GraphNames& names = {});

} // namespace cudag
