// A random DAG in plain C++: what its steps do, what order they have, and what comes out.
#pragma once

#include "random.hpp"
#include "work.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

constexpr unsigned none = std::numeric_limits<unsigned>::max();

enum class Kind {
    kernel,
    host,
    copy,
    copy_2d,
    fill,
    fill_2d,
    record,
    wait,
    join,
    child,
    if_,
    while_,
    switch_,
    set,   ///< a kernel that sets the condition of a later conditional
    count, ///< a kernel in a loop that ends it
};

bool is_conditional(Kind kind);
/// Whether a step of that kind can be enqueued in a stream that is captured.
bool is_recordable(Kind kind);
/// Whether an Exec takes updates of single nodes of that kind.
bool has_params(Kind kind);
bool writes(Kind kind);

struct Step;

/// Steps in an order that their DAG allows.
struct Level {
    std::vector<Step> steps;
    bool captured = false; ///< a whole graph out of streams
};

struct Step {
    Kind kind = Kind::kernel;
    unsigned id = 0;               ///< in the whole plan, and that of its area
    std::vector<unsigned> after;   ///< of the same level, by place
    std::vector<unsigned> visible; ///< the areas that are written before it
    unsigned size = 1;             ///< words of a copy, elements of a fill, columns in two dimensions
    unsigned element = 4;          ///< bytes of one, of a fill
    unsigned condition = none;
    unsigned limit = 1;
    unsigned region = none; ///< steps in a row with the same number are captured together
    unsigned lane = 0;      ///< in which stream, then
    bool labelled = false;  ///< recorded in a step of the capture
    bool coarse = false;    ///< what comes after it comes after all of its region
    bool moved = false;     ///< a child: not cloned
    unsigned throws = 0;    ///< a conditional: so many attempts at its bodies throw
    std::vector<Level> bodies;
};

/// Whether a step that is captured is written into the capture by a builder, not enqueued.
bool is_written(const Step& step);

struct PlannedCondition {
    std::optional<unsigned> initial;
    bool early = false;           ///< made before all nodes, by the outermost builder
    bool is_set = false;          ///< by a step before its conditional
    unsigned of_step = none;      ///< the conditional that it is given to
    std::vector<unsigned> resets; ///< of a loop: the conditions inside, which each turn sets back
};

/// What is random in a plan, in percent where it is a chance.
struct Profile {
    unsigned steps = 24; ///< at the root, mostly
    unsigned large = 300;
    unsigned depth = 2;
    unsigned children = 12;
    unsigned conditionals = 0;
    unsigned captured = 15;
    unsigned regions = 30;
    unsigned throws = 0;
    bool functions_vary = false; ///< whole updates change kernels
};

struct Plan {
    Level root;
    unsigned areas = 0;
    std::vector<PlannedCondition> conditions;
    std::vector<const Step*> steps; ///< by id

    Plan() = default;
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    [[nodiscard]] bool has_conditions() const { return !conditions.empty(); }
};

/// Never more areas than `capacity`.
void make_plan(Plan& plan, const Profile& profile, unsigned capacity, Random& random);
/// The same steps and `extra` more kernels at the end.
void extend_plan(Plan& plan, const Plan& from, unsigned extra);
std::string describe(const Plan& plan);

/// What a kernel node launches.
enum class Function { mix, add, real, wide };

/// What an update changes of a step.
struct Params {
    Function function = Function::mix;
    std::uint32_t salt = 0;
    unsigned grid = 1;
    unsigned block = 1;
    Inputs inputs{};

    friend bool operator==(const Params& a, const Params& b) {
        if (a.function != b.function || a.salt != b.salt || a.grid != b.grid || a.block != b.block ||
            a.inputs.count != b.inputs.count)
            return false;
        for (unsigned i = 0; i < a.inputs.count; ++i)
            if (a.inputs.areas[i] != b.inputs.areas[i]) return false;
        return true;
    }
};
/// Of all steps, by id.
using Values = std::vector<Params>;

/// The input of functions that take one, or the step's own area.
unsigned first_input(const Step& step, const Params& params);
float real_salt(const Params& params);
Wide wide_of(const Params& params);
/// What a fill sets its elements to.
std::uint32_t fill_value(const Step& step, const Params& params);

Params random_params(const Step& step, Random& random);
Values random_values(const Plan& plan, const Profile& profile, Random& random);
std::string describe(const Step& step, const Params& params);

/// What one launch makes of `words`.
void run_oracle(const Plan& plan, const Values& values, const std::vector<bool>& disabled,
                std::vector<std::uint32_t>& words);
