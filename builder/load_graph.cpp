// Graphs built from their text.
#include <cudag/graph_text.hpp>

#include "add_node.hpp"
#include "cuda/device_guard.hpp"
#include "cuda/failure.hpp"
#include "cuda/handles.hpp"
#include "cuda/version.hpp"
#include "graph/check_edges.hpp"
#include "graph/conditions.hpp"
#include "graph/graph_state.hpp"
#include "loaded_names.hpp"
#include "loaded_values.hpp"
#include "new_conditional.hpp"
#include "new_root.hpp"
#include "node/function.hpp"
#include "order/declarations.hpp"
#include "order/memory_check.hpp"
#include "own_kernel_nodes.hpp"
#include "owners/host_call.hpp"
#include "text/attribute_texts.hpp"
#include "text/graph_document.hpp"
#include "text/name_book.hpp"
#include "text/text_values.hpp"

#include <cudag/access.hpp>
#include <cudag/builder_options.hpp>
#include <cudag/detail/condition_kernels.hpp>
#include <cudag/detail/graph_body.hpp>
#include <cudag/detail/record.hpp>
#include <cudag/format.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cudag::detail {

namespace {

/// The text of one node, with the fields read so far.
class NodeText {
  public:
    explicit NodeText(const TextNode& node) : node_(node), is_read_(node.fields.size()) {}

    [[nodiscard]] const TextNode* operator->() const noexcept { return &node_; }
    /// Finds a field, which counts as read; null if there is none.
    const TextField* find(std::string_view name) {
        const TextField* const found = node_.find(name);
        if (found != nullptr) is_read_[static_cast<std::size_t>(found - node_.fields.data())] = true;
        return found;
    }
    const TextField& field(std::string_view name) {
        const TextField* const found = find(name);
        if (found == nullptr) refuse(fmt::format("{} has no line \"{}: ...\"; it needs one", this->name(), name));
        return *found;
    }
    LineReader value(std::string_view name) {
        const TextField& found = field(name);
        return {found.value, found.line};
    }
    template <class Number>
    void read(std::string_view name, Number& number) {
        LineReader line = value(name);
        read_plain(line, number);
        line.require_end("the end of the line");
    }
    [[nodiscard]] std::string name() const {
        return node_.label.empty() ? fmt::format("a {} node", node_.kind)
                                   : fmt::format("{} \"{}\"", node_.kind, without_nul(node_.label));
    }
    [[noreturn]] void refuse(const std::string& reason) const { refuse_at(node_.line, reason); }
    void require_all_read() const {
        for (std::size_t i = 0; i < is_read_.size(); ++i)
            if (!is_read_[i])
                refuse_at(node_.fields[i].line, fmt::format("{} has no parameter \"{}\"; leave it out", name(),
                                                            without_nul(node_.fields[i].name)));
    }

  private:
    const TextNode& node_;
    std::vector<bool> is_read_;
};

template <class Get>
inline constexpr bool is_member = false;
template <auto... path>
inline constexpr bool is_member<Member<path...>> = true;

class GraphLoader {
  public:
    GraphLoader(const GraphDocument& document, const NameLists& names, const SourceLocation& where)
        : document_(document), where_(where), names_(document, names, where), root_(empty_graph()) {}

    std::shared_ptr<GraphState> load() {
        for (const TextCondition& each : document_.conditions) {
            require_device(each.device, each.line);
            if (each.is_initial_unknown)
                refuse(
                    fmt::format("text of a graph: line {} has a condition of a captured or adopted conditional, and "
                                "CUDA does not report its initial value; write \"initial N\" or \"no initial value\"",
                                each.line));
            const DeviceGuard device(each.device);
            names_.add_condition(make_condition(*root_, each.initial, where_));
        }
        add_nodes(*root_, document_.nodes, "@");
        for (std::size_t i = 0; i < document_.conditions.size(); ++i)
            if (const auto* record = root_->conditions().find(names_.conditions()[i].native()); record->user == nullptr)
                refuse(fmt::format("text of a graph: line {} has condition {}, which no node tests; leave it out",
                                   document_.conditions[i].line, i));
        finish_written(*root_, "load", where_);
        if (auto owners = names_.take_owners(); !owners.empty()) {
            const auto lock = root_->lock();
            keep_owners(*root_, std::move(owners));
        }
        return std::move(root_);
    }

  private:
    static void require_device(int device, std::size_t line) {
        int count = 0;
        checked<GraphError>(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
        if (device < 0 || device >= count)
            refuse_at(line, fmt::format("there is no device {}; CUDA sees {}, numbered from 0", device, count));
    }

    // Nodes.

    void add_nodes(GraphState& graph, const std::vector<TextNode>& nodes, const std::string& path) {
        std::vector<std::vector<std::pair<std::uint32_t, EdgeKind>>> backward(nodes.size()); // by their later node
        for (std::uint32_t i = 0; i < nodes.size(); ++i)
            for (const TextEdge& edge : nodes[i].after)
                if (edge.from > i) backward[edge.from].emplace_back(i, edge.kind);
        for (std::uint32_t i = 0; i < nodes.size(); ++i) {
            add_one(graph, nodes[i], fmt::format("{}{}", path, i));
            const Node node = graph.identity().handle(i);
            if (!nodes[i].label.empty()) node.label(nodes[i].label);
            std::vector<Dependency> before;
            if (nodes[i].kind != NodeKind::alloc)
                for (const TextEdge& edge : nodes[i].after)
                    if (edge.from <= i) before.push_back({graph.identity().handle(edge.from), edge.kind});
            if (!before.empty()) add_edges(node, before.data(), before.size());
            for (const auto& [to, kind] : backward[i]) {
                const Dependency edge{node, kind};
                add_edges(graph.identity().handle(to), &edge, 1);
            }
        }
    }

    void add_one(GraphState& graph, const TextNode& node, const std::string& path) {
        NodeText text(node);
        std::optional<DeviceGuard> guard;
        std::int32_t number = any_device;
        if (const TextField* const device = text.find("on device"); device != nullptr) {
            text.read("on device", number);
            require_device(number, device->line);
            guard.emplace(number);
        }
        if (const TextField* own = text.find("context"); own != nullptr)
            refuse_at(own->line, fmt::format("{} is in a context of its own, such as a green context, which no text "
                                             "has; make it again",
                                             text.name()));
        if (text.find(opaque_field) != nullptr)
            text.refuse(fmt::format("cudag does not know the parameters of {}, so its text has none; make this node by "
                                    "other means",
                                    text.name()));
        add_by_kind(graph, text, path);
        const auto index = static_cast<std::uint32_t>(graph.records().nodes().size() - 1);
        graph.records().record(index).device = number;
        declare(graph, index, text);
        text.require_all_read();
    }

    void add_by_kind(GraphState& graph, NodeText& text, const std::string& path) {
        if (text->kind != NodeKind::child && text->kind != NodeKind::conditional && !text->inner.empty())
            text.refuse(fmt::format("{} has no graph inside it", text.name()));
        switch (text->kind) {
        case NodeKind::kernel:
            return add_kernel_node(graph, text);
        case NodeKind::memcpy:
            if (text.find("extent") != nullptr) return add_fields<cudaMemcpy3DParms>(graph, text);
            return add_fields<CopyParams>(graph, text);
        case NodeKind::memset:
            return add_fields<SetParams>(graph, text);
        case NodeKind::host:
            return add_fields<HostParams>(graph, text);
        case NodeKind::child:
            return add_child_node(graph, text, path);
        case NodeKind::empty:
            static_cast<void>(add_join(graph, nullptr, 0, where_));
            return;
        case NodeKind::record_event:
        case NodeKind::wait_event:
            return add_fields<EventParams>(graph, text);
        case NodeKind::signal_semaphore:
        case NodeKind::wait_semaphore:
            return add_semaphore_node(graph, text);
        case NodeKind::alloc:
            return add_alloc_node(graph, text, path);
        case NodeKind::free:
            return add_free_node(graph, text);
        case NodeKind::conditional:
            return add_conditional_node(graph, text, path);
        case NodeKind::batch_mem_op:
            return add_memory_operation_node(graph, text);
        case NodeKind::memcpy_batch:
            return add_copy_batch_node(graph, text);
        }
        text.refuse(fmt::format("texts do not describe {} nodes", to_string(text->kind)));
    }

    void read(LineReader& line, void*& value) { value = names_.address(line); }
    void read(LineReader& line, const void*& value) { value = names_.address(line); }
    void read(LineReader& line, cudaEvent_t& value) {
        value = static_cast<cudaEvent_t>(names_.handle(HandleKind::event, line));
    }
    void read(LineReader& line, cudaArray_t& value) {
        value = static_cast<cudaArray_t>(names_.handle(HandleKind::array, line));
    }
    void read(LineReader& line, cudaExternalSemaphore_t& value) {
        value = static_cast<cudaExternalSemaphore_t>(names_.handle(HandleKind::semaphore, line));
    }
    template <class T>
    void read(LineReader& line, T& value) {
        read_plain(line, value);
    }

    /// A visitor for reading the fields of a node. Parts are left to the functions of their kinds.
    template <class Params>
    class FieldReader {
      public:
        FieldReader(GraphLoader& loader, NodeText& text, Params& params, std::string suffix = {})
            : loader_(loader), text_(text), params_(params), suffix_(std::move(suffix)) {}

        template <class Get>
        void field(const char* name, const Get& get, const FieldRule& /*rule*/) {
            if constexpr (std::is_same_v<Params, HostParams>) {
                using Value = std::decay_t<decltype(get(params_))>;
                if constexpr (std::is_same_v<Value, cudaHostFn_t>) { // function and callable have one name
                    LineReader line = text_.value(name);
                    params_ = loader_.names_.host(line);
                } else if constexpr (std::is_same_v<Value, unsigned>) {
                    if (text_.find(name) != nullptr) text_.read(name, const_cast<unsigned&>(get(params_)));
                }
            } else {
                if constexpr (is_often_left_out<Params, std::decay_t<decltype(get(params_))>>)
                    if (text_.find(name + suffix_) == nullptr) return;
                LineReader line = text_.value(name + suffix_);
                if constexpr (is_member<Get>)
                    loader_.read(line, const_cast<std::decay_t<decltype(get(params_))>&>(get(params_)));
                else
                    params_.source_size = line.template number<std::size_t>("a number of bytes");
                line.require_end("the end of the line");
            }
        }
        template <class Get>
        void unchosen(const Get& /*get*/) const noexcept {}
        template <class... Get>
        void ignored(const Get&... /*get*/) const noexcept {}
        template <class Part, class... Get>
        void part(const Part& /*part*/, const Get&... /*get*/) const noexcept {}

      private:
        GraphLoader& loader_;
        NodeText& text_;
        Params& params_;
        std::string suffix_;
    };
    template <class Params>
    Params read_fields(NodeText& text, const std::string& suffix = {}) {
        Params params{};
        FieldReader<Params> reader(*this, text, params, suffix);
        fields(params, reader);
        return params;
    }

    template <class Params>
    void add_fields(GraphState& graph, NodeText& text) {
        Params params = read_fields<Params>(text);
        if constexpr (std::is_same_v<Params, EventParams>) params.records = text->kind == NodeKind::record_event;
        if constexpr (std::is_same_v<Params, CopyParams>) {
            params.destination_size = params.source_size;
            params.element_bytes = 1;
        }
        if constexpr (std::is_same_v<Params, cudaMemcpy3DParms>) {
            text.read("destination row", params.dstPtr.xsize);
            text.read("source row", params.srcPtr.xsize);
        }
        static_cast<void>(add_node(graph, text->kind, params, {}, where_));
        if constexpr (std::is_same_v<Params, HostParams>)
            if (is_host_task(params)) graph.records().special().host_tasks = true;
    }
    void add_semaphore_node(GraphState& graph, NodeText& text) {
        auto params = read_fields<SemaphoreParams>(text);
        params.signals = text->kind == NodeKind::signal_semaphore;
        std::vector<SemaphoreOperation> operations;
        for (std::uint32_t i = 0; i < params.count; ++i)
            operations.push_back(read_fields<SemaphoreOperation>(text, fmt::format(" {}", i)));
        params.operations = operations.data();
        static_cast<void>(add_node(graph, text->kind, params, {}, where_));
    }

    void add_memory_operation_node(GraphState& graph, NodeText& text) {
        auto params = read_fields<MemoryOperationParams>(text);
        std::vector<MemoryOperation> operations;
        for (std::uint32_t i = 0; i < params.count; ++i)
            operations.push_back(read_fields<MemoryOperation>(text, fmt::format(" {}", i)));
        params.operations = operations.data();
        params.context = current_context();
        static_cast<void>(add_node(graph, text->kind, params, {}, where_));
    }

    void add_copy_batch_node(GraphState& graph, NodeText& text) {
        require_version(since::copy_batches, "a batch of copies in one node",
                        [&] { return new_node_subject(NodeKind::memcpy_batch, where_); });
        auto params = read_fields<CopyBatchParams>(text);
        std::vector<CopyOfBatch> copies;
        for (std::uint32_t i = 0; i < params.count; ++i)
            copies.push_back(read_fields<CopyOfBatch>(text, fmt::format(" {}", i)));
        params.operations = copies.data();
        params.context = current_context();
        static_cast<void>(add_node(graph, NodeKind::memcpy_batch, params, {}, where_));
    }

    void add_alloc_node(GraphState& graph, NodeText& text, const std::string& path) {
        const auto params = read_fields<AllocParams>(text);
        AllocOptions options;
        options.device = params.device;
        const auto index = static_cast<std::uint32_t>(graph.records().nodes().size());
        for (const TextEdge& edge : text->after)
            if (edge.from < index) options.after.push_back(graph.identity().handle(edge.from));
        require_device(params.device, text->line);
        names_.add_allocation(path, add_alloc(graph, params.bytes, 1, options, where_));
    }

    void add_free_node(GraphState& graph, NodeText& text) {
        LineReader line = text.value("memory");
        static_cast<void>(add_free(graph, names_.allocation(line), where_));
    }

    void add_child_node(GraphState& graph, NodeText& text, const std::string& path) {
        if (text->inner.size() != 1 || text->inner[0].role != "graph")
            text.refuse(fmt::format("{} has {} graphs inside it; expected one, \"graph: N nodes\"", text.name(),
                                    text->inner.size()));
        const std::shared_ptr<GraphState> inner = empty_graph();
        add_nodes(*inner, text->inner[0].nodes, path + "/");
        finish_written(*inner, "load", where_);
        if (cuda_version() >= since::moved_children)
            static_cast<void>(move_child(graph, inner, where_));
        else
            static_cast<void>(add_child(graph, *inner, where_));
    }

    void add_conditional_node(GraphState& graph, NodeText& text, const std::string& path) {
        const auto params = read_fields<ConditionalParams>(text);
        if (params.bodies != text->inner.size())
            text.refuse(fmt::format("{} has {} bodies, and lists {}", text.name(), params.bodies, text->inner.size()));
        LineReader number = text.value("condition");
        const Condition& condition = names_.condition(number);
        const DeviceGuard device(root_->conditions().find(condition.native())->device);
        NewConditional node(graph, params.kind, condition, params.bodies, where_);
        for (std::size_t i = 0; i < text->inner.size(); ++i) {
            if (text->inner[i].role != role_of_body(params.kind, i))
                text.refuse(fmt::format("graph {} of {} is \"{}\"; expected \"{}\"", i, text.name(),
                                        text->inner[i].role, role_of_body(params.kind, i)));
            add_nodes(*node.open_body(i), text->inner[i].nodes, path + "/");
            node.close_loaded_body();
        }
        static_cast<void>(node.keep());
    }

    // Kernels.

    void add_kernel_node(GraphState& graph, NodeText& text) {
        const TextField& kernel = text.field("kernel");
        LaunchConfig config;
        text.read("grid", config.grid);
        text.read("block", config.block);
        text.read("shared_bytes", config.shared_bytes);
        for (const LaunchAttribute& attribute : launch_attributes()) {
            const TextField* const field = text.find(attribute.name);
            if (field == nullptr) continue;
            LineReader line(field->value, field->line);
            read_attribute(
                attribute, line, config, [this](LineReader& rest) { return names_.address(rest); },
                [this](LineReader& rest) { return static_cast<cudaEvent_t>(names_.handle(HandleKind::event, rest)); });
            line.require_end("the end of the line");
        }
        if (kernel.value == "cudag_nothing" || kernel.value == "cudag_set_condition")
            return add_own_node(graph, text, kernel.value);
        const FoundKernel found = names_.kernel(kernel);
        const KernelSignature& signature = found.signature != nullptr ? *found.signature : found.untyped;
        std::vector<std::byte> block(signature.bytes);
        std::vector<void*> values(std::max<std::size_t>(signature.count, 1));
        for (std::uint32_t i = 0; i < signature.count; ++i) {
            const std::string name = fmt::format("argument {}", i);
            values[i] = block.data() + signature.parameters[i].offset;
            read_argument(names_, text.value(name), signature.parameters[i],
                          block.data() + signature.parameters[i].offset);
        }
        const PassedConfig passed(config);
        const FunctionState* const state = found.function == nullptr ? nullptr : &Access::state(*found.function);
        const KernelCall call{found.symbol, own_signature(graph, found), &passed, values.data(), nullptr, state};
        static_cast<void>(add_kernel(graph, call, {}, where_));
    }

    /// Returns a signature that lives as long as the graph.
    static const KernelSignature* own_signature(GraphState& graph, const FoundKernel& found) {
        if (found.signature != nullptr) return found.signature;
        auto* parameters = graph.records().memory().allocate<Parameter>(std::max<std::size_t>(found.untyped.count, 1));
        std::copy_n(found.untyped.parameters, found.untyped.count, parameters);
        return graph.records().memory().store(KernelSignature{parameters, found.untyped.count, found.untyped.bytes});
    }

    void add_own_node(GraphState& graph, NodeText& text, std::string_view kernel) {
        if (kernel == "cudag_nothing") {
            static_cast<void>(add_nothing(graph, text->label, where_));
            return;
        }
        LineReader handle = text.value("argument 0");
        handle.require("condition ", "\"condition N\"");
        const Condition& condition = names_.condition(handle);
        unsigned value = 0;
        text.read("argument 1", value);
        static_cast<void>(add_set_condition(graph, condition.native(), value, text->label, where_));
    }

    // Accesses.

    void declare(GraphState& graph, std::uint32_t index, NodeText& text) {
        std::vector<ArgumentAccess> accesses;
        for (std::size_t i = 0;; ++i) {
            const std::string name = fmt::format("access {}", i);
            const TextField* const field = text.find(name);
            if (field == nullptr) break;
            accesses.push_back(read_access(names_, {field->value, field->line}));
        }
        declare_accesses(graph, index, std::move(accesses));
    }

    const GraphDocument& document_;
    SourceLocation where_;
    LoadedNames names_;
    std::shared_ptr<GraphState> root_;
};

} // namespace

LoadedGraph load_graph(std::string_view text, const GraphNames& names, const SourceLocation& where) {
    const GraphDocument document = parse_document(text);
    auto state = GraphLoader(document, names.lists(Passkey()), where).load();
    return {Access::graph_of(std::move(state)), document.plan.value_or(Plan())};
}

} // namespace cudag::detail
