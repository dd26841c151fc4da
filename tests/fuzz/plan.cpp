// Random DAGs in plain C++, without CUDA's graphs.
#include "plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <utility>

bool is_conditional(Kind kind) {
    return kind == Kind::if_ || kind == Kind::while_ || kind == Kind::switch_;
}
bool is_recordable(Kind kind) {
    return kind != Kind::join && kind != Kind::child && !is_conditional(kind);
}
bool has_params(Kind kind) {
    return is_recordable(kind);
}
bool writes(Kind kind) {
    return is_recordable(kind) && kind != Kind::record && kind != Kind::wait;
}

bool is_written(const Step& step) {
    return is_conditional(step.kind) || (step.lane == 0 && step.id / 3 % 3 == 1);
}

namespace {

class Planner {
  public:
    Planner(Plan& plan, const Profile& profile, unsigned capacity, Random& random)
        : plan_(plan), profile_(profile), capacity_(capacity), random_(random) {}

    void run() {
        unsigned count = random_.between(1, profile_.steps);
        if (random_.percent(8)) count = random_.between(1, 80);
        if (random_.percent(1)) count = random_.between(1, profile_.large);
        plan_.root = level({}, count, Place{});
    }

  private:
    struct Place {
        unsigned depth = 0;
        bool in_child = false;
        bool in_body = false;
        std::vector<unsigned>* conditions = nullptr; ///< those inside the innermost loop and below
    };

    [[nodiscard]] bool room() const { return plan_.areas + 1 < capacity_; }

    Level level(const std::vector<unsigned>& outside, unsigned count, const Place& place, unsigned loop = none) {
        Level level;
        level.captured = !place.in_body && loop == none && random_.percent(profile_.captured);
        const unsigned place_of_count = random_.below(count);
        const std::size_t reserve = loop == none ? 0 : 1;
        while (level.steps.size() < count && (room() || level.steps.size() < reserve)) {
            if (loop != none && level.steps.size() == place_of_count) {
                add(level, outside, Kind::count).condition = loop;
                level.steps.back().limit = random_.between(1, 3);
                loop = none;
                continue;
            }
            add_any(level, outside, place);
        }
        if (loop != none) {
            add(level, outside, Kind::count).condition = loop;
            level.steps.back().limit = random_.between(1, 3);
        }
        divide(level);
        return level;
    }

    void add_any(Level& level, const std::vector<unsigned>& outside, const Place& place) {
        if (!level.captured && place.depth < profile_.depth) {
            if (!place.in_child && random_.percent(profile_.conditionals))
                return add_conditional(level, outside, place);
            if (random_.percent(profile_.children)) return add_child(level, outside, place);
        }
        constexpr Kind anywhere[] = {Kind::kernel, Kind::kernel, Kind::kernel,  Kind::kernel, Kind::copy,
                                     Kind::copy,   Kind::fill,   Kind::copy_2d, Kind::fill,   Kind::fill_2d};
        Kind kind = anywhere[random_.below(std::size(anywhere))];
        if (!place.in_body) {
            if (random_.percent(12)) kind = Kind::host;
            if (random_.percent(5)) kind = random_.percent(50) ? Kind::record : Kind::wait;
        }
        if (!level.captured && !level.steps.empty() && random_.percent(8)) kind = Kind::join;
        Step& step = add(level, outside, kind);
        if (kind == Kind::join && step.after.empty()) step.kind = Kind::kernel;
        if ((kind == Kind::copy || kind == Kind::copy_2d) && step.visible.empty()) step.kind = Kind::kernel;
    }

    Step& add(Level& level, const std::vector<unsigned>& outside, Kind kind) {
        Step step;
        step.kind = kind;
        step.id = plan_.areas++;
        if (!level.steps.empty()) {
            const unsigned count = random_.below(4);
            for (unsigned i = 0; i < count; ++i) {
                const auto total = static_cast<unsigned>(level.steps.size());
                // mostly what is near, so that there are long paths
                const unsigned near = random_.percent(60) ? std::min(total, 4U) : total;
                const unsigned to = total - 1 - random_.below(near);
                if (std::find(step.after.begin(), step.after.end(), to) == step.after.end()) step.after.push_back(to);
            }
        }
        step.visible = outside;
        for (const unsigned earlier : step.after)
            see(step.visible, level.steps[earlier]);
        unify(step.visible);
        const bool two = kind == Kind::copy_2d || kind == Kind::fill_2d;
        step.size = random_.between(1, two ? 3 : area_words);
        if (kind == Kind::fill) {
            constexpr unsigned sizes[] = {1, 2, 4};
            step.element = sizes[random_.below(3)];
            if (random_.percent(50)) step.size = random_.between(1, area_words * 4 / step.element);
        }
        step.labelled = random_.percent(30);
        step.coarse = random_.percent(30);
        level.steps.push_back(std::move(step));
        return level.steps.back();
    }

    void see(std::vector<unsigned>& visible, const Step& step) const {
        visible.insert(visible.end(), step.visible.begin(), step.visible.end());
        if (writes(step.kind)) visible.push_back(step.id);
        for (const Level& body : step.bodies)
            for (const Step& inner : body.steps)
                see(visible, inner);
    }
    static void unify(std::vector<unsigned>& list) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
    }

    void add_child(Level& level, const std::vector<unsigned>& outside, const Place& place) {
        Step& step = add(level, outside, Kind::child);
        step.moved = random_.percent(40);
        Place inside = place;
        ++inside.depth;
        inside.in_child = true;
        const std::vector<unsigned> seen = step.visible;
        Level body = this->level(seen, random_.between(1, 5), inside);
        level.steps.back().bodies.push_back(std::move(body));
    }

    void add_conditional(Level& level, const std::vector<unsigned>& outside, const Place& place) {
        constexpr Kind kinds[] = {Kind::if_, Kind::if_, Kind::while_, Kind::switch_};
        const Kind kind = kinds[random_.below(std::size(kinds))];
        const auto condition = static_cast<unsigned>(plan_.conditions.size());
        plan_.conditions.emplace_back();
        unsigned setter = none;
        if (random_.percent(60)) {
            Step& set = add(level, outside, Kind::set);
            set.condition = condition;
            set.limit = kind == Kind::switch_ ? 4 : 2;
            setter = static_cast<unsigned>(level.steps.size() - 1);
        }
        {
            PlannedCondition& planned = plan_.conditions[condition];
            if (setter == none || random_.percent(50)) planned.initial = random_.below(kind == Kind::switch_ ? 4 : 2);
            planned.early = random_.percent(25);
            planned.is_set = setter != none;
        }
        Step& step = add(level, outside, kind);
        const auto at = level.steps.size() - 1;
        step.condition = condition;
        plan_.conditions[condition].of_step = step.id;
        step.throws = random_.percent(profile_.throws) ? random_.between(1, 2) : 0;
        if (setter != none) {
            if (std::find(step.after.begin(), step.after.end(), setter) == step.after.end())
                step.after.push_back(setter);
            see(step.visible, level.steps[setter]);
            unify(step.visible);
        }
        const std::vector<unsigned> seen = step.visible;
        const unsigned count = kind == Kind::while_ ? 1
                               : kind == Kind::if_  ? random_.between(1, 2)
                                                    : random_.between(1, 3);
        std::vector<unsigned> inner;
        Place inside = place;
        ++inside.depth;
        inside.in_body = true;
        inside.conditions = &inner;
        std::vector<Level> bodies;
        for (unsigned i = 0; i < count; ++i) {
            const bool loop = kind == Kind::while_;
            if (!loop && random_.percent(8))
                bodies.emplace_back(); // a body may be empty
            else
                bodies.push_back(this->level(seen, random_.between(1, 5), inside, loop ? condition : none));
        }
        level.steps[at].bodies = std::move(bodies);
        if (kind == Kind::while_) plan_.conditions[condition].resets = inner;
        if (place.conditions != nullptr) {
            place.conditions->push_back(condition);
            place.conditions->insert(place.conditions->end(), inner.begin(), inner.end());
        }
    }

    /// In a running capture nothing is captured, and what throws there spoils it.
    static void write_plainly(Step& step) {
        step.throws = 0;
        for (Level& body : step.bodies) {
            body.captured = false;
            for (Step& inner : body.steps) {
                inner.region = none;
                write_plainly(inner);
            }
        }
    }

    /// Draws which steps are captured, and in which streams.
    void divide(Level& level) {
        unsigned region = 0;
        std::size_t end = 0;
        for (std::size_t i = 0; i < level.steps.size(); ++i) {
            Step& step = level.steps[i];
            step.lane = random_.percent(50) ? 0 : random_.below(3);
            if (level.captured) {
                step.region = 0;
                continue;
            }
            if (i >= end && random_.percent(profile_.regions)) {
                ++region;
                end = i + random_.between(1, 6);
            }
            const bool is_written_conditional = i < end && is_conditional(step.kind) && step.id % 2 == 0;
            if (is_written_conditional) {
                step.lane = 0;
                write_plainly(step);
            }
            if (!is_recordable(step.kind) && !is_written_conditional)
                end = i; // the region, if there is one, ends here
            else if (i < end)
                step.region = region;
        }
    }

    Plan& plan_;
    const Profile& profile_;
    unsigned capacity_;
    Random& random_;
};

void index(const Level& level, std::vector<const Step*>& steps) {
    for (const Step& step : level.steps) {
        if (steps.size() <= step.id) steps.resize(step.id + 1);
        steps[step.id] = &step;
        for (const Level& body : step.bodies)
            index(body, steps);
    }
}

const char* name(Kind kind) {
    constexpr const char* names[] = {"kernel", "host",  "copy", "copy_2d", "fill",   "fill_2d", "record", "wait",
                                     "join",   "child", "if",   "while",   "switch", "set",     "count"};
    return names[static_cast<unsigned>(kind)];
}

void describe(const Plan& plan, const Level& level, std::string& text, unsigned indent) {
    const auto add = std::back_inserter(text);
    for (std::size_t i = 0; i < level.steps.size(); ++i) {
        const Step& step = level.steps[i];
        fmt::format_to(add, "{:{}}{}: {}", "", indent, step.id, name(step.kind));
        if (writes(step.kind)) fmt::format_to(add, " of {}", step.size);
        if (step.kind == Kind::fill) fmt::format_to(add, " x {} bytes", step.element);
        if (step.condition != none) {
            const PlannedCondition& condition = plan.conditions[step.condition];
            fmt::format_to(add, ", condition {}", step.condition);
            if (condition.initial) fmt::format_to(add, " initially {}", *condition.initial);
            if (condition.early) fmt::format_to(add, ", made first");
            if (step.kind == Kind::set || step.kind == Kind::count) fmt::format_to(add, ", limit {}", step.limit);
        }
        for (std::size_t k = 0; k < step.after.size(); ++k)
            fmt::format_to(add, "{}{}", k == 0 ? " after " : " ", level.steps[step.after[k]].id);
        if (step.region != none)
            fmt::format_to(add, ", {} {}{}{}{}", level.captured ? "captured, stream" : "region",
                           level.captured ? "" : fmt::format("{} stream ", step.region), step.lane,
                           is_written(step) ? ", written" : "", step.labelled ? ", in a step" : "");
        if (step.moved) text += ", moved";
        if (step.throws != 0) fmt::format_to(add, ", throws {} times", step.throws);
        text += '\n';
        for (std::size_t k = 0; k < step.bodies.size(); ++k) {
            fmt::format_to(add, "{:{}}  body {}\n", "", indent, k);
            describe(plan, step.bodies[k], text, indent + 4);
        }
    }
}

class Oracle {
  public:
    Oracle(const Plan& plan, const Values& values, const std::vector<bool>& disabled, std::vector<std::uint32_t>& words)
        : plan_(plan), values_(values), disabled_(disabled), words_(words), conditions_(plan.conditions.size()) {
        for (std::size_t i = 0; i < conditions_.size(); ++i)
            conditions_[i] = plan.conditions[i].initial.value_or(0);
    }

    void run(const Level& level) {
        for (const Step& step : level.steps)
            if (!disabled_[step.id]) run(step);
    }

  private:
    void run(const Step& step) {
        const Params& params = values_[step.id];
        std::uint32_t* const words = words_.data();
        std::uint32_t* const own = words + step.id * area_words;
        const unsigned shape = params.grid * 256 + params.block;
        switch (step.kind) {
        case Kind::kernel:
            launch(step, params, shape);
            break;
        case Kind::host:
            mix_work(words, step.id, params.inputs, params.salt, 0);
            break;
        case Kind::copy:
            std::memcpy(own, words + first_input(step, params) * area_words, step.size * sizeof(std::uint32_t));
            break;
        case Kind::copy_2d:
            for (unsigned row = 0; row < 2; ++row)
                std::memcpy(own + row * 4, words + first_input(step, params) * area_words + row * 4,
                            step.size * sizeof(std::uint32_t));
            break;
        case Kind::fill:
            fill(own, step, params);
            break;
        case Kind::fill_2d:
            for (unsigned row = 0; row < 2; ++row)
                std::fill_n(own + row * 4, step.size, params.salt);
            break;
        case Kind::record:
        case Kind::wait:
        case Kind::join:
            break;
        case Kind::child:
            run(step.bodies[0]);
            break;
        case Kind::if_:
            if (conditions_[step.condition] != 0)
                run(step.bodies[0]);
            else if (step.bodies.size() > 1)
                run(step.bodies[1]);
            break;
        case Kind::switch_:
            if (conditions_[step.condition] < step.bodies.size()) run(step.bodies[conditions_[step.condition]]);
            break;
        case Kind::while_:
            while (conditions_[step.condition] != 0) {
                for (const unsigned inner : plan_.conditions[step.condition].resets)
                    if (plan_.conditions[inner].initial) conditions_[inner] = *plan_.conditions[inner].initial;
                run(step.bodies[0]);
            }
            break;
        case Kind::set:
            conditions_[step.condition] = set_work(words, step.id, params.inputs, params.salt, step.limit);
            break;
        case Kind::count:
            conditions_[step.condition] = count_work(words, step.id, params.salt, step.limit);
            break;
        }
    }

    void launch(const Step& step, const Params& params, unsigned shape) {
        std::uint32_t* const words = words_.data();
        std::uint32_t* const own = words + step.id * area_words;
        switch (params.function) {
        case Function::mix:
            return mix_work(words, step.id, params.inputs, params.salt, shape);
        case Function::add:
            return add_work(words, step.id, first_input(step, params), params.salt, shape);
        case Function::real: {
            float area[area_words] = {};
            real_work(area, 0, first_input(step, params), real_salt(params), shape);
            own[0] = std::bit_cast<std::uint32_t>(area[0]);
            own[4] = std::bit_cast<std::uint32_t>(area[4]);
            return;
        }
        case Function::wide:
            return wide_work(words, step.id, wide_of(params), shape);
        }
    }

    static void fill(std::uint32_t* own, const Step& step, const Params& params) {
        const std::uint32_t value = fill_value(step, params);
        auto* bytes = reinterpret_cast<unsigned char*>(own);
        for (unsigned i = 0; i < step.size; ++i)
            std::memcpy(bytes + i * step.element, &value, step.element);
    }

    const Plan& plan_;
    const Values& values_;
    const std::vector<bool>& disabled_;
    std::vector<std::uint32_t>& words_;
    std::vector<unsigned> conditions_;
};

} // namespace

void make_plan(Plan& plan, const Profile& profile, unsigned capacity, Random& random) {
    Planner(plan, profile, capacity, random).run();
    index(plan.root, plan.steps);
}

void extend_plan(Plan& plan, const Plan& from, unsigned extra) {
    plan.root = from.root;
    plan.areas = from.areas;
    plan.conditions = from.conditions;
    for (unsigned i = 0; i < extra; ++i) {
        Step step;
        step.id = plan.areas++;
        if (plan.root.captured) step.region = 0;
        plan.root.steps.push_back(step);
    }
    index(plan.root, plan.steps);
}

std::string describe(const Plan& plan) {
    std::string text = plan.root.captured ? "captured\n" : "";
    describe(plan, plan.root, text, 0);
    return text;
}

unsigned first_input(const Step& step, const Params& params) {
    return params.inputs.count == 0 ? step.id : params.inputs.areas[0];
}
float real_salt(const Params& params) {
    return static_cast<float>(params.salt % 4096) + 0.5F;
}
Wide wide_of(const Params& params) {
    Wide wide{};
    for (unsigned i = 0; i < Wide::size; ++i)
        wide.values[i] = params.salt * (i + 1) + params.inputs.count;
    return wide;
}
std::uint32_t fill_value(const Step& step, const Params& params) {
    return step.element == 4 ? params.salt : params.salt & ((1U << (8 * step.element)) - 1U);
}

Params random_params(const Step& step, Random& random) {
    Params params;
    params.salt = random.word();
    params.grid = random.between(1, 3);
    params.block = random.between(1, 4);
    const bool copies = step.kind == Kind::copy || step.kind == Kind::copy_2d;
    if (!step.visible.empty()) {
        params.inputs.count = copies ? 1 : random.below(Inputs::capacity + 1);
        for (unsigned i = 0; i < params.inputs.count; ++i)
            params.inputs.areas[i] = step.visible[random.below(step.visible.size())];
        // no Exec takes another one
        if (step.kind == Kind::copy_2d) params.inputs.areas[0] = step.visible[step.id % step.visible.size()];
    }
    return params;
}

Values random_values(const Plan& plan, const Profile& profile, Random& random) {
    Values values(plan.areas);
    for (const Step* step : plan.steps) {
        values[step->id] = random_params(*step, random);
        // the same for all graphs of the plan, unless they may differ
        const unsigned function = profile.functions_vary ? random.below(4) : step->id * 7 / 3 % 6;
        values[step->id].function = function < 4 ? static_cast<Function>(function) : Function::mix;
    }
    return values;
}

std::string describe(const Step& step, const Params& params) {
    std::string text = fmt::format("{} {} salt {:#x}", name(step.kind), step.id, params.salt);
    if (step.kind == Kind::kernel)
        text += fmt::format(" function {} <{}, {}>", static_cast<int>(params.function), params.grid, params.block);
    for (unsigned i = 0; i < params.inputs.count; ++i)
        text += fmt::format("{}{}", i == 0 ? " of " : " ", params.inputs.areas[i]);
    return text;
}

void run_oracle(const Plan& plan, const Values& values, const std::vector<bool>& disabled,
                std::vector<std::uint32_t>& words) {
    Oracle(plan, values, disabled, words).run(plan.root);
}
