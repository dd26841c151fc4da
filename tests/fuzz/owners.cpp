// Owners: whatever happens to graphs, execs and streams, memory lives as long as a launch may use it, and no longer.
#include "races.hpp"

#include "bench.hpp"
#include "random.hpp"
#include "report.hpp"
#include "work.hpp"

#include <cudag/cudag.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace {

using cudag::Exec;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::MemcpyNode;

using OwnedBlock =
    std::array<std::uint32_t, 2>; ///< what an owner owns: in pinned memory, so that launches wait for no copy
constexpr std::uint32_t gone_word = 0xdeadbeef;
constexpr unsigned most_copies = 3;
constexpr unsigned most_owning_execs = 2;

enum class OwnerPlace { alone, clone, child, moved, captured };
constexpr const char* names_of_places[] = {"alone", "a clone", "a child", "a moved child", "captured"};

/// A graph, and its copies: each copies a block that only it and its Execs own.
struct OwningGraph {
    std::optional<Graph> graph;
    std::vector<MemcpyNode> copies;
    std::optional<cudag::ChildNode> child;
    unsigned targets = 0; ///< where it copies to, which no other graph does
    bool has_exec = false;
};

struct OwningExec {
    std::optional<Exec> exec;
    std::shared_ptr<OwningGraph> source; ///< whose handles are those to use
};

class OthersStream {
  public:
    OthersStream() { cudag::check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
    ~OthersStream() { static_cast<void>(cudaStreamDestroy(stream_)); }
    OthersStream(const OthersStream&) = delete;
    OthersStream& operator=(const OthersStream&) = delete;
    [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }

  private:
    cudaStream_t stream_ = nullptr;
};

class OwnersFuzz {
  public:
    OwnersFuzz(Bench& bench, std::uint64_t seed) : bench_(bench), random_(seed) {}
    ~OwnersFuzz() { static_cast<void>(cudaDeviceSynchronize()); } // host nodes are in here

    void run() {
        place_ = static_cast<OwnerPlace>(random_.below(5));
        nodes_ = random_.between(1, most_copies);
        note("{} copies, {}", nodes_, names_of_places[static_cast<unsigned>(place_)]);
        graphs_.push_back(write());
        instantiate();
        const unsigned count = random_.between(10, 40);
        for (unsigned i = 0; i < count; ++i) {
            operate();
            if (random_.percent(60)) launch();
        }
        finish();
    }

  private:
    /// A new block, and what watches it.
    std::shared_ptr<OwnedBlock> own() {
        constexpr unsigned first = Bench::areas / 2;
        require(owned_.size() < Bench::areas / 2, "too many owners");
        auto* const words =
            bench_.words.data() + std::size_t{first + static_cast<unsigned>(owned_.size())} * area_words;
        auto* const block = new (words) OwnedBlock{static_cast<std::uint32_t>(owned_.size()) + 1, 0};
        std::shared_ptr<OwnedBlock> owner(block, [](OwnedBlock* last) { (*last)[0] = gone_word; });
        owned_.push_back(owner);
        return owner;
    }

    /// Launches of several Execs run at once: each Exec has targets of its own.
    [[nodiscard]] cudag::DeviceSpan<std::uint32_t> target(unsigned i) const {
        return {bench_.words.data() + std::size_t{i} * area_words, 2};
    }
    unsigned new_targets() {
        require(targets_ + nodes_ <= Bench::areas / 2, "too many graphs");
        return std::exchange(targets_, targets_ + nodes_);
    }

    /// Each copy after a while, and looked at.
    std::vector<MemcpyNode> write_into(GraphBuilder& b, unsigned targets) {
        std::vector<MemcpyNode> copies;
        const auto wait = b.host([pause = std::chrono::microseconds(random_.below(random_.percent(30) ? 8000 : 300))] {
            std::this_thread::sleep_for(pause);
        });
        for (unsigned i = 0; i < nodes_; ++i) {
            const MemcpyNode copy = b.memcpy(target(targets + i), own());
            copy.after(wait);
            b.host([this, at = targets + i] {
                 if (target(at).data()[0] == gone_word) ++lost_;
             }).after(copy);
            copies.push_back(copy);
        }
        b.retain(own());
        return copies;
    }

    Graph write_inner(std::vector<MemcpyNode>& copies, unsigned targets) {
        GraphBuilder b;
        copies = write_into(b, targets);
        return std::move(b).build();
    }

    Graph capture(std::vector<MemcpyNode>& copies, unsigned targets) {
        const cudag::Stream& stream = bench_.captured[0];
        Graph graph = cudag::capture(stream, [&](cudag::StreamCapture& c) {
            for (unsigned i = 0; i < nodes_; ++i)
                cudag::memcpy_async(c.stream(), target(targets + i), own());
            c.retain(own());
        });
        for (const cudag::Node& node : graph.nodes())
            if (node.kind() == cudag::NodeKind::memcpy) copies.push_back(node.as<MemcpyNode>());
        return graph;
    }

    std::shared_ptr<OwningGraph> write() {
        auto written = std::make_shared<OwningGraph>();
        written->targets = new_targets();
        if (place_ == OwnerPlace::captured) {
            written->graph = capture(written->copies, written->targets);
            return written;
        }
        std::vector<MemcpyNode> inside;
        Graph inner = write_inner(inside, written->targets);
        if (place_ == OwnerPlace::alone) {
            written->graph = std::move(inner);
            written->copies = inside;
        } else if (place_ == OwnerPlace::clone) {
            written->graph = inner.clone();
            for (const MemcpyNode& copy : inside)
                written->copies.push_back(written->graph->counterpart(copy));
        } else {
            GraphBuilder outer;
            written->child = place_ == OwnerPlace::child ? outer.child(inner) : outer.child(std::move(inner));
            for (const MemcpyNode& copy : inside)
                written->copies.push_back(place_ == OwnerPlace::child ? written->child->inside(copy) : copy);
            written->graph = std::move(outer).build();
        }
        return written;
    }

    /// A graph that has no exec yet.
    std::shared_ptr<OwningGraph> take_graph() {
        const auto unused = std::ranges::find_if(graphs_, [](const auto& graph) { return !graph->has_exec; });
        const std::shared_ptr<OwningGraph> graph = unused != graphs_.end() ? *unused : write();
        if (unused == graphs_.end()) graphs_.push_back(graph);
        graph->has_exec = true;
        return graph;
    }

    void instantiate() {
        const std::shared_ptr<OwningGraph> source = take_graph();
        note("an Exec");
        execs_.push_back({source->graph->instantiate(), source});
        if (execs_.size() > most_owning_execs) execs_.erase(execs_.begin());
    }

    void launch() {
        if (execs_.empty()) instantiate();
        Exec& exec = *random_.pick(execs_).exec;
        const unsigned way = random_.below(7);
        note("  launch {}", way);
        ++report->launches;
        switch (way) {
        case 0:
        case 1:
            return exec.launch(bench_.streams[way]);
        case 2:
            return exec.launch(plain_.get());
        case 3:
            return exec.launch(OthersStream().get()); // which goes at once
        case 4:
            return exec.launch(cudag::Stream());
        case 5:
            return cudag::check(cudaGraphLaunch(exec.native(), plain_.get()));
        default:
            caches_.emplace_back(cudag::ExecCacheOptions{.capacity = 1});
            if (caches_.size() > 2) caches_.pop_front();
            caches_.back().launch(*take_graph()->graph, plain_.get());
            return;
        }
    }

    void operate() {
        switch (random_.below(20)) { // updates of Execs as a rule
        case 0:
            note("a graph");
            graphs_.push_back(write());
            return;
        case 1:
            return instantiate();
        case 2:
            if (graphs_.empty()) return;
            note("a graph goes");
            graphs_.erase(graphs_.begin() + random_.below(graphs_.size()));
            return;
        case 3:
            if (execs_.empty()) return;
            note("an Exec goes");
            execs_.erase(execs_.begin() + random_.below(execs_.size()));
            return;
        case 4:
            note("synchronize");
            return bench_.streams[random_.below(2)].synchronize();
        case 5:
            return launch_native(*take_graph()->graph);
        case 6:
            if (graphs_.empty()) return;
            return update_graph(*random_.pick(graphs_));
        case 7:
            note("another thread's Exec goes");
            if (execs_.empty()) return;
            return std::thread([this] { execs_.pop_back(); }).join();
        default:
            if (execs_.empty()) return;
            return update(random_.pick(execs_));
        }
    }

    void update(OwningExec& running) {
        const unsigned way = random_.below(6);
        note("  update {}", way);
        if (random_.percent(50)) running.exec->launch(random_.percent(50) ? plain_.get() : bench_.streams[0].get());
        const unsigned node = random_.below(nodes_);
        switch (way) {
        case 0:
        case 1:
            return running.exec->update(running.source->copies[node], target(running.source->targets + node), own());
        case 2:
            static_cast<void>(running.source->graph ? running.exec->apply(*running.source->graph) : std::size_t{0});
            return;
        case 3: {
            const std::shared_ptr<OwningGraph> next = write();
            const cudag::UpdateReport result = running.exec->update(*next->graph);
            require(result.updated(), "{}", result.to_string());
            return;
        }
        case 4: {
            const std::shared_ptr<OwningGraph> next = write();
            const cudag::UpdateReport result = running.exec->update(*next->graph, {.match = cudag::Match::structure});
            require(result.updated(), "{}", result.to_string());
            return;
        }
        default:
            if (!running.source->child) {
                const std::shared_ptr<OwningGraph> next = write();
                require(running.exec->update_or_instantiate(*next->graph).updated(), "update_or_instantiate");
                return;
            }
            std::vector<MemcpyNode> copies;
            Graph next = write_inner(copies, new_targets());
            running.exec->update(*running.source->child, next);
            if (random_.percent(50)) GraphBuilder().child(std::move(next)); // which goes at once
        }
    }

    void update_graph(OwningGraph& written) {
        if (place_ == OwnerPlace::child || place_ == OwnerPlace::moved) return; // their nodes are inside
        const unsigned node = random_.below(nodes_);
        note("update of a graph");
        written.graph->update(written.copies[node], target(written.targets + node), own());
    }

    /// By CUDA alone.
    void launch_native(const Graph& graph) {
        note("CUDA's own exec");
        cudaGraphExec_t exec = nullptr;
        cudag::check(cudaGraphInstantiate(&exec, graph.native(), 0));
        cudag::check(cudaGraphLaunch(exec, plain_.get()));
        cudag::check(cudaGraphExecDestroy(exec));
        ++report->launches;
    }

    void finish() {
        graphs_.clear();
        caches_.clear();
        if (random_.percent(50)) launch_all();
        execs_.clear();
        cudag::check(cudaDeviceSynchronize());
        require(lost_ == 0, "{} launches have found that what they use has gone", lost_.load());
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        const auto is_left = [](const std::weak_ptr<OwnedBlock>& block) { return !block.expired(); };
        while (std::ranges::any_of(owned_, is_left)) {
            require(std::chrono::steady_clock::now() < deadline, "{} of {} owners are left",
                    std::ranges::count_if(owned_, is_left), owned_.size());
            bench_.streams[0].synchronize();
        }
    }
    void launch_all() {
        for (OwningExec& running : execs_)
            running.exec->launch(plain_.get());
    }

    Bench& bench_;
    Random random_;
    OwnerPlace place_ = OwnerPlace::alone;
    unsigned nodes_ = 1;
    unsigned targets_ = 0; ///< how many graphs have
    std::atomic<unsigned> lost_ = 0;
    std::vector<std::weak_ptr<OwnedBlock>> owned_;
    OthersStream plain_;
    std::vector<std::shared_ptr<OwningGraph>> graphs_;
    std::vector<OwningExec> execs_;
    std::deque<cudag::ExecCache> caches_;
};

} // namespace

void fuzz_owners(Bench& bench, std::uint64_t seed) {
    run_leaving_nothing<OwnersFuzz>(bench, seed);
}
