// Which nodes of a capture nothing waits for, and how they are told.
#include "capture/unjoined_work.hpp"

#include "catch.hpp"

#include <cudag/error.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using cudag::check;
using cudag::SourceLocation;
using cudag::detail::CaptureNames;
using cudag::detail::unjoined_work;

namespace {

/// Empty nodes, as CUDA knows them.
class Nodes {
  public:
    Nodes() { check(cudaGraphCreate(&graph_, 0)); }
    ~Nodes() { static_cast<void>(cudaGraphDestroy(graph_)); }
    Nodes(const Nodes&) = delete;
    Nodes& operator=(const Nodes&) = delete;

    /// The next node, which comes after `before`.
    std::size_t add(const std::vector<std::size_t>& before = {}) {
        std::vector<cudaGraphNode_t> natives;
        for (const std::size_t node : before)
            natives.push_back(nodes_.at(node));
        cudaGraphNode_t made = nullptr;
        check(cudaGraphAddEmptyNode(&made, graph_, natives.data(), natives.size()));
        nodes_.push_back(made);
        return nodes_.size() - 1;
    }

    /// What nothing in `front` comes after, from number `first` on.
    [[nodiscard]] std::string text(std::uint32_t first, const std::vector<std::size_t>& front,
                                   const CaptureNames& names) const {
        std::vector<cudaGraphNode_t> natives;
        for (const std::size_t node : front)
            natives.push_back(nodes_.at(node));
        return unjoined_work(graph_, first, natives, names);
    }
    [[nodiscard]] std::string text(const std::vector<std::size_t>& front) const {
        return text(0, front, CaptureNames(0, SourceLocation()));
    }

  private:
    cudaGraph_t graph_ = nullptr;
    std::vector<cudaGraphNode_t> nodes_;
};

/// "empty, empty", so many times.
std::string list(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i)
        text += i == 0 ? "empty" : ", empty";
    return text;
}

SourceLocation line(unsigned number) {
    SourceLocation location;
    location.file = "steps.cpp";
    location.line = number;
    return location;
}

} // namespace

TEST_CASE("nodes that the front is, or comes after, are joined, and the others are told", "[capture][unjoined]") {
    Nodes nodes;
    const std::size_t first = nodes.add();
    const std::size_t second = nodes.add({first});
    const std::size_t third = nodes.add({second});
    const std::size_t fourth = nodes.add({third});
    CHECK(nodes.text({fourth}).empty());
    CHECK(nodes.text({third}) == list(1));
    CHECK(nodes.text({first}) == list(3));
    CHECK(nodes.text({}) == list(4));
    CHECK(nodes.text({first, fourth}).empty());
}

TEST_CASE("at most ten nodes that nothing waits for are listed, and the others counted", "[capture][unjoined]") {
    Nodes nodes;
    const std::size_t joined = nodes.add();
    for (int i = 0; i < 9; ++i)
        nodes.add();
    CHECK(nodes.text({joined}) == list(9));
    nodes.add({joined});
    CHECK(nodes.text({joined}) == list(10));
    nodes.add();
    CHECK(nodes.text({joined}) == list(10) + ", and 1 more");
    nodes.add();
    CHECK(nodes.text({joined}) == list(10) + ", and 2 more");
}

TEST_CASE("what was there before the capture is not asked for", "[capture][unjoined]") {
    Nodes nodes;
    const std::size_t before = nodes.add();
    const std::size_t joined = nodes.add({before});
    nodes.add({before});
    nodes.add({before});
    const CaptureNames names(1, SourceLocation());
    CHECK(nodes.text(1, {joined}, names) == list(2));
    CHECK(nodes.text(1, {before}, names) == list(3));
}

TEST_CASE("nodes that are reached on many ways are looked at once", "[capture][unjoined]") {
    Nodes nodes;
    std::size_t last = nodes.add();
    for (int i = 0; i < 60; ++i) { // two ways through each: 2^60
        const std::size_t left = nodes.add({last});
        const std::size_t right = nodes.add({last});
        last = nodes.add({left, right});
    }
    CHECK(nodes.text({last}).empty());
}

TEST_CASE("a node that nothing waits for is told with the innermost step around it", "[capture][unjoined]") {
    Nodes nodes;
    for (int i = 0; i < 5; ++i)
        nodes.add();
    CaptureNames names(0, SourceLocation());
    names.begin_step("outer", line(10), 1);
    names.begin_step("inner", line(11), 2);
    names.end_step(3);
    names.end_step(4);
    CHECK(nodes.text(0, {}, names) ==
          "empty, empty in step \"outer\" at steps.cpp:10, empty in step \"inner\" at steps.cpp:11, "
          "empty in step \"outer\" at steps.cpp:10, empty");
}
