// DAGs in plain C++, without CUDA.
#include "dag.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace {

/// Appends a step after the given ones; what it reads follows from them.
std::size_t append(Dag& dag, Action action, std::vector<std::size_t> after) {
    std::vector<std::size_t> inputs;
    for (const std::size_t step : after) {
        if (dag.steps[step].action == Action::join)
            inputs.insert(inputs.end(), dag.steps[step].inputs.begin(), dag.steps[step].inputs.end());
        else
            inputs.push_back(step);
    }
    dag.steps.push_back({action, std::move(after), std::move(inputs)});
    return dag.steps.size() - 1;
}

} // namespace

std::uint32_t hash_of(const std::uint32_t* cells, const std::vector<std::size_t>& inputs, std::uint32_t salt) {
    std::uint32_t hash = salt;
    for (const std::size_t input : inputs)
        hash = hash * 31 + cells[input];
    return hash;
}

std::uint32_t salt_of(const Version& version, std::size_t step) {
    return version.salt * 1000003 + static_cast<std::uint32_t>(step);
}

std::vector<std::uint32_t> expected(const Dag& dag, const Version& version) {
    std::vector<std::uint32_t> cells(dag.steps.size(), poison);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const Step& step = dag.steps[i];
        switch (step.action) {
        case Action::hash_on_device:
        case Action::hash_on_host:
        case Action::hash_in_child:
        case Action::hash_in_branch:
            cells[i] = hash_of(cells.data(), step.inputs, salt_of(version, i));
            break;
        case Action::copy:
            cells[i] = version.copies_decoy ? decoy : cells[step.inputs.front()];
            break;
        case Action::fill:
            cells[i] = salt_of(version, i);
            break;
        case Action::join:
            break;
        }
    }
    return cells;
}

Order order_of(const Dag& dag) {
    Order order(dag.steps.size(), std::vector<bool>(dag.steps.size()));
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (dag.steps[i].action == Action::join) continue;
        for (const std::size_t input : dag.steps[i].inputs) {
            order[i][input] = true;
            for (std::size_t earlier = 0; earlier < input; ++earlier)
                if (order[input][earlier]) order[i][earlier] = true;
        }
    }
    return order;
}

std::vector<std::size_t> lanes_of(const Dag& dag, const Part& part) {
    const Order order = order_of(dag);
    std::vector<std::size_t> lanes(dag.steps.size());
    std::vector<std::size_t> last; // of each lane
    for (std::size_t i = part.first; i < part.end; ++i) {
        if (dag.steps[i].action == Action::join) continue;
        const auto lane =
            last.size() < 3 ? last.end() : std::find_if(last.begin(), last.end(), [&](std::size_t earlier) -> bool {
                return order[i][earlier];
            });
        lanes[i] = static_cast<std::size_t>(lane - last.begin());
        if (lane == last.end())
            last.push_back(i);
        else
            *lane = i;
    }
    return lanes;
}

bool is_recordable(const Step& step) {
    return step.action != Action::hash_in_child && step.action != Action::hash_in_branch;
}

bool is_recordable(const Dag& dag) {
    return std::all_of(dag.steps.begin(), dag.steps.end(), [](const Step& step) { return is_recordable(step); });
}

std::vector<Part> parts_of(const Dag& dag, std::size_t limit) {
    std::vector<Part> parts;
    bool open = false;
    for (std::size_t i = 0; i < dag.steps.size(); ++i) {
        const bool recordable = is_recordable(dag.steps[i]);
        if (recordable && open && i - parts.back().first < limit)
            parts.back().end = i + 1;
        else
            parts.push_back({i, i + 1});
        open = recordable;
    }
    return parts;
}

Dag diamond() {
    Dag dag{"diamond", {}};
    const std::size_t top = append(dag, Action::hash_on_device, {});
    const std::size_t left = append(dag, Action::hash_on_device, {top});
    const std::size_t right = append(dag, Action::hash_on_host, {top});
    append(dag, Action::hash_on_device, {left, right});
    return dag;
}

Dag line(std::size_t length) {
    Dag dag{"line", {}};
    std::size_t last = append(dag, Action::fill, {});
    while (dag.steps.size() < length)
        last = append(dag, Action::hash_on_device, {last});
    return dag;
}

Dag fan(std::size_t width) {
    Dag dag{"fan", {}};
    const std::size_t root = append(dag, Action::hash_on_device, {});
    std::vector<std::size_t> layer;
    for (std::size_t i = 0; i < width; ++i)
        layer.push_back(append(dag, Action::hash_on_device, {root}));
    const std::size_t join = append(dag, Action::join, std::exchange(layer, {}));
    for (std::size_t i = 0; i < width; ++i)
        layer.push_back(append(dag, i % 2 == 0 ? Action::hash_on_device : Action::copy, {join}));
    append(dag, Action::hash_on_host, layer);
    return dag;
}

Dag random_dag(std::uint32_t seed, std::size_t length) {
    // Only the engine's own output: the standard's distributions differ from library to library.
    std::mt19937 random(seed);
    const auto below = [&random](std::size_t limit) { return random() % limit; };
    Dag dag{"random " + std::to_string(seed), {}};
    while (dag.steps.size() < length) {
        std::vector<std::size_t> after;
        const std::size_t count = dag.steps.empty() ? 0 : below(4);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t step = below(dag.steps.size());
            if (std::find(after.begin(), after.end(), step) == after.end()) after.push_back(step);
        }
        const bool only_steps = std::none_of(
            after.begin(), after.end(), [&dag](std::size_t step) { return dag.steps[step].action == Action::join; });
        constexpr Action actions[] = {Action::hash_on_device, Action::hash_on_device, Action::hash_on_host,
                                      Action::copy,           Action::fill,           Action::join};
        Action action = actions[below(std::size(actions))];
        // A copy needs an input; joins of joins would read more than a kernel takes.
        if (after.empty() ? action == Action::copy || action == Action::join : action == Action::join && !only_steps)
            action = Action::hash_on_device;
        append(dag, action, std::move(after));
    }
    return dag;
}

Dag nested(Dag dag, bool branches) {
    dag.name += branches ? ", with children and branches" : ", with children";
    std::size_t kernels = 0;
    for (Step& step : dag.steps) {
        if (step.action != Action::hash_on_device) continue;
        ++kernels;
        if (kernels % 4 == 1) step.action = Action::hash_in_child;
        if (kernels % 4 == 3 && branches) step.action = Action::hash_in_branch;
    }
    return dag;
}
