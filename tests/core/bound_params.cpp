// Which uses of BufferParams an exec keeps, and which it looks for again.
#include "exec/bound_params.hpp"

#include "catch.hpp"
#include "empty_graph.hpp"

#include <cstddef>
#include <memory>
#include <vector>

using cudag::detail::BoundParams;
using cudag::detail::DeclaredUse;
using cudag::detail::MemoryUses;
using cudag::detail::ParamMemory;

namespace {

constexpr std::size_t most = 32; ///< parameters without a use that are kept for a graph without addresses

ParamMemory param(std::size_t number) {
    ParamMemory memory{};
    memory.address = 4096 * (number + 1);
    memory.bytes = 64;
    return memory;
}

class Kept {
  public:
    /// What is bound: it is looked for, and kept.
    const MemoryUses* bind(std::size_t number, const BoundParams::Uses& uses = nullptr) {
        list_.push_back(uses != nullptr ? uses : bound_.find(*graph_, *graph_, param(number)));
        bound_.keep(*graph_, param(number), list_.back());
        return list_.back().get();
    }
    /// Whether the uses of a parameter are those that were kept.
    [[nodiscard]] bool has(std::size_t number, const MemoryUses* uses) {
        list_.push_back(bound_.find(*graph_, *graph_, param(number)));
        return list_.back().get() == uses;
    }
    /// A node has declared something since.
    void declare() const { graph_->records().count_declared(); }

  private:
    std::shared_ptr<cudag::detail::GraphState> graph_ = empty_graph();
    BoundParams bound_;
    std::vector<BoundParams::Uses> list_; ///< all: no two are at one address
};

/// Binds as many as are kept, and one more, which only the first one goes for.
void fill(Kept& kept) {
    std::vector<const MemoryUses*> uses;
    for (std::size_t i = 0; i < most; ++i)
        uses.push_back(kept.bind(i));
    for (std::size_t i = 0; i < most; ++i)
        CHECK(kept.has(i, uses[i]));
    uses.push_back(kept.bind(most));
    CHECK_FALSE(kept.has(0, uses[0]));
    for (std::size_t i = 1; i <= most; ++i)
        CHECK(kept.has(i, uses[i]));
    CHECK(kept.bind(1) == uses[1]); // it is the last one then
    uses.push_back(kept.bind(most + 1));
    CHECK(kept.has(1, uses[1]));
    CHECK_FALSE(kept.has(2, uses[2]));
    CHECK(kept.has(3, uses[3]));
    CHECK(kept.has(most + 1, uses[most + 1]));
}

} // namespace

TEST_CASE("of parameters that were bound, the uses of so many are kept, the last ones") {
    Kept kept;
    fill(kept);
}

TEST_CASE("after a declaration all uses are looked for again, and as many kept as before") {
    Kept kept;
    for (unsigned time = 0; time < 3; ++time) {
        kept.declare();
        fill(kept);
        const MemoryUses* const uses = kept.bind(most);
        CHECK(kept.has(most, uses));
        kept.declare();
        CHECK_FALSE(kept.has(most, uses));
    }
}

TEST_CASE("a parameter of more uses than are kept is kept until the next one is bound") {
    const auto many = std::make_shared<MemoryUses>();
    many->declared.resize(100, DeclaredUse{{}, 0});
    Kept kept;
    CHECK(kept.bind(0, many) == many.get());
    CHECK(kept.has(0, many.get()));
    const MemoryUses* const next = kept.bind(1);
    CHECK_FALSE(kept.has(0, many.get()));
    CHECK(kept.has(1, next));
}
