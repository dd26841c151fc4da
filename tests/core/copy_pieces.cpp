// The sizes of copies that CUDA runs slowly in graphs, and of their pieces.
#include "node/copy_pieces.hpp"

#include "catch.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace cudag::detail;

namespace {

constexpr std::size_t kib = std::size_t{1} << 10U;
constexpr std::size_t mib = std::size_t{1} << 20U;

CopyParams copy_of(std::size_t elements, std::size_t element_bytes = 1,
                   cudaMemcpyKind kind = cudaMemcpyDeviceToDevice) {
    char* const destination = reinterpret_cast<char*>(std::uintptr_t{1} << 40U); // nothing is copied
    return {destination, destination + (std::uintptr_t{1} << 40U), elements, elements, element_bytes, kind};
}

bool is_slow(std::size_t bytes) {
    return is_slow_in_graphs(copy_of(bytes));
}

/// The sizes of the pieces; checks that they are the whole copy, and quick.
std::vector<std::size_t> sizes_of(std::size_t elements, std::size_t element_bytes = 1) {
    const CopyParams copy = copy_of(elements, element_bytes);
    std::vector<std::size_t> sizes;
    std::size_t at = 0;
    for (const CopyParams& piece : pieces_of(copy)) {
        const std::size_t bytes = piece.source_size * piece.element_bytes;
        CHECK(piece.destination == static_cast<char*>(copy.destination) + at);
        CHECK(piece.source == static_cast<const char*>(copy.source) + at);
        CHECK(piece.source_size == piece.destination_size);
        CHECK(piece.kind == copy.kind);
        CHECK_FALSE(is_slow_in_graphs(piece));
        sizes.push_back(bytes);
        at += bytes;
    }
    CHECK(at == elements * element_bytes);
    return sizes;
}

using Sizes = std::vector<std::size_t>;

} // namespace

TEST_CASE("copies are slow where an H100 was measured to run them slowly in graphs", "[pieces]") {
    for (const std::size_t quick : {16U,  64U,  128U, 256U,  258U,  384U,  508U,  510U,  516U,  522U,  576U,
                                    768U, 770U, 896U, 1022U, 1030U, 1284U, 1568U, 1792U, 1952U, 2046U, 4094U})
        CHECK_FALSE(is_slow(quick * mib));
    for (const std::size_t slow : {512U,  514U,  518U,  640U,  1024U, 1026U, 1028U, 1280U, 1536U, 1538U, 1664U,
                                   2048U, 2050U, 2304U, 2560U, 3072U, 3584U, 4096U, 5120U, 6144U, 8192U})
        CHECK(is_slow(slow * mib));
    for (const std::size_t base : {64 * mib, 128 * mib, 256 * mib})
        for (const std::size_t more : {std::size_t{1}, std::size_t{16}, std::size_t{256}, 2 * kib})
            CHECK((is_slow(base + more) && is_slow(base - more)));
    CHECK(is_slow(256 * mib + 4 * kib));
    CHECK_FALSE(is_slow(256 * mib + 8 * kib));
    CHECK_FALSE(is_slow(256 * mib - 4 * kib));
    CHECK_FALSE(is_slow(512 * mib + 64 * kib));
    CHECK_FALSE(is_slow(512 * mib - 64 * kib));
    CHECK(is_slow(512 * mib + 128 * kib));
}

TEST_CASE("small copies are not slow, nor are those from or to the host", "[pieces]") {
    CHECK_FALSE(is_slow(1));
    CHECK_FALSE(is_slow(16 * mib - 1));
    CHECK(is_slow(16 * mib + 1));
    for (const cudaMemcpyKind kind : {cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyHostToHost}) {
        CHECK_FALSE(is_slow_in_graphs(copy_of(512 * mib, 1, kind)));
        CHECK(pieces_of(copy_of(512 * mib, 1, kind)).size() == 1);
    }
}

TEST_CASE("a slow copy has a long quick piece and a short rest", "[pieces]") {
    CHECK(sizes_of(1) == Sizes{1});
    CHECK(sizes_of(256 * mib) == Sizes{256 * mib});
    CHECK(sizes_of(129 * mib, 4) == Sizes{516 * mib});
    CHECK(sizes_of(512 * mib) == Sizes{512 * mib - 8 * kib, 8 * kib});
    CHECK(sizes_of(128 * mib, 4) == Sizes{512 * mib - 8 * kib, 8 * kib});
    CHECK(sizes_of(100 * mib + 5) == Sizes{100 * mib, 5});
    CHECK(sizes_of(256 * mib - 1) == Sizes{256 * mib - 4 * kib, 4 * kib - 1});
}

TEST_CASE("every copy up to 16 GiB has at most two pieces, the second below 2 MiB", "[pieces]") {
    std::uint64_t random = 1;
    for (int i = 0; i < 20000; ++i) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        const std::size_t unit = std::size_t{1} << ((random >> 60U) * 2U); // from 1 byte to 1 GiB
        const std::size_t bytes = ((random >> 16U) % (16U << 10U)) * mib / unit * unit + ((random >> 59U) & 1U) * unit;
        if (bytes == 0) continue;
        const std::vector<std::size_t> sizes = sizes_of(bytes);
        CHECK(sizes.size() == (is_slow(bytes) ? 2U : 1U));
        CHECK((sizes.size() == 1 || sizes[1] < 2 * mib));
    }
}
