// Memcpy and memset nodes.
#pragma once

#include "graph_work.hpp"

#include <driver_types.h>

#include <cstddef>

namespace cudart_cpu::detail {

class MemcpyWork final : public Work {
  public:
    static constexpr cudaGraphNodeType node_type = cudaGraphNodeTypeMemcpy;

    /// Validates like the driver when a node is added or changed.
    explicit MemcpyWork(const cudaMemcpy3DParms& params);
    MemcpyWork(void* destination, const void* source, std::size_t bytes, cudaMemcpyKind kind);
    /// Makes a copy in one dimension: without the pitches of `copy`.
    static std::shared_ptr<MemcpyWork> linear(const cudaMemcpy3DParms& copy);

    /// The parameters in CUDA's form: no xsize, and no pitch and ysize unless they were given.
    const cudaMemcpy3DParms& params() const noexcept { return params_; }

    cudaGraphNodeType type() const noexcept override { return node_type; }
    std::string title() const override;
    std::string details() const override;
    void run() const override;
    bool can_be_disabled() const noexcept override { return true; }
    /// Whether the source is read when the launch is called, as by the driver: true for small copies from pageable to
    /// device memory. The read waits for copies that hold up the launch, but for no other nodes before it.
    bool is_staged() const noexcept override { return is_staged_; }
    WorkPointer staged() const override;
    /// True for copies to pageable memory, copies within the host, and large ones from pageable memory.
    bool holds_launch() const noexcept override { return holds_launch_; }
    std::optional<BodyRefusal> refuse_in_body() const override;
    std::string refuse_device_launch() const override;
    std::string refuse_operands(const Work* current) const override;
    std::optional<Refusal> refuse_node_update(const Work& next) const override;
    std::optional<Refusal> refuse_graph_update(const Work& next, bool fixed_priority) const override;

  private:
    std::size_t bytes() const noexcept;
    bool is_1d() const noexcept;

    /// The origin of an operand's memory; updates of an exec's copies cannot change it. The host's memory counts as a
    /// context's.
    enum class Origin { context, pool, graph };
    static Origin origin_of(const void* memory);

    cudaMemcpy3DParms params_;
    Origin source_origin_;
    Origin destination_origin_;
    bool is_pageable_; // true if an operand is pageable host memory
    bool is_staged_;
    bool holds_launch_;
    std::shared_ptr<std::byte[]> stage_; // the source of a staged copy
    bool has_array_;
    std::size_t row_bytes_ = 0;
};

class MemsetWork final : public Work {
  public:
    static constexpr cudaGraphNodeType node_type = cudaGraphNodeTypeMemset;

    /// Validates like the driver when a node is added or changed.
    explicit MemsetWork(const cudaMemsetParams& params);
    /// Makes the work of a captured memset: only an exec checks its memory.
    static std::shared_ptr<MemsetWork> captured(const cudaMemsetParams& params);

    const cudaMemsetParams& params() const noexcept { return params_; }

    cudaGraphNodeType type() const noexcept override { return node_type; }
    std::string title() const override;
    std::string details() const override;
    void run() const override;
    bool can_be_disabled() const noexcept override { return true; }
    /// True for one row of up to 4096 bytes outside managed memory, as for the driver (580, on an H200 and an H100).
    bool forgets_order() const override;
    std::string refuse_exec() const override;
    std::string refuse_device_launch() const override { return {}; }
    std::string refuse_operands(const Work* current) const override;
    std::optional<Refusal> refuse_node_update(const Work& next) const override;
    std::optional<Refusal> refuse_graph_update(const Work& next, bool fixed_priority) const override;

  private:
    struct Unchecked {};
    MemsetWork(Unchecked, const cudaMemsetParams& params) : params_(params) {}
    std::size_t bytes() const noexcept;

    cudaMemsetParams params_;
};

} // namespace cudart_cpu::detail
