// Runs of conditional nodes.
#include "exec_conditional.hpp"

#include "graph/graph_conditional_work.hpp"
#include "kernel/launch_context.hpp"
#include "runtime/kernel_failure.hpp"

namespace cudart_cpu::detail {

namespace {

class ConditionalRun final : public Work {
  public:
    ConditionalRun(const LaunchNode& node, const RunBody& run_body) : node_(node), run_body_(run_body) {}

    cudaGraphNodeType type() const noexcept override { return ConditionalWork::node_type; }
    std::string title() const override { return node_.work->title(); }
    void run() const override {
        const auto& work = static_cast<const ConditionalWork&>(*node_.work);
        do {
            const auto body = work.body_for(current_launch()->conditions.get(work.handle()));
            if (!body) return;
            run_body_(node_.bodies[*body]);
        } while (work.repeats() && !has_kernel_failed()); // then no kernel ends the loop
    }

  private:
    const LaunchNode& node_;
    const RunBody& run_body_;
};

} // namespace

WorkPointer conditional_run(const LaunchNode& node, const RunBody& run_body) {
    return std::make_shared<ConditionalRun>(node, run_body);
}

} // namespace cudart_cpu::detail
