// Acts, their oracle, and order by reachability.
#include "acts.hpp"

#include "report.hpp"
#include "work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace {

constexpr unsigned row_pitch = 4;

Words random_words(const ActOptions& options, unsigned count, Random& random) {
    const unsigned buffer = options.first_buffer + random.below(options.buffers);
    return {buffer * buffer_stride + random.below(buffer_words - count + 1), count};
}

/// What is read, if anything, is short or long; often it begins where a buffer does.
Words random_words(const ActOptions& options, Random& random) {
    Words words = random_words(options, random.between(1, 8), random);
    if (random.percent(30)) words.first = words.buffer() * buffer_stride;
    if (random.percent(10)) words = buffer_at(words.buffer());
    return words;
}

/// CUDA copies between ranges that are apart.
void part_copy(Act& act, const ActOptions& options, Random& random) {
    act.a.count = act.to.count;
    for (int attempt = 0; attempt < 64; ++attempt) {
        act.a = random_words(options, act.to.count, random);
        if (!overlap(act.a, act.to)) return;
    }
    act.kind = ActKind::fill;
}

Words moved(const Words& words, const ActOptions& options, Random& random) {
    return random.percent(50) ? words : random_words(options, words.count, random);
}

} // namespace

bool conflict(const Accesses& a, const Accesses& b) {
    for (const Access& x : a)
        for (const Access& y : b) {
            const bool commute = x.use == y.use && x.use != Use::write;
            if (!commute && overlap(x.words, y.words)) return true;
        }
    return false;
}

Act random_act(const ActOptions& options, Random& random) {
    constexpr ActKind kinds[] = {ActKind::combine,    ActKind::combine, ActKind::combine, ActKind::copy,
                                 ActKind::accumulate, ActKind::fill,    ActKind::fill_2d, ActKind::host};
    Act act;
    act.kind = random.pick(kinds);
    if ((act.kind == ActKind::host && !options.hosts) || (act.kind == ActKind::accumulate && !options.atomics) ||
        (act.kind == ActKind::fill_2d && !options.rows))
        act.kind = ActKind::combine;
    act.to = random_words(options, random);
    act.a = random_words(options, random);
    act.b = random_words(options, random);
    act.salt = random.word();
    act.raw = act.kind == ActKind::combine && options.raws && random.percent(25);
    if (act.kind == ActKind::fill_2d) act.to = random_words(options, 8, random);
    if (act.kind == ActKind::fill_2d) act.to.count = random.between(1, 3);
    if (act.kind == ActKind::copy && act.to.count == buffer_words) act.to.count = 8;
    if (act.kind == ActKind::copy) part_copy(act, options, random);
    return act;
}

Act moved_act(const Act& act, const ActOptions& options, Random& random) {
    Act next = act;
    next.salt = random.word();
    if (act.raw || act.kind == ActKind::host) return next; // what they declare stays
    next.a = moved(act.a, options, random);
    next.b = moved(act.b, options, random);
    if (act.kind == ActKind::fill_2d) {
        next.to = random_words(options, 8, random);
        next.to.count = act.to.count;
    } else {
        next.to = moved(act.to, options, random);
    }
    if (act.kind == ActKind::copy) {
        part_copy(next, options, random);
        if (next.kind != ActKind::copy) return act;
    }
    return next;
}

Accesses accesses_of(const Act& act) {
    switch (act.kind) {
    case ActKind::combine:
    case ActKind::host:
        return {{act.to, Use::write}, {act.a, Use::read}, {act.b, Use::read}};
    case ActKind::accumulate:
        return {{act.to, Use::atomic}};
    case ActKind::copy:
        return {{act.to, Use::write}, {act.a, Use::read}};
    case ActKind::fill:
        return {{act.to, Use::write}};
    case ActKind::fill_2d:
        return {{act.to, Use::write}, {{act.to.first + row_pitch, act.to.count}, Use::write}};
    }
    return {};
}

void perform(const Act& act, std::uint32_t* words) {
    std::uint32_t* const to = words + act.to.first;
    switch (act.kind) {
    case ActKind::combine:
    case ActKind::host:
        combine_work(to, act.to.count, words + act.a.first, act.a.count, words + act.b.first, act.b.count, act.salt);
        break;
    case ActKind::accumulate:
        for (unsigned i = 0; i < act.to.count; ++i)
            to[i] += act.salt + i;
        break;
    case ActKind::copy:
        std::memcpy(to, words + act.a.first, act.to.count * sizeof *to);
        break;
    case ActKind::fill:
        std::fill_n(to, act.to.count, act.salt);
        break;
    case ActKind::fill_2d:
        std::fill_n(to, act.to.count, act.salt);
        std::fill_n(to + row_pitch, act.to.count, act.salt);
        break;
    }
}

std::string describe(const Act& act) {
    constexpr const char* names[] = {"combine", "accumulate", "copy", "fill", "fill_2d", "host"};
    const auto range = [](const Words& words) {
        return fmt::format("{}[{}, {})", words.buffer(), words.offset(), words.offset() + words.count);
    };
    std::string text =
        fmt::format("{}{} to {}", names[static_cast<unsigned>(act.kind)], act.raw ? ", raw," : "", range(act.to));
    if (act.kind == ActKind::copy) text += " from " + range(act.a);
    if (act.kind == ActKind::combine || act.kind == ActKind::host)
        text += " from " + range(act.a) + " and " + range(act.b);
    return text + fmt::format(", salt {:#x}", act.salt);
}

void Order::close() {
    for (std::size_t middle = 0; middle < rows_.size(); ++middle)
        for (std::vector<bool>& row : rows_)
            if (row[middle])
                for (std::size_t to = 0; to < rows_.size(); ++to)
                    if (rows_[middle][to]) row[to] = true;
}

Order needed_order(const std::vector<Accesses>& nodes, const Edges& edges) {
    Order order(nodes.size());
    for (const auto& [from, to] : edges)
        order.add(from, to);
    for (std::size_t to = 0; to < nodes.size(); ++to)
        for (std::size_t from = 0; from < to; ++from)
            if (conflict(nodes[from], nodes[to])) order.add(from, to);
    order.close();
    return order;
}

bool has_race(const std::vector<Accesses>& nodes, const Order& order) {
    for (std::size_t b = 0; b < nodes.size(); ++b)
        for (std::size_t a = 0; a < b; ++a)
            if (!order.ordered(a, b) && conflict(nodes[a], nodes[b])) return true;
    return false;
}

void require_order_between(const Order& actual, const Order& least, const Order& most, std::size_t count,
                           const char* what) {
    for (std::size_t from = 0; from < count; ++from)
        for (std::size_t to = 0; to < count; ++to) {
            if (from == to) continue;
            require(actual.before(from, to) || !least.before(from, to), "{}: {} must come before {}, and does not",
                    what, from, to);
            require(!actual.before(from, to) || most.before(from, to), "{}: {} comes before {} without need", what,
                    from, to);
        }
}

void require_same_order(const Order& actual, const Order& needed, std::size_t count, const char* what) {
    require_order_between(actual, needed, needed, count, what);
}
