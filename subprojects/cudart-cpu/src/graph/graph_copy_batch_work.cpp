// Nodes for batches of copies: CUDA 13.5.
#include "graph_copy_batch_work.hpp"

#if CUDART_VERSION >= 13050

#include "memory/copy_attributes.hpp"
#include "runtime/call.hpp"
#include "runtime/driver_version.hpp"

#include <algorithm>

namespace cudart_cpu::detail {

namespace {

constexpr int since_copy_batches = 13050;

bool same_attributes(const cudaMemcpyAttributes& a, const cudaMemcpyAttributes& b) noexcept {
    const auto same_place = [](const cudaMemLocation& one, const cudaMemLocation& other) {
        return one.type == other.type && one.id == other.id;
    };
    return a.srcAccessOrder == b.srcAccessOrder && a.flags == b.flags && same_place(a.srcLocHint, b.srcLocHint) &&
           same_place(a.dstLocHint, b.dstLocHint);
}

const MemcpyWork& copy_in(const WorkPointer& work) noexcept {
    return static_cast<const MemcpyWork&>(*work);
}

} // namespace

CopyBatchWork::CopyBatchWork(const cudaMemcpyBatchNodeParams& params) {
    if (driver_version() < since_copy_batches)
        fail(cudaErrorInvalidValue, "drivers before CUDA 13.5 have no nodes for batches of copies");
    if (params.ctx != nullptr) fail(cudaErrorNotSupported, "cudart-cpu: a batch of copies with an execution context");
    if (params.count == 0) fail(cudaErrorInvalidValue, "a batch of 0 copies");
    require_attributes(
        {params.dsts, params.srcs, params.sizes, params.count, params.attrs, params.attrsIdxs, params.numAttrs});
    destinations_.assign(params.dsts, params.dsts + params.count);
    sources_.assign(params.srcs, params.srcs + params.count);
    sizes_.assign(params.sizes, params.sizes + params.count);
    attributes_.assign(params.attrs, params.attrs + params.numAttrs);
    first_of_attributes_.assign(params.attrsIdxs, params.attrsIdxs + params.numAttrs);
    for (std::size_t i = 0; i < params.count; ++i)
        copies_.push_back(
            sizes_[i] == 0 ? nullptr
                           : std::make_shared<MemcpyWork>(destinations_[i], sources_[i], sizes_[i], cudaMemcpyDefault));
}

cudaMemcpyBatchNodeParams CopyBatchWork::params() const noexcept {
    return {sizes_.size(),
            const_cast<void**>(destinations_.data()),
            const_cast<void**>(sources_.data()),
            const_cast<std::size_t*>(sizes_.data()),
            const_cast<cudaMemcpyAttributes*>(attributes_.data()),
            const_cast<std::size_t*>(first_of_attributes_.data()),
            attributes_.size(),
            nullptr};
}

std::string CopyBatchWork::title() const {
    return text("batch of ", sizes_.size(), " copies");
}

std::string CopyBatchWork::details() const {
    std::string result = title();
    const char* separator = ": ";
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
        result += text(separator, sizes_[i], " B from ", sources_[i], " to ", destinations_[i]);
        separator = ", ";
    }
    return result;
}

void CopyBatchWork::run() const {
    for (auto copy = copies_.rbegin(); copy != copies_.rend(); ++copy)
        if (*copy) (*copy)->run();
}

bool CopyBatchWork::is_staged() const noexcept {
    return std::ranges::any_of(copies_, [](const WorkPointer& copy) { return copy && copy->is_staged(); });
}

WorkPointer CopyBatchWork::staged() const {
    auto work = std::make_shared<CopyBatchWork>(*this);
    for (WorkPointer& copy : work->copies_)
        if (copy && copy->is_staged()) copy = copy->staged();
    return work;
}

bool CopyBatchWork::holds_launch() const noexcept {
    return std::ranges::any_of(copies_, [](const WorkPointer& copy) { return copy && copy->holds_launch(); });
}

std::string CopyBatchWork::refuse_operands(const Work* current) const {
    const auto* before = static_cast<const CopyBatchWork*>(current);
    for (std::size_t i = 0; i < copies_.size(); ++i) {
        if (!copies_[i]) continue;
        const bool has_former = before != nullptr && i < before->copies_.size() && before->copies_[i];
        std::string reason = copies_[i]->refuse_operands(has_former ? before->copies_[i].get() : nullptr);
        if (!reason.empty()) return reason;
    }
    return {};
}

template <class Refuse>
std::optional<Refusal> CopyBatchWork::refuse_update(const CopyBatchWork& next, const Refuse& refuse_copy) const {
    const auto refusal = [](std::string reason) {
        return Refusal{cudaGraphExecUpdateErrorParametersChanged, std::move(reason)};
    };
    if (context() != next.context()) return refusal("the context of a batch of copies cannot change");
    if (sizes_.size() != next.sizes_.size())
        return refusal(text("the number of copies cannot change from ", sizes_.size(), " to ", next.sizes_.size()));
    if (first_of_attributes_ != next.first_of_attributes_ ||
        !std::ranges::equal(attributes_, next.attributes_, same_attributes))
        return refusal("the attributes of copies cannot change");
    for (std::size_t i = 0; i < copies_.size(); ++i)
        if (copies_[i] && next.copies_[i])
            if (auto refused = refuse_copy(copy_in(copies_[i]), copy_in(next.copies_[i]))) return refused;
    return std::nullopt;
}

std::optional<Refusal> CopyBatchWork::refuse_node_update(const Work& next) const {
    return refuse_update(static_cast<const CopyBatchWork&>(next), [](const MemcpyWork& copy, const MemcpyWork& other) {
        return copy.refuse_node_update(other);
    });
}

std::optional<Refusal> CopyBatchWork::refuse_graph_update(const Work& next, bool fixed_priority) const {
    return refuse_update(static_cast<const CopyBatchWork&>(next), [&](const MemcpyWork& copy, const MemcpyWork& other) {
        return copy.refuse_graph_update(other, fixed_priority);
    });
}

} // namespace cudart_cpu::detail

#endif
