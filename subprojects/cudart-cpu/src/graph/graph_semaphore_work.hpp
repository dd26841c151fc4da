// Nodes for signals of external semaphores, and for waits for them.
#pragma once

#include "graph_work.hpp"
#include "stream/external_semaphore_ops.hpp"

namespace cudart_cpu::detail {

struct SignalNode {
    using Operation = SemaphoreSignal;
    using Params = cudaExternalSemaphoreSignalNodeParams;
    static constexpr cudaGraphNodeType type = cudaGraphNodeTypeExtSemaphoreSignal;
    static constexpr const char* verb = "signal ";
};

struct WaitNode {
    using Operation = SemaphoreWait;
    using Params = cudaExternalSemaphoreWaitNodeParams;
    static constexpr cudaGraphNodeType type = cudaGraphNodeTypeExtSemaphoreWait;
    static constexpr const char* verb = "wait for ";
};

template <class Kind>
class SemaphoreWork final : public Work {
  public:
    static constexpr cudaGraphNodeType node_type = Kind::type;
    using Params = typename Kind::Params;

    explicit SemaphoreWork(const Params& params)
        : operations_(params.extSemArray, params.paramsArray, params.numExtSems) {}

    /// The pointers point into this object.
    Params params() const noexcept {
        return {const_cast<cudaExternalSemaphore_t*>(operations_.handles().data()), operations_.params().data(),
                static_cast<unsigned>(count())};
    }

    cudaGraphNodeType type() const noexcept override { return node_type; }
    std::string title() const override { return text(Kind::verb, count(), " external semaphores"); }
    std::string details() const override {
        std::string result = title();
        for (std::size_t i = 0; i < count(); ++i)
            result += text(i == 0 ? ": " : ", ", operations_.handles()[i], " value ",
                           operations_.params()[i].params.fence.value);
        return result;
    }
    void run() const override { operations_.run(); }
    std::optional<Refusal> refuse_node_update(const Work& next) const override {
        return refuse_graph_update(next, false);
    }
    std::optional<Refusal> refuse_graph_update(const Work& next, bool) const override {
        const std::size_t other = static_cast<const SemaphoreWork&>(next).count();
        if (other == count()) return std::nullopt;
        return Refusal{cudaGraphExecUpdateErrorParametersChanged,
                       text("the number of external semaphores cannot change from ", count(), " to ", other)};
    }

  private:
    std::size_t count() const noexcept { return operations_.handles().size(); }

    SemaphoreOperations<typename Kind::Operation> operations_;
};

using SignalWork = SemaphoreWork<SignalNode>;
using SemaphoreWaitWork = SemaphoreWork<WaitNode>;

} // namespace cudart_cpu::detail
