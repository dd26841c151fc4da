// Acts: steps whose memory a naive oracle knows. It models accesses pair by pair, and order by reachability.
#pragma once

#include "random.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// Acts work in buffers, which stand apart from each other.
constexpr unsigned buffer_words = 16;
constexpr unsigned buffer_stride = 24;

/// A range of the words of a Bench.
struct Words {
    unsigned first = 0;
    unsigned count = 1;

    [[nodiscard]] unsigned end() const { return first + count; }
    [[nodiscard]] unsigned buffer() const { return first / buffer_stride; }
    [[nodiscard]] unsigned offset() const { return first % buffer_stride; }
    friend bool operator==(const Words& a, const Words& b) { return a.first == b.first && a.count == b.count; }
};

[[nodiscard]] inline Words buffer_at(unsigned number) {
    return {number * buffer_stride, buffer_words};
}
[[nodiscard]] inline bool overlap(const Words& a, const Words& b) {
    return a.first < b.end() && b.first < a.end();
}

/// Words from here on stand for conditions, which have no memory.
constexpr unsigned condition_cells = 100000;

enum class Use { read, write, atomic };

struct Access {
    Words words;
    Use use;
};
using Accesses = std::vector<Access>;

/// Whether two nodes with these accesses must be ordered.
[[nodiscard]] bool conflict(const Accesses& a, const Accesses& b);

enum class ActKind {
    combine,    ///< a kernel that reads `a` and `b` and writes `to`
    accumulate, ///< a kernel that adds to `to` atomically
    copy,       ///< of `a` to `to`, which have as many words
    fill,       ///< of `to`
    fill_2d,    ///< of two rows of `to.count` words, four words apart
    host,       ///< the work of `combine` in a host node
};

struct Act {
    ActKind kind = ActKind::combine;
    Words to;
    Words a;
    Words b;
    std::uint32_t salt = 0;
    bool raw = false; ///< a kernel that gets pointers without lengths, and whose memory is declared

    friend bool operator==(const Act& x, const Act& y) {
        return x.kind == y.kind && x.to == y.to && x.a == y.a && x.b == y.b && x.salt == y.salt && x.raw == y.raw;
    }
};

/// What is drawn, and from which buffers: those with numbers less than `buffers`.
struct ActOptions {
    unsigned buffers = 4;
    unsigned first_buffer = 0;
    bool hosts = true;
    bool raws = true;
    bool atomics = true;
    bool rows = true; ///< fills in two dimensions
};

[[nodiscard]] Act random_act(const ActOptions& options, Random& random);
/// The same kind of act with as many words, elsewhere where that is possible, and another salt.
[[nodiscard]] Act moved_act(const Act& act, const ActOptions& options, Random& random);
[[nodiscard]] Accesses accesses_of(const Act& act);
void perform(const Act& act, std::uint32_t* words);
[[nodiscard]] std::string describe(const Act& act);

/// Which nodes come before which, by paths.
class Order {
  public:
    explicit Order(std::size_t nodes) : rows_(nodes, std::vector<bool>(nodes)) {}

    [[nodiscard]] std::size_t size() const { return rows_.size(); }
    void add(std::size_t from, std::size_t to) { rows_[from][to] = true; }
    /// Adds what follows from what was added. Not by the nodes' numbers: edges may lead anywhere.
    void close();
    [[nodiscard]] bool before(std::size_t from, std::size_t to) const { return rows_[from][to]; }
    [[nodiscard]] bool ordered(std::size_t a, std::size_t b) const { return rows_[a][b] || rows_[b][a]; }

  private:
    std::vector<std::vector<bool>> rows_;
};

using Edges = std::vector<std::pair<unsigned, unsigned>>;

/// The order that nodes need by what they do, as their numbers say, besides `edges`.
[[nodiscard]] Order needed_order(const std::vector<Accesses>& nodes, const Edges& edges);
/// Whether two nodes conflict that `order` leaves unordered.
[[nodiscard]] bool has_race(const std::vector<Accesses>& nodes, const Order& order);
/// Throws Wrong if the first `count` nodes are not ordered as in `least`, or otherwise than in `most`.
void require_order_between(const Order& actual, const Order& least, const Order& most, std::size_t count,
                           const char* what);
/// Throws Wrong if the first `count` nodes are ordered otherwise than in `needed`.
void require_same_order(const Order& actual, const Order& needed, std::size_t count, const char* what);
