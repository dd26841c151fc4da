// What programs write above CUDA's graphs by hand.
#include "hand_written.hpp"

#include <cudag/cudag.hpp>

namespace bench {

HandWrittenStore::~HandWrittenStore() {
    for (const Entry& entry : entries_)
        static_cast<void>(cudaGraphExecDestroy(entry.exec));
}

void HandWrittenStore::launch(cudaGraph_t graph, const std::string& key, cudaStream_t stream) {
    const auto known = by_key_.find(key);
    if (known == by_key_.end()) {
        entries_.push_front({key, nullptr});
        instantiate(entries_.front(), graph);
        by_key_.emplace(key, entries_.begin());
        if (entries_.size() > capacity_) {
            cudag::check(cudaGraphExecDestroy(entries_.back().exec));
            by_key_.erase(entries_.back().key);
            entries_.pop_back();
        }
    } else {
        entries_.splice(entries_.begin(), entries_, known->second);
        cudaGraphExecUpdateResultInfo info{};
        if (cudaGraphExecUpdate(entries_.front().exec, graph, &info) != cudaSuccess) {
            static_cast<void>(cudaGetLastError());
            cudag::check(cudaGraphExecDestroy(entries_.front().exec));
            instantiate(entries_.front(), graph);
        }
    }
    cudag::check(cudaGraphLaunch(entries_.front().exec, stream));
}

void HandWrittenStore::instantiate(Entry& entry, cudaGraph_t graph) {
    cudag::check(cudaGraphInstantiate(&entry.exec, graph, 0));
    ++instantiations_;
}

} // namespace bench
