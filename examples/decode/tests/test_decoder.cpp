// Both decoders against the oracle, and the shape of the graph.
#include <set>
#include <string>
#include <vector>

#include <catch.hpp>

#include "../decoder.hpp"

namespace {

/// Two texts, one after the other, so that the second begins with what the first one left in the caches.
template <class Decoder>
void check_decoder() {
    const decode::Model model = decode::make_model(7);
    cudag::Stream stream;
    Decoder decoder(model);
    for (const int first_token : {3, 200}) {
        INFO("first token " << first_token);
        const int steps = first_token == 3 ? 20 : 9;
        decoder.model().start(stream, first_token);
        for (int position = 0; position < steps; ++position) {
            decoder.step(stream, position);
        }
        const decode::Decoded result = decoder.model().result(stream, steps);
        const decode::Decoded expected = decode::decode_on_host(model, first_token, steps);
        CHECK(result.tokens == expected.tokens);
        CHECK(result.keys == expected.keys);
        CHECK(result.values == expected.values);
    }
}

} // namespace

TEST_CASE("plain launches equal the oracle", "[decode]") {
    check_decoder<decode::StreamDecoder>();
}

TEST_CASE("the updated graph equals the oracle", "[decode]") {
    check_decoder<decode::GraphDecoder>();
}

TEST_CASE("the graph decodes up to the last position", "[decode]") {
    const decode::Model model = decode::make_model(5);
    cudag::Stream stream;
    decode::GraphDecoder decoder(model);
    decoder.model().start(stream, 0);
    for (int position = 0; position < decode::max_positions; ++position) {
        decoder.step(stream, position);
    }
    CHECK(decoder.model().result(stream, decode::max_positions) ==
          decode::decode_on_host(model, 0, decode::max_positions));
}

TEST_CASE("the oracle's tokens depend on all of the text", "[decode]") {
    const decode::Model model = decode::make_model(1);
    const decode::Decoded text = decode::decode_on_host(model, 1, 40);
    CHECK(std::set<int>(text.tokens.begin(), text.tokens.end()).size() > 10);
    CHECK(decode::decode_on_host(model, 2, 40).tokens != text.tokens);
    CHECK(decode::decode_on_host(decode::make_model(2), 1, 40).tokens != text.tokens);
}

TEST_CASE("the graph is one line of the step's kernels", "[decode]") {
    const decode::GraphDecoder decoder(decode::make_model(1));
    const std::vector<cudag::Node> nodes = decoder.graph().nodes();
    const std::vector<cudag::Edge> edges = decoder.graph().edges();
    REQUIRE(nodes.size() == 3 + 6 * decode::layers);
    REQUIRE(edges.size() == nodes.size() - 1);
    for (std::size_t i = 0; i < edges.size(); ++i) {
        CHECK(edges[i].from == nodes[i]);
        CHECK(edges[i].to == nodes[i + 1]);
    }
    CHECK(nodes.front().label() == "embed");
    CHECK(nodes[7].label() == "layer 1: project");
    CHECK(nodes.back().label() == "pick");
}
