// What a program that makes one word after the other gives a GPU for each of them: operations that read what others
// have written, in pieces that it commits one by one.
#pragma once

#include <cudag/cudag.hpp>

#include <cstddef>
#include <vector>

namespace bench {

/// The operation before the first one: the last of the token before.
inline constexpr int before = -1;

/// What an operation reads: what up to three others have written.
struct Operation {
    std::vector<int> inputs;
};

/// The operations of a token: 18 a layer, two before and four after them, in an order in which they can be done.
[[nodiscard]] std::vector<Operation> operations_of(int layers);

/// Some of the operations, one after the other, as one graph.
struct Commit {
    struct Edge {
        int from; ///< the number of an operation in the commit
        int to;
    };
    int first;
    int count;
    std::vector<Edge> edges;
};

/// Commits of 101 operations. `extra` more of each wait for its first one, which makes another structure.
[[nodiscard]] std::vector<Commit> commits_of(const std::vector<Operation>& operations, int extra = 0);

/// Where operations write: other cells for each token, until all have had their turn.
class Cells {
  public:
    explicit Cells(std::size_t operations);

    /// The arguments of an operation of a token.
    struct Arguments {
        const unsigned* inputs[3];
        unsigned* out;
        unsigned salt;
    };
    [[nodiscard]] Arguments arguments(const Operation& operation, int number, int token) const;

    /// What is in them.
    [[nodiscard]] std::vector<unsigned> contents() const;
    /// What is in them after `tokens` tokens of which the kernels of every `other_kernel`th are the other ones; 0:
    /// none.
    [[nodiscard]] static std::vector<unsigned> expected(const std::vector<Operation>& operations, int tokens,
                                                        int other_kernel);

  private:
    [[nodiscard]] unsigned* cell(int token, int number) const;

    std::size_t operations_;
    cudag::DeviceBuffer<unsigned> memory_;
};

} // namespace bench
