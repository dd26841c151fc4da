// What programs write above CUDA's graphs by hand: a store of executable graphs by kinds of nodes and edges.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>

namespace bench {

class HandWrittenStore {
  public:
    explicit HandWrittenStore(std::size_t capacity) : capacity_(capacity) {}
    ~HandWrittenStore();
    HandWrittenStore(const HandWrittenStore&) = delete;
    HandWrittenStore& operator=(const HandWrittenStore&) = delete;

    /// Launches `graph` by an executable graph that was made of one with the same key, updated; else by a new one.
    void launch(cudaGraph_t graph, const std::string& key, cudaStream_t stream);

    [[nodiscard]] std::uint64_t instantiations() const noexcept { return instantiations_; }

  private:
    struct Entry {
        std::string key;
        cudaGraphExec_t exec;
    };
    using Entries = std::list<Entry>;

    void instantiate(Entry& entry, cudaGraph_t graph);

    std::size_t capacity_;
    Entries entries_; ///< the last launched first
    std::unordered_map<std::string, Entries::iterator> by_key_;
    std::uint64_t instantiations_ = 0;
};

} // namespace bench
