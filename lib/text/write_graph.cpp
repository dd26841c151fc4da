// The document of a graph, from the fields of each kind of node.
#include "write_graph.hpp"

#include "attribute_texts.hpp"
#include "cuda/numbered_contexts.hpp"
#include "edges/edge_groups.hpp"
#include "graph/condition_arguments.hpp"
#include "graph/conditions.hpp"
#include "graph/graph_edges.hpp"
#include "graph/graph_records.hpp"
#include "graph/graph_tree.hpp"
#include "graph/in_force.hpp"
#include "node/comparison.hpp"
#include "node/kernel_attributes.hpp"
#include "node/launch_attributes.hpp"
#include "order/declarations.hpp"
#include "text_values.hpp"

#include <cudag/access.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

namespace cudag::detail {

namespace {

template <class T>
T read_bytes(const std::byte* data) {
    T value;
    std::memcpy(&value, data, sizeof value);
    return value;
}

template <class Float>
std::string float_text(Float value, const char* suffix) {
    std::string text = fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text + suffix;
}

std::string_view mode_name(AccessMode mode) noexcept {
    return text_of_mode[static_cast<std::size_t>(mode)];
}

/// Contexts have no name that another process knows.
constexpr const char* own_context = "its own";

class DocumentWriter {
  public:
    DocumentWriter(const GraphState& root, NameBook& names) : root_(root), names_(names) {}

    GraphDocument write() {
        GraphDocument document;
        for (const ConditionRecord& each : conditions_of(root_).all())
            document.conditions.push_back({each.initial, device_behind(each.device), 0, each.is_read});
        document.nodes = nodes(root_);
        document.memory = names_.used_memory();
        return document;
    }

    std::string address(const void* pointer) { return names_.address(pointer, order_); }
    std::string handle(HandleKind kind, const void* object) { return names_.handle(kind, object); }
    std::string condition(cudaGraphConditionalHandle handle) const {
        const auto& all = conditions_of(root_).all();
        for (std::size_t i = 0; i < all.size(); ++i)
            if (all[i].handle == handle) return fmt::to_string(i);
        return "unknown";
    }
    std::string kernel(const KernelParams& params) { return names_.kernel(params, *signature_); }
    std::string host(const HostParams& params) { return names_.host(params, label_); }

    void attributes(const KernelParams& kernel, TextNode& node) {
        if (kernel.context != nullptr) node.fields.push_back({"context", own_context});
        if (kernel.attributes == nullptr && kernel.unread == nullptr) return;
        const LaunchConfig config = full_config(kernel);
        const auto address_here = [this](const void* pointer) { return address(pointer); };
        const auto event_here = [this](cudaEvent_t event) { return handle(HandleKind::event, event); };
        for (const LaunchAttribute& attribute : launch_attributes())
            if (attribute.is_given(config))
                node.fields.push_back({attribute.name, attribute_text(attribute, config, address_here, event_here), 0,
                                       DifferenceKind::attribute, attribute.rules.needs_instantiate});
    }

    void arguments(const KernelParams& kernel, TextNode& node) {
        for (std::uint32_t i = 0; i < signature_->count; ++i)
            node.fields.push_back({fmt::format("argument {}", i), argument(kernel, i)});
    }

  private:
    std::vector<TextNode> nodes(const GraphState& graph) {
        const GraphRecords& records = records_of(graph);
        const EdgeGroups incoming(records.nodes().size(), edges_of(graph), &EdgeRecord::to);
        std::vector<TextNode> list;
        for (std::uint32_t i = 0; i < records.nodes().size(); ++i) {
            TextNode node = describe(graph, i);
            for (std::uint32_t item = incoming.first[i]; item < incoming.first[i + 1]; ++item) {
                const EdgeRecord& edge = edges_of(graph)[incoming.items[item]];
                node.after.push_back({edge.from, edge.kind});
            }
            std::ranges::sort(node.after, {}, [](const TextEdge& edge) { return std::pair(edge.from, edge.kind); });
            ++order_;
            const auto inside = nested_in(graph, i);
            const auto* conditional = std::get_if<const ConditionalParams*>(&records.nodes()[i].params);
            for (std::size_t number = 0; number < inside.size(); ++number)
                node.inner.push_back({conditional == nullptr ? "graph" : role_of_body((*conditional)->kind, number),
                                      nodes(*inside[number])});
            list.push_back(std::move(node));
        }
        return list;
    }

    TextNode describe(const GraphState& graph, std::uint32_t index);

    void accesses(const GraphState& graph, std::uint32_t index, TextNode& node) {
        std::size_t number = 0;
        for_each_declared(graph, index, [&](const ArgumentAccess& access) {
            if (access.unit != 0) return; // of a captured region as a whole
            const MemoryBlock& block = access.block;
            std::string text =
                fmt::format("{} {}, {}, {} bytes", mode_name(access.mode),
                            access.argument == whole_node ? "node" : fmt::format("argument {}", access.argument),
                            address(reinterpret_cast<const void*>(block.begin)), block.row_bytes);
            if (block.rows != 1) text += fmt::format(" x {} rows of {}", block.rows, block.pitch);
            if (block.slices != 1) text += fmt::format(" x {} slices of {}", block.slices, block.slice_pitch);
            text += fmt::format(", elements of {}", access.element_bytes);
            node.fields.push_back({fmt::format("access {}", number++), std::move(text)});
        });
    }

    void freed(const GraphState& graph, std::uint32_t index, TextNode& node) {
        const auto* params = std::get_if<const FreeParams*>(&records_of(graph).params(index));
        if (params == nullptr) return;
        node.fields.push_back({"memory", address((*params)->address)});
    }

    std::string argument(const KernelParams& kernel, std::uint32_t index) {
        const Parameter& parameter = kernel.signature->parameters[index];
        const std::byte* const data = kernel.values + parameter.offset;
        std::string text;
        switch (names_.type_of(kernel, *signature_, index)) {
        case ParameterType::pointer:
            if (parameter.size == sizeof(void*)) text = address(read_bytes<const void*>(data));
            break;
        case ParameterType::span:
            if (parameter.size == sizeof(void*) + sizeof(std::size_t))
                text = fmt::format("{}, {} elements", address(read_bytes<const void*>(data)),
                                   read_bytes<std::size_t>(data + sizeof(void*)));
            break;
        case ParameterType::floating_point:
            if (parameter.size == sizeof(float) && std::isfinite(read_bytes<float>(data)))
                text = float_text(read_bytes<float>(data), "f");
            else if (parameter.size == sizeof(double) && std::isfinite(read_bytes<double>(data)))
                text = float_text(read_bytes<double>(data), "");
            break;
        case ParameterType::signed_integer:
            text = integer<std::int8_t, std::int16_t, std::int32_t, std::int64_t>(data, parameter.size);
            break;
        case ParameterType::unsigned_integer:
            text = integer<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(data, parameter.size);
            break;
        case ParameterType::condition:
            if (std::string number = condition(read_bytes<cudaGraphConditionalHandle>(data)); number != "unknown")
                text = "condition " + number;
            break;
        case ParameterType::object:
            break;
        }
        return text.empty() ? pieces(data, parameter.size) : text;
    }

    template <class... T>
    static std::string integer(const std::byte* data, std::uint32_t size) {
        std::string text;
        const auto try_as = [&]<class N>(N*) {
            if (sizeof(N) == size) text = fmt::format("{}", read_bytes<N>(data));
        };
        (try_as(static_cast<T*>(nullptr)), ...);
        return text;
    }

    /// An object of unknown type: conditions and addresses in it, and the bytes between them.
    std::string pieces(const std::byte* data, std::uint32_t size) {
        std::string text;
        std::string bytes;
        const auto end_bytes = [&] {
            if (!bytes.empty()) text += fmt::format("{}bytes {}", text.empty() ? "" : ", ", bytes);
            bytes.clear();
        };
        const auto add = [&](const std::string& piece) {
            end_bytes();
            text += (text.empty() ? "" : ", ") + piece;
        };
        for (std::uint32_t at = 0; at < size;) {
            if (at % sizeof(std::uintptr_t) == 0 && at + sizeof(std::uintptr_t) <= size) {
                const auto word = read_bytes<std::uintptr_t>(data + at);
                if (at + sizeof(Condition) <= size && is_condition_of_root(word, data + at)) {
                    add("condition " + condition(word));
                    at += static_cast<std::uint32_t>(sizeof(Condition));
                    continue;
                }
                if (const auto known = names_.word(word, order_, size == sizeof word)) {
                    add(*known);
                    at += static_cast<std::uint32_t>(sizeof word);
                    continue;
                }
            }
            bytes += fmt::format("{:02x}", std::to_integer<unsigned>(data[at++]));
        }
        end_bytes();
        return text.empty() ? "bytes " : text;
    }
    [[nodiscard]] bool is_condition_of_root(cudaGraphConditionalHandle handle, const std::byte* data) const {
        return conditions_of(root_).find(handle) != nullptr && is_whole_condition(root_, handle, data);
    }

    const GraphState& root_;
    NameBook& names_;
    std::uint32_t order_ = 0;                    ///< of the current node among all
    const KernelSignature* signature_ = nullptr; ///< of the current kernel
    std::string_view label_ = {};                ///< of the current node
};

// The texts of fields. A field of another type needs a function here, and one in builder/load_graph.cpp.

template <class T>
std::string field_text(DocumentWriter& /*writer*/, const T& value) {
    return plain_text(value);
}
std::string field_text(DocumentWriter& writer, void* address) {
    return writer.address(address);
}
std::string field_text(DocumentWriter& writer, const void* address) {
    return writer.address(address);
}
std::string field_text(DocumentWriter& writer, cudaEvent_t event) {
    return writer.handle(HandleKind::event, event);
}
std::string field_text(DocumentWriter& writer, cudaExternalSemaphore_t semaphore) {
    return writer.handle(HandleKind::semaphore, semaphore);
}
std::string field_text(DocumentWriter& writer, cudaArray_t array) {
    return writer.handle(HandleKind::array, array);
}

/// A visitor for the fields of a node.
template <class Params>
class FieldTexts {
  public:
    FieldTexts(const Params& params, DocumentWriter& writer, TextNode& node, std::string_view suffix = {})
        : params_(params), writer_(writer), node_(node), suffix_(suffix) {}

    template <class Get>
    void field(const char* name, const Get& get, const FieldRule& rule) {
        if constexpr (std::is_same_v<Params, HostParams>) {
            // function and callable have one name
            if constexpr (std::is_same_v<std::decay_t<decltype(get(params_))>, cudaHostFn_t>)
                add(name, writer_.host(params_), rule);
            else if constexpr (std::is_same_v<std::decay_t<decltype(get(params_))>, unsigned>)
                if (get(params_) != 0) add(name, fmt::to_string(get(params_)), rule); // not with the default
        } else if constexpr (is_often_left_out<Params, std::decay_t<decltype(get(params_))>>) {
            if (!(get(params_) == get(Params{}))) add(name, field_text(writer_, get(params_)), rule);
        } else if constexpr (std::is_same_v<std::decay_t<decltype(get(params_))>, CUfunction>) {
            add(name, writer_.kernel(params_), rule);
        } else {
            add(name, field_text(writer_, get(params_)), rule);
        }
    }
    template <class Get>
    void unchosen(const Get& /*get*/) const noexcept {}
    template <class... Get>
    void ignored(const Get&... /*get*/) const noexcept {}
    template <class... Get>
    void part(const AttributeFields& /*part*/, const Get&... /*get*/) {
        writer_.attributes(params_, node_);
    }
    template <class... Get>
    void part(const ContextField& /*part*/, const Get&... /*get*/) const noexcept {} // by the record, or below
    template <class... Get>
    void part(const ArgumentFields& /*part*/, const Get&... /*get*/) {
        writer_.arguments(params_, node_);
    }
    template <class... Get>
    void part(const ConditionField& /*part*/, const Get&... /*get*/) {
        node_.fields.push_back({"condition", writer_.condition(params_.condition)});
    }
    template <class... Get>
    void part(const OperationFields& /*part*/, const Get&... /*get*/) {
        for (std::uint32_t i = 0; i < params_.count; ++i) {
            FieldTexts<SemaphoreOperation> visit(params_.operations[i], writer_, node_, fmt::format(" {}", i));
            fields(params_.operations[i], visit);
        }
    }

    template <class... Get>
    void part(const MemoryOperationFields& /*part*/, const Get&... /*get*/) {
        for (std::uint32_t i = 0; i < params_.count; ++i) {
            FieldTexts<MemoryOperation> visit(params_.operations[i], writer_, node_, fmt::format(" {}", i));
            fields(params_.operations[i], visit);
        }
    }

    template <class... Get>
    void part(const BatchedCopies& /*part*/, const Get&... /*get*/) {
        for (std::uint32_t i = 0; i < params_.count; ++i) {
            FieldTexts<CopyOfBatch> visit(params_.operations[i], writer_, node_, fmt::format(" {}", i));
            fields(params_.operations[i], visit);
        }
    }

  private:
    void add(const char* name, std::string&& text, const FieldRule& rule) {
        node_.fields.push_back(
            {name + std::string(suffix_), std::move(text), 0, rule.kind, rule.changed_by >= ChangedBy::instantiate});
    }

    const Params& params_;
    DocumentWriter& writer_;
    TextNode& node_;
    std::string suffix_;
};

TextNode DocumentWriter::describe(const GraphState& graph, std::uint32_t index) {
    const NodeRecord& record = records_of(graph).nodes()[index];
    TextNode node{record.kind, std::string(std::string_view(record.label)), {}, {}, {}, 0};
    label_ = record.label;
    if (is_context_number(record.device) && record.kind != NodeKind::kernel)
        node.fields.push_back({"context", own_context});
    else if (!is_context_number(record.device) && record.device != any_device)
        node.fields.push_back({"on device", fmt::to_string(record.device)});
    const NodeParams& params = records_of(graph).params(index);
    const auto add_fields = [&](const auto& block) {
        if constexpr (is_none<decltype(block)>) {
            if (record.kind != NodeKind::empty && record.kind != NodeKind::child)
                node.fields.push_back({std::string(opaque_field), "unknown to cudag"});
        } else {
            using Params = std::decay_t<decltype(*block)>;
            if constexpr (std::is_same_v<Params, KernelParams>) signature_ = &known_signature(graph, index, *block);
            FieldTexts<Params> visit(*block, *this, node);
            fields(*block, visit);
            if constexpr (std::is_same_v<Params, cudaMemcpy3DParms>) { // CUDA needs them for arrays
                node.fields.push_back({"destination row", fmt::to_string(block->dstPtr.xsize)});
                node.fields.push_back({"source row", fmt::to_string(block->srcPtr.xsize)});
            }
        }
    };
    std::visit(add_fields, params);
    freed(graph, index, node);
    accesses(graph, index, node);
    return node;
}

} // namespace

GraphDocument document_of(const GraphState& graph, NameBook& names) {
    return DocumentWriter(graph, names).write();
}

} // namespace cudag::detail
