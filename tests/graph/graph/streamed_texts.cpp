// operator<< and std::format of cudag's types.
#include <sstream>

#include <cudag/ostream.hpp>
#include <cudag/std_format.hpp>

#include "dot_sample.hpp"

namespace {

template <class Value>
std::string streamed(const Value& value) {
    std::ostringstream stream;
    stream << value;
    return stream.str();
}

} // namespace

TEST_CASE("graphs, nodes of any type, kinds and places are written to a stream as their text", "[graph]") {
    const cudag::Graph graph = dot_sample::pipeline();
    const auto fill = graph.find_one(store);
    CHECK(streamed(graph) == to_string(graph));
    CHECK(streamed(fill) == to_string(static_cast<const cudag::Node&>(fill)));
    CHECK(streamed(fill.kind()) == "kernel");
    CHECK(streamed(cudag::EdgeKind::programmatic) == "programmatic");
    CHECK(streamed(graph.instantiate().plan()) == graph.instantiate().plan().to_string());
}

TEST_CASE("numbers and strings are written to a stream as ever where cudag's names are visible", "[graph]") {
    using namespace cudag;
    CHECK(streamed(5) == "5");
    CHECK(streamed(std::string("text")) == "text");
    CHECK(streamed(std::string_view("text")) == "text");
}

#ifdef __cpp_lib_format
TEST_CASE("std::format takes cudag's types, with the options of text", "[graph]") {
    const cudag::Graph graph = dot_sample::pipeline();
    CHECK(std::format("{}", graph.find_one(store)) == to_string(graph.find_one("fill")));
    CHECK(std::format("{:>8}|", cudag::NodeKind::host) == "    host|");
}
#endif
