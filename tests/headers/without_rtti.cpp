// A program without RTTI, with the macros of HPC codes on its command line: -fno-rtti -DN=1024 -DM=2 -DA=1 -DT=3.
#include <cudag/cudag.hpp>

#include <cstdio>
#include <string>
#include <utility>

namespace {

struct Key {
    int rows;
    bool operator==(const Key&) const = default;
};
struct OtherKey {
    int rows;
    bool operator==(const OtherKey&) const = default;
};

bool check(bool is_right, const char* what) {
    if (!is_right) std::printf("wrong: %s\n", what);
    return is_right;
}

/// Whether a refusal is caught as what it is, and names the type of the parameter.
bool catches() {
    try {
        static_cast<void>(cudag::detail::number_to<unsigned char>(N, cudag::detail::ArgumentSite{{}, M}));
    } catch (const cudag::GraphError& error) {
        return std::string(error.what()).find("1024 does not fit the parameter type unsigned char") !=
               std::string::npos;
    }
    return false;
}

/// Keys of different types are different keys.
bool tells_keys_apart() {
    using cudag::detail::view_of_key;
    const Key key{A};
    return view_of_key(key).type == view_of_key(Key{T}).type && view_of_key(key).type != view_of_key(OtherKey{A}).type;
}

bool builds() {
    cudag::GraphBuilder b;
    int calls = 0;
    b.host([&calls] { ++calls; });
    const cudag::Graph graph = std::move(b).build();
    return graph.node_count() == 1;
}

} // namespace

int main() {
    const bool is_right =
        int{check(catches(), "errors")} + int{check(tells_keys_apart(), "keys")} + int{check(builds(), "nodes")} == 3;
    return is_right ? 0 : 1;
}
