// build() against plain searches: random graphs that allocate, use and free memory, right or wrong.
#include <algorithm>
#include <optional>
#include <random>
#include <utility>

#include "memory_nodes.hpp"

using cudag::AllocNode;
using cudag::FreeNode;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::Node;

namespace {

struct Memory {
    AllocNode<int> node;
    std::size_t alloc;
    std::optional<std::size_t> free;
};

/// A graph whose nodes come after earlier ones only, so that their numbers are an order.
class RandomGraph {
  public:
    explicit RandomGraph(unsigned seed) : random_(seed), mistakes_(seed % 2 == 0 ? 0 : 3) {
        const unsigned width = 1 + below(4); // of nodes that a new one may come after
        for (std::size_t i = 0; i < 40; ++i)
            add(width);
        for (std::size_t m = 0; m < memory_.size(); ++m)
            if (!memory_[m].free) free(m);
    }

    /// Whether memory is used between its allocation and its free node only, on every path.
    [[nodiscard]] bool is_right() const {
        for (const Memory& memory : memory_)
            if (!comes_after(*memory.free, memory.alloc)) return false;
        return std::all_of(uses_.begin(), uses_.end(), [this](const Use& use) {
            return std::any_of(memory_.begin(), memory_.end(), [&](const Memory& memory) {
                return memory.node.span().data() == use.address && comes_after(use.node, memory.alloc) &&
                       comes_after(*memory.free, use.node);
            });
        });
    }
    [[nodiscard]] bool reuses() const { return reuses_; }
    [[nodiscard]] GraphBuilder& builder() { return builder_; }

  private:
    struct Use {
        std::size_t node;
        int* address;
    };

    unsigned below(std::size_t end) { return std::uniform_int_distribution<unsigned>(0, unsigned(end) - 1)(random_); }
    bool percent(unsigned chance) { return below(100) < chance; }
    bool is_mistaken() { return percent(mistakes_); }

    void add(unsigned width) {
        const unsigned kind = below(10);
        if (memory_.empty() || kind < 2)
            alloc();
        else if (kind < 8)
            use(width);
        else
            free(below(memory_.size()));
    }

    void alloc() {
        cudag::AllocOptions options;
        std::vector<std::size_t> after;
        for (const Memory& memory : memory_)
            if (memory.free && percent(60)) after.push_back(*memory.free);
        for (const std::size_t node : after)
            options.after.push_back(nodes_[node]);
        const auto node = builder_.alloc<int>(1 + below(3), options);
        for (const Memory& memory : memory_)
            reuses_ = reuses_ || memory.node.span().data() == node.span().data();
        memory_.push_back({node, nodes_.size(), std::nullopt});
        note(node, std::move(after));
    }

    void use(unsigned width) {
        std::size_t number = below(memory_.size());
        for (std::size_t i = 0; i < memory_.size() && memory_[number].free && !is_mistaken(); ++i)
            number = (number + 1) % memory_.size();
        const Memory& memory = memory_[number];
        if (memory.free && mistakes_ == 0) return alloc();
        const auto node = builder_.kernel({}, store, memory.node.span().data(), 1);
        std::vector<std::size_t> after;
        if (!is_mistaken()) after.push_back(memory.alloc);
        for (unsigned i = 0; i < width; ++i)
            if (percent(40)) after.push_back(nodes_.size() - 1 - below(std::min<std::size_t>(nodes_.size(), 6)));
        connect(node, after);
        uses_.push_back({nodes_.size(), memory.node.span().data()});
        note(node, std::move(after));
    }

    void free(std::size_t number) {
        Memory& memory = memory_[number];
        const bool well = !is_mistaken();
        if (memory.free) return;
        const auto node = builder_.free(memory.node);
        std::vector<std::size_t> after;
        if (well) after.push_back(memory.alloc);
        for (const Use& use : uses_)
            if (well && use.address == memory.node.span().data()) after.push_back(use.node);
        connect(node, after);
        memory.free = nodes_.size();
        note(node, std::move(after));
    }

    template <class N>
    void connect(const N& node, const std::vector<std::size_t>& after) {
        for (const std::size_t other : after)
            node.after(nodes_[other]);
    }

    void note(const Node& node, std::vector<std::size_t>&& after) {
        std::vector<bool> before(nodes_.size() + 1);
        for (const std::size_t other : after) {
            before[other] = true;
            for (std::size_t i = 0; i < before_[other].size(); ++i)
                before[i] = before[i] || before_[other][i];
        }
        nodes_.push_back(node);
        before_.push_back(std::move(before));
    }
    [[nodiscard]] bool comes_after(std::size_t node, std::size_t other) const {
        return other < before_[node].size() && before_[node][other];
    }

    std::mt19937 random_;
    unsigned mistakes_; ///< in percent
    GraphBuilder builder_;
    std::vector<Node> nodes_;
    std::vector<std::vector<bool>> before_; ///< which nodes each one comes after
    std::vector<Memory> memory_;
    std::vector<Use> uses_;
    bool reuses_ = false;
};

} // namespace

TEST_CASE("build() takes exactly the graphs that use memory while it is there", "[memory][order]") {
    unsigned taken = 0;
    unsigned refused = 0;
    unsigned reused = 0;
    for (unsigned seed = 0; seed < 150; ++seed) {
        CAPTURE(seed);
        RandomGraph random(seed);
        const bool right = random.is_right();
        bool built = true;
        try {
            random.builder().check();
        } catch (const GraphError&) {
            built = false;
        }
        CHECK(built == right);
        ++(built ? taken : refused);
        reused += random.reuses() && built ? 1U : 0U;
    }
    CHECK(taken > 30); // else it tests little
    CHECK(refused > 30);
    CHECK(reused > 10);
}
