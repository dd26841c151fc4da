// Launches that hold up their call for copies to pageable memory, and the copies behind those.
#include "exec_pageable.hpp"

#include <utility>

namespace cudart_cpu::detail {

/// A copy for which the call waits.
class PageableCopies::HoldingRun final : public Work {
  public:
    HoldingRun(WorkPointer work, std::shared_ptr<PageableCopies> copies, std::size_t number)
        : work_(std::move(work)), copies_(std::move(copies)), number_(number) {}

    cudaGraphNodeType type() const noexcept override { return work_->type(); }
    std::string title() const override { return work_->title(); }
    void run() const override {
        work_->run();
        copies_->finish(number_);
    }

  private:
    WorkPointer work_;
    std::shared_ptr<PageableCopies> copies_;
    std::size_t number_;
};

/// A copy staged while the launch runs.
class PageableCopies::LateRun final : public Work {
  public:
    LateRun(WorkPointer work, std::shared_ptr<PageableCopies> copies, std::size_t number)
        : work_(std::move(work)), copies_(std::move(copies)), number_(number) {}

    cudaGraphNodeType type() const noexcept override { return work_->type(); }
    std::string title() const override { return work_->title(); }
    void run() const override { copies_->late(number_)->run(); }

  private:
    WorkPointer work_;
    std::shared_ptr<PageableCopies> copies_;
    std::size_t number_;
};

PageableCopies::PageableCopies(const LaunchGraph& graph) : graph_(graph), unfinished_(graph.holding.size()) {
    for (const LateNode& late : graph.late)
        late_.push_back({graph.nodes[late.node].work, nullptr, late.after.size()});
}

PageableCopies::~PageableCopies() {
    if (unfinished_ > 0) done_->finish();
}

void PageableCopies::put(const std::shared_ptr<PageableCopies>& copies, const LaunchGraph& graph,
                         std::vector<WorkPointer>& works) {
    for (std::size_t i = 0; i < graph.holding.size(); ++i) {
        WorkPointer& work = works[graph.holding[i]];
        work = std::make_shared<HoldingRun>(std::move(work), copies, i);
    }
    for (std::size_t i = 0; i < graph.late.size(); ++i) {
        WorkPointer& work = works[graph.late[i].node];
        work = std::make_shared<LateRun>(std::move(work), copies, i);
    }
}

/// Stages the late copies with no unfinished copy before them, while the call still waits.
void PageableCopies::finish(std::size_t holding) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < late_.size(); ++i) {
        for (const std::uint32_t before : graph_.late[i].after)
            if (before == holding && --late_[i].missing == 0) late_[i].staged = late_[i].original->staged();
    }
    if (--unfinished_ == 0) done_->finish();
}

WorkPointer PageableCopies::late(std::size_t number) {
    const std::lock_guard lock(mutex_);
    return late_[number].staged;
}

} // namespace cudart_cpu::detail
