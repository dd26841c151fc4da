// Memcpy and memset nodes.
#include "graph_memory_work.hpp"

#include "graph_memory.hpp"
#include "memory/allocations.hpp"
#include "memory/freed_memory.hpp"
#include "memory/memory.hpp"
#include "runtime/call.hpp"
#include "runtime/checks.hpp"
#include "runtime/kernel_failure.hpp"

#include <array>
#include <tuple>

namespace cudart_cpu::detail {

namespace {

std::optional<Refusal> refuse(std::string reason) {
    return Refusal{cudaGraphExecUpdateErrorParametersChanged, std::move(reason)};
}

/// Whether an operand moves to memory with a free node in its graph: CUDA no longer knows this memory.
bool moved_into_freed(const void* from, const void* to) {
    return from != to && is_freed_by_its_graph(to);
}

/// The reason if another context than that of `current` is to run its node.
std::optional<Refusal> other_context(const Work& current, const Work& next) {
    if (next.context() == current.context()) return std::nullopt;
    return refuse("the context of a node cannot be changed during an update");
}

std::optional<Refusal> inaccessible() {
    return Refusal{cudaGraphExecUpdateError, "Operand not accessible from specified context"};
}

bool same(const cudaMemcpy3DParms& a, const cudaMemcpy3DParms& b) {
    const auto place = [](const cudaPos& p) { return std::array{p.x, p.y, p.z}; };
    const auto memory = [](const cudaPitchedPtr& p) { return std::tuple(p.ptr, p.pitch, p.ysize); };
    return a.srcArray == b.srcArray && a.dstArray == b.dstArray && memory(a.srcPtr) == memory(b.srcPtr) &&
           memory(a.dstPtr) == memory(b.dstPtr) && place(a.srcPos) == place(b.srcPos) &&
           place(a.dstPos) == place(b.dstPos) && a.extent.width == b.extent.width &&
           a.extent.height == b.extent.height && a.extent.depth == b.extent.depth && a.kind == b.kind;
}

/// The place of an operand, by the kind of the copy. An update cannot change it.
enum class Side { host, device, unified, array };

Side source_side(const cudaMemcpy3DParms& params) {
    const cudaMemcpyKind kind = params.kind;
    if (params.srcArray) return Side::array;
    if (kind == cudaMemcpyDefault) return Side::unified;
    return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ? Side::device : Side::host;
}

Side destination_side(const cudaMemcpy3DParms& params) {
    const cudaMemcpyKind kind = params.kind;
    if (params.dstArray) return Side::array;
    if (kind == cudaMemcpyDefault) return Side::unified;
    return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ? Side::device : Side::host;
}

bool is_on_host(cudaMemoryType type) {
    return type == cudaMemoryTypeUnregistered || type == cudaMemoryTypeHost;
}

/// Whether the driver reads the source on the host: ahead of the whole launch, or while the call waits.
bool reads_pageable(const cudaMemcpy3DParms& params) {
    const bool to_device = params.kind == cudaMemcpyHostToDevice || params.dstArray != nullptr ||
                           (params.kind == cudaMemcpyDefault && !is_on_host(destination_type(params)));
    return to_device && source_type(params) == cudaMemoryTypeUnregistered;
}

bool is_large_copy(const cudaMemcpy3DParms& params) {
    return row_bytes(params) * params.extent.height * params.extent.depth >= least_unstaged_bytes;
}

bool needs_stage(const cudaMemcpy3DParms& params) {
    return reads_pageable(params) && !is_large_copy(params);
}

/// Whether the copy writes pageable memory, stays within the host, or is large and from pageable memory.
bool must_be_awaited(const cudaMemcpy3DParms& params) {
    if (reads_pageable(params)) return is_large_copy(params);
    const cudaMemoryType to = destination_type(params);
    return to == cudaMemoryTypeUnregistered || (is_on_host(to) && is_on_host(source_type(params)));
}

/// Empty operations are valid in a stream, but not in a graph.
const cudaMemcpy3DParms& checked(const cudaMemcpy3DParms& params) {
    validate_copy(params);
    if (is_empty(params)) fail(cudaErrorInvalidValue, "0 byte memcopy is not supported");
    return params;
}

const cudaMemsetParams& checked(const cudaMemsetParams& params) {
    validate_set(params);
    if (params.width == 0 || params.height == 0) fail(cudaErrorInvalidValue, "0 byte memset not allowed");
    return params;
}

/// With CUDART_CPU_CHECK=memory: whether memory of the device is no allocation, usually since it has been freed. The
/// launch then fails.
bool is_missing(const std::string& title, const char* verb, const void* memory, std::size_t bytes) {
    if ((checks_from_environment() & ptx::check_memory) == 0 || is_kept_memory(memory, bytes)) return false;
    const std::optional<Range> range = find_allocation(memory);
    if (range && bytes <= range->bytes - static_cast<std::size_t>(static_cast<const char*>(memory) - range->base))
        return false;
    set_kernel_failure(cudaErrorIllegalAddress,
                       text(title, " of a graph ", verb, bytes, " bytes at ", memory, ", ", surroundings_of(memory)));
    return true;
}

cudaMemcpy3DParms without_pitch(cudaMemcpy3DParms params) {
    params.srcPtr.pitch = params.srcPtr.ysize = 0;
    params.dstPtr.pitch = params.dstPtr.ysize = 0;
    return params;
}

} // namespace

MemcpyWork::MemcpyWork(const cudaMemcpy3DParms& params)
    : params_(checked(params)), source_origin_(origin_of(params.srcPtr.ptr)),
      destination_origin_(origin_of(params.dstPtr.ptr)),
      is_pageable_(source_type(params) == cudaMemoryTypeUnregistered ||
                   destination_type(params) == cudaMemoryTypeUnregistered),
      is_staged_(needs_stage(params)), holds_launch_(must_be_awaited(params)),
      has_array_(params.srcArray != nullptr || params.dstArray != nullptr) {
    params_.srcPtr.xsize = 0;
    params_.dstPtr.xsize = 0;
    row_bytes_ = row_bytes(params_);
}

MemcpyWork::MemcpyWork(void* destination, const void* source, std::size_t bytes, cudaMemcpyKind kind)
    : MemcpyWork(without_pitch(copy_1d(destination, source, bytes, kind))) {}

MemcpyWork::Origin MemcpyWork::origin_of(const void* memory) {
    const std::optional<Range> range = find_allocation(memory);
    if (range && find_graph_allocation(range->base)) return Origin::graph;
    const std::optional<AllocationKind> kind = kind_of(memory);
    return kind && kind->pool ? Origin::pool : Origin::context;
}

std::shared_ptr<MemcpyWork> MemcpyWork::linear(const cudaMemcpy3DParms& copy) {
    return std::make_shared<MemcpyWork>(without_pitch(copy));
}

std::size_t MemcpyWork::bytes() const noexcept {
    return row_bytes_ * params_.extent.height * params_.extent.depth;
}

bool MemcpyWork::is_1d() const noexcept {
    return params_.extent.height == 1 && params_.extent.depth == 1;
}

std::string MemcpyWork::title() const {
    return text("memcpy ", bytes(), " B");
}

std::string MemcpyWork::details() const {
    return text(title(), " from ", params_.srcPtr.ptr, " to ", params_.dstPtr.ptr, " extent (", params_.extent.width,
                ',', params_.extent.height, ',', params_.extent.depth, ") kind ", params_.kind);
}

void MemcpyWork::run() const {
    const std::size_t known = is_1d() ? bytes() : row_bytes_;
    if (source_side(params_) == Side::device && is_missing(title(), "reads ", params_.srcPtr.ptr, known)) return;
    if (destination_side(params_) == Side::device && is_missing(title(), "writes ", params_.dstPtr.ptr, known)) return;
    perform_copy(params_);
}

WorkPointer MemcpyWork::staged() const {
    if (!is_staged_) return nullptr;
    auto work = std::make_shared<MemcpyWork>(*this);
    PackedSource packed(params_);
    work->stage_ = std::move(packed.memory);
    work->params_ = packed.copy;
    return work;
}

std::optional<BodyRefusal> MemcpyWork::refuse_in_body() const {
    auto refused = Work::refuse_in_body();
    // The driver counts the host as another device.
    if (is_pageable_) refused->result = cudaGraphInstantiateMultipleDevicesNotSupported;
    return refused;
}

std::string MemcpyWork::refuse_device_launch() const {
    if (has_array_) return "Device-launched graphs do not support MEMCPY nodes with CUDA arrays";
    return is_pageable_ ? "Device-launched graphs do not support MEMCPY nodes with pageable host memory" : "";
}

std::string MemcpyWork::refuse_operands(const Work* current) const {
    const auto* before = static_cast<const MemcpyWork*>(current);
    const bool moved = moved_into_freed(before ? before->params_.dstPtr.ptr : nullptr, params_.dstPtr.ptr) ||
                       moved_into_freed(before ? before->params_.srcPtr.ptr : nullptr, params_.srcPtr.ptr);
    return moved ? "Allocation not found or copy size exceeds allocation size" : "";
}

std::optional<Refusal> MemcpyWork::refuse_node_update(const Work& next) const {
    if (auto refused = refuse_graph_update(next, false)) return refused;
    // A whole update looks for the memory of memsets only, not of copies.
    return next.refuse_operands(this).empty() ? std::nullopt : inaccessible();
}

std::optional<Refusal> MemcpyWork::refuse_graph_update(const Work& next, bool) const {
    if (context() != nullptr)
        if (auto refused = other_context(*this, next)) return refused;
    const auto& other = static_cast<const MemcpyWork&>(next);
    if (destination_side(other.params_) != destination_side(params_))
        return refuse("memcpy dst operand memory type cannot be changed during an update");
    if (source_side(other.params_) != source_side(params_))
        return refuse("memcpy src operand memory type cannot be changed during an update");
    if (other.destination_origin_ != destination_origin_)
        return refuse("Replacement operand type is incompatible with existing operand");
    if (other.source_origin_ != source_origin_)
        return refuse("Replacement src operand is incompatible with existing operand");
    const bool linear = is_1d() && other.is_1d();
    if (!linear && !same(params_, other.params_)) return refuse("Multi-dimensional memcpy nodes cannot be updated");
    return std::nullopt;
}

MemsetWork::MemsetWork(const cudaMemsetParams& params) : params_(checked(params)) {}

std::shared_ptr<MemsetWork> MemsetWork::captured(const cudaMemsetParams& params) {
    validate_set_shape(params);
    return std::shared_ptr<MemsetWork>(new MemsetWork(Unchecked{}, params));
}

std::size_t MemsetWork::bytes() const noexcept {
    return params_.width * params_.elementSize * params_.height;
}

std::string MemsetWork::title() const {
    return text("memset ", bytes(), " B");
}

std::string MemsetWork::details() const {
    return text(title(), " at ", params_.dst, " value ", params_.value, " element ", params_.elementSize, " B width ",
                params_.width, " height ", params_.height, " pitch ", params_.pitch);
}

void MemsetWork::run() const {
    if (is_missing(title(), "writes ", params_.dst, params_.width * params_.elementSize)) return;
    perform_set(params_);
}

bool MemsetWork::forgets_order() const {
    constexpr std::size_t largest = 4096;
    if (params_.height != 1 || bytes() > largest) return false;
    const auto range = find_allocation(params_.dst);
    return !range || range->type != cudaMemoryTypeManaged;
}

std::string MemsetWork::refuse_exec() const {
    return refuse_set_range(params_);
}

std::string MemsetWork::refuse_operands(const Work* current) const {
    // CUDA looks for the memory when the node is added, not when its parameters are set.
    return !current && is_freed_by_its_graph(params_.dst) ? "Invalid memset range" : "";
}

std::optional<Refusal> MemsetWork::refuse_node_update(const Work& next) const {
    if ((context() == nullptr) != (next.context() == nullptr)) return other_context(*this, next);
    return refuse_graph_update(next, false);
}

std::optional<Refusal> MemsetWork::refuse_graph_update(const Work& next, bool) const {
    const auto& other = static_cast<const MemsetWork&>(next);
    if (other.params_.height != params_.height)
        return refuse(
            text("Memset height cannot be changed. Original: ", params_.height, ", New: ", other.params_.height));
    const bool same_shape = other.params_.width == params_.width && other.params_.pitch == params_.pitch &&
                            other.params_.elementSize == params_.elementSize;
    if (params_.height > 1 && !same_shape)
        return refuse("only address and value of a 2-dimensional memset can be updated");
    if (moved_into_freed(params_.dst, other.params_.dst) || !other.refuse_exec().empty()) return inaccessible();
    return std::nullopt;
}

} // namespace cudart_cpu::detail
