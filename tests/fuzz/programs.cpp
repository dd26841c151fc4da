// Programs of conditions that kernels set, with inferred edges.
#include "races.hpp"

#include "act_nodes.hpp"
#include "acts.hpp"
#include "bench.hpp"
#include "kernels.hpp"
#include "report.hpp"

#include <cudag/cudag.hpp>

#include <array>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace {

using cudag::Condition;
using cudag::GraphBuilder;

constexpr unsigned most_conditions = 12;
constexpr unsigned none = 0xffffffff;

enum class Sort {
    act,
    decide, ///< a kernel that sets a condition, as act.to, act.a and act.salt say
    count,  ///< a kernel that ends a loop after some turns; act.to is what it counts in
    if_,
    while_,
    switch_,
};

struct Statement;
using Block = std::vector<Statement>;

struct Statement {
    Sort sort = Sort::act;
    Act act;
    unsigned condition = none;
    unsigned limit = 1;
    std::vector<Block> bodies;
    unsigned id = 0;
};

Accesses accesses_of(const Statement& statement);

Accesses accesses_of(const Block& block) {
    Accesses all;
    for (const Statement& statement : block) {
        const Accesses more = accesses_of(statement);
        all.insert(all.end(), more.begin(), more.end());
    }
    return all;
}

/// Conditions are memory: what kernels set, and what conditionals read.
Accesses accesses_of(const Statement& statement) {
    const Words cell{condition_cells + statement.condition, 1};
    switch (statement.sort) {
    case Sort::act:
        return accesses_of(statement.act);
    case Sort::decide:
        return {{statement.act.to, Use::write}, {statement.act.a, Use::read}, {cell, Use::write}};
    case Sort::count:
        return {{statement.act.to, Use::write}, {cell, Use::write}};
    default: {
        Accesses all{{cell, Use::read}};
        for (const Block& body : statement.bodies) {
            const Accesses more = accesses_of(body);
            all.insert(all.end(), more.begin(), more.end());
        }
        return all;
    }
    }
}

std::vector<Accesses> list_of(const Block& block) {
    std::vector<Accesses> all;
    for (const Statement& statement : block)
        all.push_back(accesses_of(statement));
    return all;
}

class ProgramsFuzz {
  public:
    ProgramsFuzz(Bench& bench, std::uint64_t seed) : bench_(bench), random_(seed) {}

    void run() {
        options_.buffers = random_.between(2, 4);
        program_ = block(random_.between(2, 7), 0);
        note_block(program_, 0);
        memory_ = fresh_memory(bench_, options_.buffers + most_conditions);
        cudag::Graph graph = write(program_);
        require(graph.races().empty(), "inferred edges leave a race");
        cudag::Exec exec = graph.instantiate();
        for (unsigned i = 0; i < 4; ++i) {
            launch(exec);
            if (random_.percent(60)) update(exec);
            if (random_.percent(20)) update_whole(exec);
        }
        launch(exec);
    }

  private:
    // What is drawn.

    Block block(unsigned count, unsigned depth, unsigned loop = none) {
        Block block;
        const unsigned place = random_.below(count);
        for (unsigned i = 0; i < count; ++i) {
            if (loop != none && i == place) add_count(block, loop);
            if (depth < 3 && conditions_.size() + 2 < most_conditions && random_.percent(30))
                add_conditional(block, depth);
            else
                add_act(block, depth);
        }
        return block;
    }

    Statement& add(Block& block, Sort sort) {
        Statement statement;
        statement.sort = sort;
        statement.id = count_++;
        ActOptions options = options_;
        options.hosts = false;
        if (sort == Sort::act) statement.act = random_act(options, random_);
        block.push_back(std::move(statement));
        return block.back();
    }

    void add_act(Block& block, unsigned depth) {
        Statement& statement = add(block, Sort::act);
        if (depth == 0 && random_.percent(15)) statement.act = random_act(options_, random_); // host nodes, too
    }

    void add_count(Block& block, unsigned condition) {
        Statement& statement = add(block, Sort::count);
        statement.condition = condition;
        statement.limit = random_.between(1, 3);
        statement.act.to = {(options_.buffers + condition) * buffer_stride, 8};
        statement.act.salt = random_.word();
    }

    void add_decide(Block& block, unsigned condition, unsigned limit) {
        Statement& statement = add(block, Sort::decide);
        ActOptions options = options_;
        options.hosts = options.raws = options.atomics = options.rows = false;
        do
            statement.act = random_act(options, random_);
        while (statement.act.kind != ActKind::combine);
        statement.act.b = {statement.act.a.first, 0};
        statement.condition = condition;
        statement.limit = limit;
    }

    /// Conditions are set by kernels before their conditional, some of them inside another conditional.
    void add_conditional(Block& block, unsigned depth) {
        constexpr Sort sorts[] = {Sort::if_, Sort::if_, Sort::while_, Sort::switch_};
        const Sort sort = random_.pick(sorts);
        const unsigned limit = sort == Sort::switch_ ? 4 : 2;
        const auto condition = static_cast<unsigned>(conditions_.size());
        conditions_.push_back(random_.percent(70) ? std::optional(random_.below(limit)) : std::nullopt);
        const unsigned setters = conditions_.back() ? random_.below(3) : random_.between(1, 2);
        for (unsigned i = 0; i < setters; ++i) {
            add_decide(block, condition, limit);
            if (random_.percent(30)) add_act(block, depth);
        }
        if (conditions_[condition] && depth < 2 && random_.percent(20)) {
            const auto outer = static_cast<unsigned>(conditions_.size());
            conditions_.emplace_back(random_.below(2));
            add_decide(block, outer, 2);
            Block inner;
            add_decide(inner, condition, limit);
            Statement& statement = add(block, Sort::if_);
            statement.condition = outer;
            statement.bodies.push_back(std::move(inner));
        }
        const unsigned bodies = sort == Sort::while_ ? 1 : random_.between(1, sort == Sort::if_ ? 2 : 3);
        std::vector<Block> drawn;
        for (unsigned i = 0; i < bodies; ++i)
            drawn.push_back(this->block(random_.between(1, 3), depth + 1, sort == Sort::while_ ? condition : none));
        Statement& statement = add(block, sort);
        statement.condition = condition;
        statement.bodies = std::move(drawn);
    }

    void note_block(const Block& block, unsigned indent) {
        constexpr const char* names[] = {"", "decide, ", "count, ", "if", "while", "switch"};
        for (const Statement& statement : block) {
            std::string text =
                fmt::format("{:{}}{}: {}", "", indent, statement.id, names[static_cast<unsigned>(statement.sort)]);
            if (statement.bodies.empty()) text += describe(statement.act);
            if (statement.condition != none) {
                text += fmt::format(" condition {}", statement.condition);
                if (conditions_[statement.condition]) text += fmt::format(" = {}", *conditions_[statement.condition]);
                text += fmt::format(", limit {}", statement.limit);
            }
            note("{}", text);
            for (const Block& body : statement.bodies) {
                note("{:{}}  body", "", indent);
                note_block(body, indent + 4);
            }
        }
    }

    // What is written.

    cudag::Graph write(const Block& program) {
        nodes_.assign(count_, {});
        made_.assign(conditions_.size(), std::nullopt);
        GraphBuilder b({.dependencies = cudag::Dependencies::inferred});
        write_block(b, program);
        cudag::Graph graph = std::move(b).build();
        require_order(graph, program, "the graph");
        if (nodes_.size() % 3 == 0) check_round_trip(graph);
        return graph;
    }

    void write_block(GraphBuilder& b, const Block& block) {
        // where their conditional is, which may be later than a kernel inside another one
        for (const Statement& statement : block)
            if (!statement.bodies.empty() && !made_[statement.condition]) {
                const std::optional<unsigned> initial = conditions_[statement.condition];
                made_[statement.condition] = initial ? b.condition(*initial) : b.condition();
            }
        for (const Statement& statement : block)
            nodes_[statement.id] = write_statement(b, statement);
    }

    cudag::Node write_statement(GraphBuilder& b, const Statement& statement) {
        const Act& act = statement.act;
        const auto body = [&](std::size_t i) {
            return [this, &statement, i](GraphBuilder& inner) { write_block(inner, statement.bodies[i]); };
        };
        const auto condition = [&]() -> const Condition& { return *made_[statement.condition]; };
        switch (statement.sort) {
        case Sort::act:
            return ::add_act(b, bench_, act).node;
        case Sort::decide:
            return b.kernel({}, fuzz_decide, span_of(bench_, act.to), act.to.count,
                            cudag::DeviceSpan<const std::uint32_t>(span_of(bench_, act.a)), act.a.count, act.salt,
                            condition(), statement.limit);
        case Sort::count:
            return b.kernel({}, fuzz_count, span_of(bench_, act.to), 0U, act.salt, condition(), statement.limit);
        case Sort::if_:
            if (statement.bodies.size() == 1) return b.if_(condition(), body(0));
            return b.if_(condition(), body(0), body(1));
        case Sort::while_:
            return b.while_(condition(), body(0));
        case Sort::switch_:
            break;
        }
        std::vector<std::function<void(GraphBuilder&)>> bodies;
        for (std::size_t i = 0; i < statement.bodies.size(); ++i)
            bodies.emplace_back(body(i));
        return b.switch_(condition(), bodies);
    }

    void require_order(const cudag::Graph& graph, const Block& block, const char* what) {
        std::vector<cudag::Node> nodes;
        for (const Statement& statement : block)
            nodes.push_back(nodes_[statement.id]);
        require_same_order(order_of(graph, nodes), needed_order(list_of(block), {}), block.size(), what);
        for (const Statement& statement : block) {
            const cudag::Node node = nodes_[statement.id];
            for (std::size_t i = 0; i < statement.bodies.size(); ++i)
                require_order(body_of(statement.sort, node, i), statement.bodies[i], "a body");
        }
    }

    static cudag::Graph body_of(Sort sort, const cudag::Node& node, std::size_t number) {
        if (sort == Sort::while_) return node.as<cudag::WhileNode>().body();
        if (sort == Sort::switch_) return node.as<cudag::SwitchNode>().body(number);
        return number == 0 ? node.as<cudag::IfNode>().body() : node.as<cudag::IfNode>().else_body();
    }

    // Launches.

    void launch(cudag::Exec& exec) {
        exec.launch(bench_.streams[0]);
        ++report->launches;
        for (std::size_t i = 0; i < conditions_.size(); ++i)
            values_[i] = conditions_[i].value_or(0);
        run_block(program_);
        bench_.streams[0].synchronize();
        require_memory(bench_, memory_, "a launch");
    }

    void run_block(const Block& block) {
        for (const Statement& statement : block)
            run_statement(statement);
    }

    void run_statement(const Statement& statement) {
        const Act& act = statement.act;
        switch (statement.sort) {
        case Sort::act:
            return perform(act, memory_.data());
        case Sort::decide:
            perform(act, memory_.data());
            values_[statement.condition] = decision_of(memory_[act.to.first], statement.limit);
            return;
        case Sort::count:
            values_[statement.condition] = count_work(memory_.data() + act.to.first, 0, act.salt, statement.limit);
            return;
        case Sort::if_:
            if (values_[statement.condition] != 0)
                run_block(statement.bodies[0]);
            else if (statement.bodies.size() > 1)
                run_block(statement.bodies[1]);
            return;
        case Sort::while_:
            while (values_[statement.condition] != 0) {
                set_back(statement.bodies[0]);
                run_block(statement.bodies[0]);
            }
            return;
        case Sort::switch_:
            if (values_[statement.condition] < statement.bodies.size())
                run_block(statement.bodies[values_[statement.condition]]);
        }
    }

    /// The conditions that were made inside a loop are initial in each turn.
    void set_back(const Block& block) {
        for (const Statement& statement : block) {
            if (statement.bodies.empty()) continue;
            if (const auto initial = conditions_[statement.condition]) values_[statement.condition] = *initial;
            for (const Block& body : statement.bodies)
                set_back(body);
        }
    }

    // Updates.

    static void list_statements(Block& block, std::vector<Statement*>& all) {
        for (Statement& statement : block) {
            if (statement.bodies.empty()) all.push_back(&statement);
            for (Block& body : statement.bodies)
                list_statements(body, all);
        }
    }

    void update(cudag::Exec& exec) {
        std::vector<Statement*> all;
        list_statements(program_, all);
        Statement& statement = *all[random_.below(all.size())];
        Act& act = statement.act;
        act.salt = random_.word();
        note("update {} to salt {:#x}", statement.id, act.salt);
        const cudag::Node& node = nodes_[statement.id];
        if (statement.sort == Sort::decide)
            exec.update(node.as(fuzz_decide), cudag::arg<4>(act.salt));
        else if (statement.sort == Sort::count)
            exec.update(node.as(fuzz_count), cudag::arg<2>(act.salt));
        else
            update_act(exec, bench_, node, act);
    }

    /// Another graph of the same program with other salts.
    void update_whole(cudag::Exec& exec) {
        std::vector<Statement*> all;
        list_statements(program_, all);
        for (Statement* statement : all)
            statement->act.salt = random_.word();
        note("update to another graph");
        const std::vector<cudag::Node> nodes = nodes_; // those of the exec stay
        const cudag::Graph next = write(program_);
        const cudag::UpdateReport result = exec.update(next);
        require(result.updated(), "{}", result.to_string());
        nodes_ = nodes;
    }

    Bench& bench_;
    Random random_;
    ActOptions options_;
    Block program_;
    unsigned count_ = 0;
    std::vector<std::optional<unsigned>> conditions_; ///< their initial values
    std::vector<cudag::Node> nodes_;                  ///< by id
    std::vector<std::optional<Condition>> made_;
    std::array<unsigned, most_conditions> values_{};
    std::vector<std::uint32_t> memory_;
};

} // namespace

void fuzz_programs(Bench& bench, std::uint64_t seed) {
    run_leaving_nothing<ProgramsFuzz>(bench, seed);
}
