// Updates of single nodes, of a Graph or of an Exec.
#pragma once

#include "bench.hpp"
#include "kernels.hpp"
#include "plan.hpp"

#include <cudag/cudag.hpp>

#include <cstddef>
#include <cstdint>

/// What an update gives a kernel node.
enum class Form { all, arguments, salt, shape };

inline cudag::LaunchConfig config_of(const Params& params) {
    return {.grid = params.grid, .block = params.block};
}
inline std::uint32_t* area(const Bench& bench, unsigned id) {
    return bench.words.data() + std::size_t{id} * area_words;
}
inline cudag::DeviceSpan<std::uint32_t> words_of(const Bench& bench, unsigned id, unsigned size) {
    return {area(bench, id), size};
}
/// Two rows of an area.
inline cudag::DeviceSpan2D<std::uint32_t> rows_of(const Bench& bench, unsigned id, unsigned width) {
    return cudag::DeviceSpan2D<std::uint32_t>(area(bench, id), width, 2, 4 * sizeof(std::uint32_t));
}

struct HostWork {
    std::uint32_t* words;
    unsigned own;
    Inputs inputs;
    std::uint32_t salt;
    void operator()() const { mix_work(words, own, inputs, salt, 0); }
};

/// What `params` become if they are given in that form.
inline Params changed(const Step& step, const Params& current, Params next, Form form) {
    next.function = current.function;
    if (step.kind != Kind::kernel) return next;
    if (form == Form::arguments || form == Form::salt) {
        next.grid = current.grid;
        next.block = current.block;
    }
    if (form == Form::salt) next.inputs = current.inputs;
    if (form == Form::shape) {
        next.inputs = current.inputs;
        next.salt = current.salt;
    }
    return next;
}

/// Calls `give(value)` with what is to be an argument for `words`: the buffer, which is then an owner, or its address.
template <class Give>
void with_words(const Bench& bench, const Params& params, Give&& give) {
    if (params.salt % 4 == 0)
        give(bench.words);
    else
        give(bench.words.data());
}

template <class Target, class Node, class Words, class... A>
void update_kernel(Target& target, const Node& node, const Params& params, Form form, const Words& words,
                   const A&... arguments) {
    if (form == Form::all)
        target.update(node, config_of(params), words, arguments...);
    else
        target.update(node, words, arguments...);
}

/// `function` is that of the handle: the one that the Graph has.
template <class Target>
void update_launch(Target& target, const Bench& bench, const cudag::Node& node, const Step& step, const Params& params,
                   Form form, Function function) {
    const unsigned input = first_input(step, params);
    if (function == Function::real) {
        auto* const words = reinterpret_cast<float*>(bench.words.data());
        const auto typed = node.as(fuzz_real);
        if (form == Form::shape)
            target.update(typed, config_of(params));
        else if (form == Form::salt)
            target.update(typed, cudag::arg<3>(real_salt(params)));
        else
            update_kernel(target, typed, params, form, words, step.id, input, real_salt(params));
        return;
    }
    with_words(bench, params, [&](const auto& words) {
        if (function == Function::mix) {
            const auto typed = node.as(fuzz_mix);
            if (form == Form::shape)
                target.update(typed, config_of(params));
            else if (form == Form::salt)
                target.update(typed, cudag::arg<3>(params.salt));
            else
                update_kernel(target, typed, params, form, words, step.id, params.inputs, params.salt);
        } else if (function == Function::add) {
            const auto typed = node.as(fuzz_add);
            if (form == Form::shape)
                target.update(typed, config_of(params));
            else if (form == Form::salt)
                target.update(typed, cudag::arg<3>(params.salt));
            else
                update_kernel(target, typed, params, form, words, step.id, input, params.salt);
        } else {
            const auto typed = node.as(fuzz_wide);
            if (form == Form::shape)
                target.update(typed, config_of(params));
            else if (form == Form::salt)
                target.update(typed, cudag::arg<2>(wide_of(params)));
            else
                update_kernel(target, typed, params, form, words, step.id, wide_of(params));
        }
    });
}

/// Calls `set(span, value)` with the elements of a fill.
template <class Set>
void with_elements(const Bench& bench, const Step& step, const Params& params, Set&& set) {
    const std::uint32_t value = fill_value(step, params);
    if (step.element == 1)
        set(cudag::DeviceSpan<std::uint8_t>(reinterpret_cast<std::uint8_t*>(area(bench, step.id)), step.size),
            static_cast<std::uint8_t>(value));
    else if (step.element == 2)
        set(cudag::DeviceSpan<std::uint16_t>(reinterpret_cast<std::uint16_t*>(area(bench, step.id)), step.size),
            static_cast<std::uint16_t>(value));
    else
        set(words_of(bench, step.id, step.size), value);
}

template <class Target>
void update_step(Target& target, Bench& bench, const cudag::Node& node, const Step& step, const Params& params,
                 Form form, Function function) {
    switch (step.kind) {
    case Kind::kernel:
        update_launch(target, bench, node, step, params, form, function);
        break;
    case Kind::host:
        target.update(node.as<cudag::HostNode>(), HostWork{bench.words.data(), step.id, params.inputs, params.salt});
        break;
    case Kind::copy:
        target.update(node.as<cudag::MemcpyNode>(), words_of(bench, step.id, step.size),
                      words_of(bench, first_input(step, params), step.size));
        break;
    case Kind::copy_2d:
        target.update(node.as<cudag::MemcpyNode>(), rows_of(bench, step.id, step.size),
                      rows_of(bench, first_input(step, params), step.size));
        break;
    case Kind::fill:
        with_elements(bench, step, params,
                      [&](const auto& span, auto value) { target.update(node.as<cudag::MemsetNode>(), span, value); });
        break;
    case Kind::fill_2d:
        target.update(node.as<cudag::MemsetNode>(), rows_of(bench, step.id, step.size), params.salt);
        break;
    case Kind::record:
        target.update(node.as<cudag::RecordNode>(), bench.events[params.salt % Bench::event_count]);
        break;
    case Kind::wait:
        target.update(node.as<cudag::WaitNode>(), bench.events[params.salt % Bench::event_count]);
        break;
    case Kind::set:
        target.update(node.as(fuzz_set), cudag::arg<2>(params.inputs), cudag::arg<3>(params.salt));
        break;
    case Kind::count:
        target.update(node.as(fuzz_count), cudag::arg<2>(params.salt));
        break;
    default:
        break;
    }
}
