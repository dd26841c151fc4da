// The layout of copied kernel arguments is that of a struct with the parameters as members.
#include <cudag/detail/kernel_call.hpp>

#include <catch.hpp>

#include <cstddef>
#include <cstdint>

using cudag::detail::KernelSignature;
using cudag::detail::SignatureOf;

namespace {

struct alignas(16) Wide {
    double a, b, c;
};

struct Odd {
    char bytes[3];
};

struct Mixed {
    char a;
    double b;
    short c;
    float* d;
    bool e;
    Odd f;
    Wide g;
    std::int64_t h;
    char i;
};
using MixedSignature = SignatureOf<char, double, short, float*, bool, Odd, Wide, std::int64_t, char>;

void check_parameter(const KernelSignature& signature, std::uint32_t i, std::size_t offset, std::size_t size) {
    CAPTURE(i);
    CHECK(signature.parameters[i].offset == offset);
    CHECK(signature.parameters[i].size == size);
}

} // namespace

TEST_CASE("parameters lie as in a struct", "[unit][signature]") {
    constexpr KernelSignature signature = MixedSignature::value;
    CHECK(signature.count == 9);
    check_parameter(signature, 0, offsetof(Mixed, a), sizeof(char));
    check_parameter(signature, 1, offsetof(Mixed, b), sizeof(double));
    check_parameter(signature, 2, offsetof(Mixed, c), sizeof(short));
    check_parameter(signature, 3, offsetof(Mixed, d), sizeof(float*));
    check_parameter(signature, 4, offsetof(Mixed, e), sizeof(bool));
    check_parameter(signature, 5, offsetof(Mixed, f), sizeof(Odd));
    check_parameter(signature, 6, offsetof(Mixed, g), sizeof(Wide));
    check_parameter(signature, 7, offsetof(Mixed, h), sizeof(std::int64_t));
    check_parameter(signature, 8, offsetof(Mixed, i), sizeof(char));
    CHECK(signature.bytes == offsetof(Mixed, i) + sizeof(char));
}

TEST_CASE("a kernel without parameters has an empty signature", "[unit][signature]") {
    constexpr KernelSignature signature = SignatureOf<>::value;
    CHECK(signature.count == 0);
    CHECK(signature.bytes == 0);
    CHECK(signature.parameters != nullptr);
}
