// What a program that makes one word after the other gives a GPU for each of them.
#include "tokens.hpp"

#include "kernels.hpp"

#include <algorithm>
#include <utility>

namespace bench {

namespace {

constexpr int turns = 8; ///< tokens after which cells are written again

/// Where a cell stands that operation `number` of a token writes.
std::size_t place_of(std::size_t operations, int token, int number) {
    const auto turn = static_cast<std::size_t>((token + turns) % turns);
    return turn * operations + static_cast<std::size_t>(number);
}

/// The token and the operation that an input of one of `token` comes from.
std::pair<int, int> source_of(std::size_t operations, int token, int input) {
    if (input == before) return {token - 1, static_cast<int>(operations) - 1};
    return {token, input};
}

} // namespace

std::vector<Operation> operations_of(int layers) {
    std::vector<Operation> all{{{before}}, {{0}}};
    int h = 1;
    for (int layer = 0; layer < layers; ++layer) {
        const int base = static_cast<int>(all.size()) - 1; // the layer's operation n is base + n
        const auto add = [&](std::vector<int> inputs) {
            for (int& input : inputs)
                input += base;
            all.push_back({std::move(inputs)});
        };
        all.push_back({{h}});                                      // 1: norm
        add({1}), add({1}), add({1});                              // 2 to 4: queries, keys, values
        add({2}), add({3}), add({6}), add({4});                    // 5, 6: rope; 7, 8: into the cache
        add({5, 7, 8}), add({9}), add({10});                       // 9, 10: attention; 11: out
        all.push_back({{base + 11, h}});                           // 12: add
        add({12}), add({13}), add({13}), add({14, 15}), add({16}); // 13: norm; 14 to 17: the network
        add({17, 12});                                             // 18: add
        h = base + 18;
    }
    for (int i = 0; i < 4; ++i) {
        all.push_back({{h}});
        h = static_cast<int>(all.size()) - 1;
    }
    return all;
}

std::vector<Commit> commits_of(const std::vector<Operation>& operations, int extra) {
    constexpr int largest = 101;
    std::vector<Commit> commits;
    const int all = static_cast<int>(operations.size());
    for (int first = 0; first < all; first += largest) {
        Commit commit{first, std::min(largest, all - first), {}};
        for (int i = 0; i < commit.count; ++i) {
            const auto& inputs = operations[static_cast<std::size_t>(first + i)].inputs;
            for (const int input : inputs)
                if (input >= first) commit.edges.push_back({input - first, i});
            const bool waits = std::find(inputs.begin(), inputs.end(), first) != inputs.end();
            if (i != 0 && i <= extra && !waits) commit.edges.push_back({0, i});
        }
        commits.push_back(std::move(commit));
    }
    return commits;
}

Cells::Cells(std::size_t operations) : operations_(operations), memory_(turns * operations) {
    cudag::check(cudaMemset(memory_.data(), 0, memory_.size_bytes()));
    cudag::check(cudaStreamSynchronize(cudaStreamLegacy));
}

Cells::Arguments Cells::arguments(const Operation& operation, int number, int token) const {
    Arguments arguments{{}, cell(token, number), static_cast<unsigned>(number)};
    for (std::size_t i = 0; i < operation.inputs.size(); ++i) {
        const auto [from, source] = source_of(operations_, token, operation.inputs[i]);
        arguments.inputs[i] = cell(from, source);
    }
    return arguments;
}

std::vector<unsigned> Cells::contents() const {
    std::vector<unsigned> values(memory_.size());
    cudag::check(cudaMemcpy(values.data(), memory_.data(), memory_.size_bytes(), cudaMemcpyDeviceToHost));
    return values;
}

std::vector<unsigned> Cells::expected(const std::vector<Operation>& operations, int tokens, int other_kernel) {
    std::vector<unsigned> values(turns * operations.size());
    for (int token = 0; token < tokens; ++token)
        for (std::size_t i = 0; i < operations.size(); ++i) {
            unsigned inputs[3] = {};
            for (std::size_t k = 0; k < operations[i].inputs.size(); ++k) {
                const auto [from, source] = source_of(operations.size(), token, operations[i].inputs[k]);
                inputs[k] = values[place_of(operations.size(), from, source)];
            }
            const bool is_other = other_kernel != 0 && token % other_kernel == 0;
            const unsigned salt = static_cast<unsigned>(i) + (is_other ? 1 : 0);
            values[place_of(operations.size(), token, static_cast<int>(i))] =
                combined(inputs[0], inputs[1], inputs[2], salt);
        }
    return values;
}

unsigned* Cells::cell(int token, int number) const {
    return memory_.data() + place_of(operations_, token, number);
}

} // namespace bench
