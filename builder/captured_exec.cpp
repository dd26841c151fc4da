// Launches of Execs into captured streams: their nodes, written into the capture as they are in force.
#include <cudag/builder.hpp>
#include <cudag/stream_capture.hpp>

#include "capture/capture_by_number.hpp"
#include "capture/capture_state.hpp"
#include "capture_nodes.hpp"
#include "cuda/compat.hpp"
#include "cuda/failure.hpp"
#include "exec/exec_in_force.hpp"
#include "exec/exec_state.hpp"
#include "graph/find.hpp"
#include "graph/graph_owners.hpp"
#include "graph/graph_state.hpp"
#include "graph/names.hpp"
#include "graph_writer.hpp"
#include "read/reader.hpp"
#include "require_allowed.hpp"

#include <cuda_runtime_api.h>

#include <list>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace cudag::detail {

namespace {

/// After a whole update, parameters have addresses and conditions of the other graph, which CUDA translates unseen.
void require_own_memory(const ExecState& exec, const std::string& action) {
    if (&exec.effective().basis() == &exec.source()) return;
    const NodePlace node = find_unlike(exec.source(), &KindRules::can_have_execs);
    if (node)
        refuse("a whole update has given this Exec the parameters of another graph, and the memory and conditions of "
               "both differ; launch an Exec made from that graph",
               node.subject(action + ": "), cudaErrorNotSupported);
}

/// The state of an exec's nodes, whose batches lack their disabled copies.
class WithoutDisabledCopies final : public InForce {
  public:
    explicit WithoutDisabledCopies(const ExecState& exec) noexcept : exec_(exec), in_force_(exec) {}

    [[nodiscard]] const NodeParams& params(const NodePlace& node) const override {
        const Shadow* const shadow = exec_.effective().find_shadow(node);
        if (shadow == nullptr || shadow->disabled_copies.empty()) return in_force_.params(node);
        Batch& batch = batches_.emplace_back();
        batch.block = without_disabled(*std::get<const CopyBatchParams*>(shadow->params.view()),
                                       shadow->disabled_copies, batch.list);
        batch.params = &batch.block;
        return batch.params;
    }
    void for_each_declared(const NodePlace& node, const AccessVisitor& visit) const override {
        in_force_.for_each_declared(node, visit);
    }
    [[nodiscard]] std::uint32_t region(const NodePlace& node) const override { return in_force_.region(node); }
    [[nodiscard]] std::uint64_t declared_version(const GraphState& graph) const override {
        return in_force_.declared_version(graph);
    }

  private:
    struct Batch {
        std::vector<CopyOfBatch> list;
        CopyBatchParams block{};
        NodeParams params;
    };

    const ExecState& exec_;
    ExecInForce in_force_;
    mutable std::list<Batch> batches_;
};

/// Writes the nodes of `exec` into `graph`, which is captured into.
void write_exec(GraphState& graph, GraphState& source, ExecState& exec, const std::string& action) {
    const SourceLocation& where = source.construction().made_at;
    require_allowed(graph, NodeKind::empty, where);
    read_all(source);
    const auto lock = source.lock();
    require_own_memory(exec, action);
    const WithoutDisabledCopies in_force(exec);
    write_again(graph, source, action, where, {in_force, exec.native()});
    std::vector<std::shared_ptr<const void>> owners;
    const auto add = [&](const std::shared_ptr<const void>& owner) { owners.push_back(owner); };
    exec.owners().for_each_brought(add);
    exec.effective().for_each_owner(add);
    if (!owners.empty()) keep_owners(graph, std::move(owners));
}

} // namespace

bool ExecState::is_recorded(cudaStream_t stream) {
    if (stream == nullptr || stream == cudaStreamLegacy) return false;
    cudaStreamCaptureStatus status{};
    unsigned long long number = 0;
    cudaGraph_t native = nullptr;
    const cudaError_t asked = compat::stream_get_capture_info(stream, &status, &number, &native);
    ignore(asked); // the launch reports it
    if (asked != cudaSuccess || status != cudaStreamCaptureStatusActive) return false;

    const SourceLocation& where = source_->construction().made_at;
    const std::string action = "launch of an Exec of " + describe_graph(*source_);
    if (CaptureState* const capture = CaptureByNumber::find(number)) {
        try {
            add_to_capture(*capture, stream, {action, {}, {}}, [&](const std::shared_ptr<GraphState>& graph) {
                write_exec(*graph, *source_, *this, action);
            });
        } catch (const Error& error) {
            capture->open().note_refused(error.what());
            throw;
        }
        return true;
    }
    if (!options_.capturable) return false;
    StreamCapture joined = StreamCapture::join_existing(StreamRef(stream), {}, where);
    joined.add(
        [&](GraphBuilder& b) {
            static_cast<void>(Access::place(b, where, [&](GraphState& graph) {
                write_exec(graph, *source_, *this, action);
                return 0;
            }));
        },
        where);
    std::move(joined).leave();
    return true;
}

} // namespace cudag::detail
