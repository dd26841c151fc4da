// The uses of a BufferParam's memory by nodes, and the addresses in their parameters.
#include "buffer_uses.hpp"

#include "address_index.hpp"
#include "cuda/driver.hpp"
#include "cuda/failure.hpp"
#include "graph/construction.hpp"
#include "graph/graph_identity.hpp"
#include "graph/graph_tree.hpp"
#include "graph/names.hpp"
#include "graph/region_nodes.hpp"

#include <cudag/access.hpp>
#include <cudag/error.hpp>
#include <cudag/graph.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <compare>
#include <cstring>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

namespace cudag {

namespace detail {

namespace {

/// A node with, or around, uses of the memory, and the number of the first use.
struct UseHolder {
    std::uint32_t graph;
    std::uint32_t node;
    std::size_t use;

    friend auto operator<=>(const UseHolder&, const UseHolder&) = default;
};

/// Collects the uses of one BufferParam.
class UseFinder {
  public:
    UseFinder(const AddressIndex& index, const ParamMemory& param)
        : index_(index), param_(param), range_{param.address, param.address + param.bytes} {}

    [[nodiscard]] MemoryUses run() {
        for (const AddressWord& word : index_.words_in(range_))
            look_at(word);
        sort_words();
        look_at_ends();
        note_holders();
        index_.for_each_known(range_, [this](const KnownMemory& known) { look_at(known); });
        if (const auto opaque = index_.first_opaque()) add_obstacle(opaque->graph, opaque->node, Obstacle::opaque, 0);
        return result();
    }

  private:
    /// A use or an obstacle, with the place of its node.
    template <class T>
    struct Placed {
        std::uint32_t graph;
        std::uint32_t node;
        T value;
    };

    void look_at(const AddressWord& word) {
        if (word.kind == WordKind::freed)
            add_obstacle(word, Obstacle::freed);
        else if (word.kind == WordKind::part && !param_.in_objects)
            add_obstacle(word, Obstacle::object);
        else
            add_use(word);
    }
    void add_use(const AddressWord& word) {
        uses_.push_back({word.graph,
                         word.node,
                         {index_.place(word.graph, word.node), word.argument, word.at, word.address - param_.address,
                          word.bytes, word.kind == WordKind::part}});
    }
    void add_obstacle(const AddressWord& word, Obstacle kind) {
        add_obstacle(word.graph, word.node, kind, word.argument);
    }
    void add_obstacle(std::uint32_t graph, std::uint32_t node, Obstacle kind, std::uint32_t argument) {
        obstacles_.push_back({graph, node, {index_.place(graph, node), kind, argument}});
    }
    void sort_words() {
        std::sort(uses_.begin(), uses_.end(), [](const auto& a, const auto& b) {
            return std::tie(a.graph, a.node, a.value.argument, a.value.at) <
                   std::tie(b.graph, b.node, b.value.argument, b.value.at);
        });
    }

    /// Looks at pointers to the end: a kernel that uses the memory, and has such a pointer, takes it as [begin, end).
    void look_at_ends() {
        if (param_.end_pointers == EndPointers::not_bound) return;
        const std::size_t inside = uses_.size();
        for (const AddressWord& word : index_.words_in({range_.end, range_.end + 1})) {
            const bool is_of_kernel = word.kind == WordKind::address || word.kind == WordKind::part;
            if (!is_of_kernel || word.begins_memory || !uses_inside(word, inside)) continue;
            if (word.kind == WordKind::part && !param_.in_objects)
                add_obstacle(word, Obstacle::object);
            else if (param_.end_pointers == EndPointers::where_clear && may_begin_other_memory())
                add_obstacle(word, Obstacle::end);
            else
                add_use(word);
        }
        if (uses_.size() != inside) sort_words();
    }
    [[nodiscard]] bool uses_inside(const AddressWord& word, std::size_t count) const {
        const auto last = uses_.begin() + static_cast<std::ptrdiff_t>(count);
        const auto found = std::lower_bound(uses_.begin(), last, word, [](const auto& use, const AddressWord& w) {
            return std::tie(use.graph, use.node) < std::tie(w.graph, w.node);
        });
        return found != last && found->graph == word.graph && found->node == word.node;
    }
    /// Whether other memory begins, or continues, at the end of the parameter.
    [[nodiscard]] bool may_begin_other_memory() {
        if (!is_memory_at_end_) {
            bind_context();
            CUdeviceptr begin = 0;
            std::size_t bytes = 0;
            is_memory_at_end_ = index_.has_beginning(range_.end) ||
                                driver().mem_get_address_range(&begin, &bytes, range_.end) == CUDA_SUCCESS;
        }
        return *is_memory_at_end_;
    }

    void note_holders() {
        for (std::size_t i = 0; i < uses_.size(); ++i) {
            AddressIndex::Holder holder{uses_[i].graph, uses_[i].node};
            for (; holder.graph != AddressIndex::no_graph; holder = index_.holder(holder.graph))
                holders_.push_back({holder.graph, holder.node, i});
        }
        std::ranges::sort(holders_);
    }
    /// Returns the first use in nodes `first` to `last` of a graph, and inside them; null if there is none.
    [[nodiscard]] const UseHolder* find_use(std::uint32_t graph, std::uint32_t first, std::uint32_t last) const {
        const auto found = std::ranges::lower_bound(holders_, UseHolder{graph, first, 0});
        return found != holders_.end() && found->graph == graph && found->node <= last ? &*found : nullptr;
    }

    void look_at(const KnownMemory& known) {
        if (known.argument != whole_node) {
            const bool is_inside = known.block.begin >= range_.begin;
            if (!is_inside || !has_use_in(known))
                add_obstacle(known.graph, known.node, Obstacle::from_outside, known.argument);
            return;
        }
        const NodePlace place = index_.place(known.graph, known.node);
        const auto [first, last] = region_around(known, place);
        if (const UseHolder* const holder = find_use(known.graph, first, last))
            declared_.push_back({known.graph, known.node, {place, holder->use}});
        else
            add_obstacle(known.graph, known.node, Obstacle::declared, known.argument);
    }
    /// Whether the argument has an address inside the parameter's memory.
    [[nodiscard]] bool has_use_in(const KnownMemory& known) const {
        const auto key = [](const auto& use) { return std::tie(use.graph, use.node, use.value.argument); };
        const auto found = std::ranges::lower_bound(uses_, std::tie(known.graph, known.node, known.argument), {}, key);
        return found != uses_.end() && key(*found) == std::tie(known.graph, known.node, known.argument);
    }
    /// Returns the first and the last node of a joint declaration: all nodes of a captured region.
    static std::pair<std::uint32_t, std::uint32_t> region_around(const KnownMemory& known, const NodePlace& place) {
        if (known.unit == 0) return {known.node, known.node};
        for (const RegionNodes* region : construction_of(*place.graph).regions) {
            if (region->first + 1 != known.unit) continue;
            const std::uint32_t first =
                GraphIdentity::index_unchecked(identity_of(*place.graph).numbered(region->first));
            return {first, first + region->count - 1};
        }
        return {known.node, known.node};
    }

    [[nodiscard]] MemoryUses result() {
        const auto is_before = [](const auto& a, const auto& b) {
            return std::tie(a.graph, a.node) < std::tie(b.graph, b.node);
        };
        std::stable_sort(declared_.begin(), declared_.end(), is_before);
        std::stable_sort(obstacles_.begin(), obstacles_.end(), is_before);
        MemoryUses found;
        found.uses.reserve(uses_.size());
        for (const auto& use : uses_)
            found.uses.push_back(use.value);
        for (const auto& declared : declared_)
            if (found.declared.empty() || found.declared.back().place != declared.value.place)
                found.declared.push_back(declared.value);
        for (const auto& obstacle : obstacles_)
            found.obstacles.push_back(obstacle.value);
        return found;
    }

    const AddressIndex& index_;
    const ParamMemory& param_;
    AddressRange range_;
    std::vector<Placed<AddressUse>> uses_; ///< node by node
    std::vector<UseHolder> holders_;
    std::vector<Placed<DeclaredUse>> declared_;
    std::vector<Placed<ObstacleAt>> obstacles_;
    std::optional<bool> is_memory_at_end_; ///< empty before the first pointer to the end
};

} // namespace

MemoryUses uses_of(const GraphState& graph, const ParamMemory& param) {
    return UseFinder(*addresses_of(graph), param).run();
}

std::vector<std::uintptr_t> all_addresses(const GraphState& graph) {
    std::vector<std::uintptr_t> addresses;
    const std::shared_ptr<const AddressIndex> index = addresses_of(graph); // a graph under construction keeps none
    for (const AddressWord& word : index->words())
        addresses.push_back(word.address);
    return addresses;
}

const GraphState* recaptured_around(const NodePlace& place) noexcept {
    const GraphState* graph = place.graph;
    while (graph != nullptr && construction_of(*graph).recapture == nullptr)
        graph = tree_of(*graph).parent();
    return graph;
}

const GraphState* recaptured_at(const NodePlace& place) {
    if (const GraphState* const around = recaptured_around(place)) return around;
    for (const auto& inner : nested_in(*place.graph, place.index))
        if (construction_of(*inner).recapture != nullptr) return inner.get();
    return nullptr;
}

std::string describe_param(const ParamMemory& param) {
    return fmt::format("the parameter of {} bytes at {:#x}", param.bytes, param.address);
}

std::string describe_obstacle(const ObstacleAt& obstacle, const ParamMemory& param) {
    const std::uintptr_t end = param.address + param.bytes;
    switch (obstacle.kind) {
    case Obstacle::opaque:
        return fmt::format("cudag did not make this node and CUDA does not describe it, so that it may use {}",
                           describe_param(param));
    case Obstacle::object:
        return fmt::format("argument {} has an address inside {} in an object or a number", obstacle.argument,
                           describe_param(param));
    case Obstacle::end:
        return fmt::format("argument {} is {:#x}, the end of {}, and other memory begins or goes on there",
                           obstacle.argument, end, describe_param(param));
    case Obstacle::from_outside:
        return fmt::format("it uses memory that begins outside of {} and reaches into it", describe_param(param));
    case Obstacle::declared:
        return fmt::format("it declares by .reads or .writes that it uses {}, but none of its arguments has an address "
                           "there that could be replaced",
                           describe_param(param));
    case Obstacle::freed:
        return fmt::format("it frees {}, and CUDA cannot give it other memory to free", describe_param(param));
    }
    return {};
}

const char* remedy_of(Obstacle obstacle) noexcept {
    switch (obstacle) {
    case Obstacle::opaque:
        return "make it with cudag, or declare all memory that it uses by .reads and .writes";
    case Obstacle::object:
        return "make the parameter with {.in_objects = true}";
    case Obstacle::end:
        return "give kernels spans or buffers instead of raw pointers";
    case Obstacle::from_outside:
        return "let the parameter begin where that memory begins";
    case Obstacle::declared:
        return "give the kernel the address as an argument, or instantiate a graph with the other memory";
    case Obstacle::freed:
        return "instantiate a graph that frees the other memory";
    }
    return "";
}

void refuse_obstacle(const ObstacleAt& obstacle, const ParamMemory& param) {
    refuse<UpdateError>(fmt::format("{}; {}", describe_obstacle(obstacle, param), remedy_of(obstacle.kind)),
                        obstacle.place.subject("bind: "));
}

std::uintptr_t address_in(const NodeParams& params, const AddressUse& use) noexcept {
    std::uintptr_t address = 0;
    if (const auto* const* kernel = std::get_if<const KernelParams*>(&params)) {
        std::memcpy(&address, (*kernel)->values + use.at, sizeof address);
    } else if (const auto* const* copy = std::get_if<const CopyParams*>(&params)) {
        address = reinterpret_cast<std::uintptr_t>(use.argument == 0 ? (*copy)->destination : (*copy)->source);
    } else if (const auto* const* set = std::get_if<const SetParams*>(&params)) {
        address = reinterpret_cast<std::uintptr_t>((*set)->destination);
    } else if (const auto* const* operations = std::get_if<const MemoryOperationParams*>(&params)) {
        address = reinterpret_cast<std::uintptr_t>((*operations)->operations[use.argument].address);
    } else if (const auto* const* batch = std::get_if<const CopyBatchParams*>(&params)) {
        const CopyOfBatch& copied = (*batch)->operations[use.argument / 2];
        address = reinterpret_cast<std::uintptr_t>(use.argument % 2 == 0 ? copied.destination : copied.source);
    }
    return address;
}

void set_address(OwnedParams& params, const AddressUse& use, std::uintptr_t address) noexcept {
    void* const pointer = reinterpret_cast<void*>(address); // NOLINT: memory of the device
    if (auto* kernel = params.find<KernelParams>())
        std::memcpy(kernel->values + use.at, &address, sizeof address);
    else if (auto* copy = params.find<CopyParams>(); copy != nullptr && use.argument == 0)
        copy->destination = pointer;
    else if (copy != nullptr)
        copy->source = pointer;
    else if (auto* set = params.find<SetParams>())
        set->destination = pointer;
    else if (auto* operations = params.find<MemoryOperationParams>())
        operations->operations[use.argument].address = pointer;
    else if (auto* batch = params.find<CopyBatchParams>(); batch != nullptr && use.argument % 2 == 0)
        batch->operations[use.argument / 2].destination = pointer;
    else if (batch != nullptr)
        batch->operations[use.argument / 2].source = pointer;
}

std::uint64_t next_param_id() noexcept {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

void refuse_param(const char* reason) {
    refuse(fmt::format("BufferParam: {}", reason));
}

} // namespace detail

std::string to_string(const BufferUse& use) {
    const char* what = "argument";
    std::string number = fmt::format(" {}", use.argument);
    if (use.node.kind() == NodeKind::batch_mem_op) {
        what = "operation";
    } else if (use.node.kind() == NodeKind::memcpy_batch) {
        what = use.argument % 2 == 0 ? "destination of copy" : "source of copy";
        number = fmt::format(" {}", use.argument / 2);
    } else if (use.node.kind() != NodeKind::kernel) {
        number.clear();
        what = use.argument == 0 ? "destination" : "source";
    }
    return fmt::format("{}: {}{} at offset {}", to_string(use.node), what, number, use.offset);
}

std::vector<BufferUse> Graph::uses_of(const detail::ParamMemory& param) const {
    const detail::GraphState& graph = state();
    std::vector<BufferUse> uses;
    for (const detail::AddressUse& use : detail::uses_of(graph, param).uses)
        uses.push_back({identity_of(*use.place.graph).handle(use.place.index), use.argument, use.offset});
    return uses;
}

void Graph::require_use_of(const detail::ParamMemory& param) const {
    const detail::MemoryUses found = detail::uses_of(state(), param);
    const auto is_recaptured = [](const detail::ObstacleAt& obstacle) {
        return detail::recaptured_at(obstacle.place) != nullptr;
    };
    if (!found.uses.empty() || std::ranges::any_of(found.obstacles, is_recaptured)) return;
    std::string reason =
        fmt::format("parameter: no node of {} uses the {} bytes at {}", detail::describe_graph(state()), param.bytes,
                    reinterpret_cast<const void*>(param.address)); // NOLINT
    if (!found.obstacles.empty())
        reason += fmt::format(" in a way that bind can replace; {}: {}", found.obstacles.front().place.describe(),
                              describe_obstacle(found.obstacles.front(), param));
    detail::refuse(reason);
}

} // namespace cudag
