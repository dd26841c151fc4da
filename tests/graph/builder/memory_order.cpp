// build() refuses uses of graph memory before it is allocated or after it is freed.
#include <utility>
#include <vector>

#include "memory_nodes.hpp"

using cudag::AllocNode;
using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::FreeNode;
using cudag::Graph;
using cudag::GraphBuilder;
using cudag::GraphError;
using cudag::Stream;

namespace {

/// alloc "memory", and a free node "end" of it that is made after its users.
struct Sample {
    GraphBuilder b;
    AllocNode<int> alloc = b.alloc<int>(4).label("memory");
    FreeNode free;
    DeviceBuffer<int> outside{4};

    FreeNode end() { return free = b.free(alloc).label("end").after(alloc); }

    /// What `build()` refuses; afterwards the builder is as it was.
    GraphError refusal() {
        const auto error = refused<GraphError>([&] { static_cast<void>(std::move(b).build()); });
        CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
        CHECK(error.location().line != 0);
        CHECK(refused<GraphError>([&] { b.check(); }).what() == std::string(error.what()));
        return error;
    }

    /// Puts `use` where it should be, and builds.
    void mend(const cudag::MemsetNode& use) {
        use.after(alloc);
        free.after(use);
        CHECK(std::move(b).build().node_count() == 3);
    }
};

} // namespace

TEST_CASE("a use that is not ordered after the allocation is refused", "[memory][order]") {
    Sample s;
    const auto use = s.b.memset(s.alloc.span(), 1).label("fill");
    s.end().after(use);
    const auto error = s.refusal();
    CHECK(error.labels() == Labels{"fill", "memory"});
    CHECK(error.location().line == use.location().line);
    CHECK_THAT(error.what(), ContainsSubstring("build: memset \"fill\" at ") &&
                                 ContainsSubstring("it uses the memory of alloc \"memory\" at ") &&
                                 ContainsSubstring("is not ordered after it; let memset \"fill\" at ") &&
                                 ContainsSubstring(" come .after(alloc \"memory\" at "));
    s.mend(use);
}

TEST_CASE("a use that is not ordered before the free node is refused", "[memory][order]") {
    Sample s;
    const auto use = s.b.memset(s.alloc.span(), 1).label("fill").after(s.alloc);
    s.end();
    const auto error = s.refusal();
    CHECK(error.labels() == Labels{"fill", "memory", "end"});
    CHECK_THAT(error.what(), ContainsSubstring("is not ordered before free \"end\" at ") &&
                                 ContainsSubstring("let free \"end\" at ") &&
                                 ContainsSubstring(" come .after(memset \"fill\" at "));
    s.mend(use);
}

TEST_CASE("a use after the free node is refused", "[memory][order]") {
    Sample s;
    const auto use = s.b.memset(s.alloc.span(), 1).label("fill").after(s.alloc);
    use.after(s.end());
    const auto error = s.refusal();
    CHECK(error.labels() == Labels{"fill", "memory", "end"});
    CHECK_THAT(error.what(), ContainsSubstring("is not ordered before free \"end\" at ") &&
                                 ContainsSubstring("reverse the order of the two"));
}

TEST_CASE("a use before the allocation is refused", "[memory][order]") {
    GraphBuilder b;
    const auto alloc = b.alloc<int>(1).label("memory");
    const auto use = b.memset(alloc.span(), 1).label("fill");
    alloc.after(use);
    const auto error = refused<GraphError>([&] { b.check(); });
    CHECK_THAT(error.what(), ContainsSubstring("is not ordered after it; reverse the order of the two"));
}

TEST_CASE("a free node that is not ordered after the allocation is refused", "[memory][order]") {
    GraphBuilder b;
    const auto alloc = b.alloc<int>(1).label("memory");
    const auto free = b.free(alloc).label("end");
    const auto error = refused<GraphError>([&] { b.check(); });
    CHECK(error.labels() == Labels{"end", "memory"});
    CHECK_THAT(error.what(), ContainsSubstring("build: free \"end\" at ") &&
                                 ContainsSubstring("let free \"end\" at ") &&
                                 ContainsSubstring(" come .after(alloc \"memory\" at "));
    free.after(alloc);
    b.check();
}

TEST_CASE("a use and a free node that nothing orders after their allocation are refused where memory is reused",
          "[memory][order]") {
    GraphBuilder b;
    std::vector<cudag::Node> before;
    for (int i = 0; i < 2; ++i) { // takes turns at one address
        const auto memory = b.alloc<int>(4, {.after = before});
        const auto use = b.memset(memory.span(), 1).after(memory);
        before.assign({b.free(memory).after(use)});
    }
    const auto memory = b.alloc<int>(4, {.after = before}).label("memory");
    const auto use = b.memset(memory.span(), 1);
    b.free(memory).after(use).label("end");
    CHECK_THAT(refused<GraphError>([&] { b.check(); }).what(),
               ContainsSubstring("it frees the memory of alloc \"memory\"") && ContainsSubstring("\"end\""));
    use.after(memory);
    CHECK_NOTHROW(b.check());
}

TEST_CASE("order through other nodes counts", "[memory][order]") {
    Sample s;
    const auto before = s.b.join(s.alloc);
    const auto use = s.b.memset(s.alloc.span(), 1).after(before);
    const auto between = s.b.host([] {}).after(use);
    s.end().after(between);
    CHECK(std::move(s.b).build().node_count() == 5);
}

TEST_CASE("memory that stays allocated may be used to the end", "[memory][order]") {
    GraphBuilder b;
    const auto alloc = b.alloc<int>(1);
    b.memset(alloc.span(), 1).after(alloc);
    b.check();
}

TEST_CASE("both operands of a copy are uses", "[memory][order]") {
    for (const bool from : {false, true}) {
        Sample s;
        if (from)
            s.b.memcpy(s.outside, s.alloc.span()).label("copy");
        else
            s.b.memcpy(s.alloc.span(), s.outside).label("copy");
        s.end();
        CHECK(s.refusal().labels() == Labels{"copy", "memory"});
    }
}

TEST_CASE("the last element of the memory counts, and a range that reaches into it", "[memory][order]") {
    Sample s;
    s.b.memset(s.alloc.span().subspan(3, 1), 1).label("last");
    s.end();
    CHECK(s.refusal().labels() == Labels{"last", "memory"});
}

TEST_CASE("pointers and spans that a kernel gets are uses", "[memory][order]") {
    Sample pointer;
    pointer.end();
    pointer.b.kernel({}, add, pointer.outside.data(), pointer.alloc.span().data() + 3, 1).label("read");
    CHECK(pointer.refusal().labels() == Labels{"read", "memory"});
    Sample span;
    span.end();
    span.b.kernel({}, sum, span.outside.data(), DeviceSpan<const int>(span.alloc.span())).label("sum");
    CHECK(span.refusal().labels() == Labels{"sum", "memory"});
}

TEST_CASE("numbers that a kernel gets are no uses", "[memory][order]") {
    Sample s;
    const auto address = reinterpret_cast<unsigned long long>(s.alloc.span().data());
    const DeviceBuffer<Numbers> out(1);
    using schar = signed char;
    using uchar = unsigned char;
    s.b.kernel({}, write_numbers, out, schar{1}, uchar{1}, short{1}, static_cast<unsigned short>(1), 1, 1U, 1LL,
               address, 1.0F, 1.0);
    CHECK(std::move(s.b).build().node_count() == 2);
}

TEST_CASE("what a recorded kernel gets is a use if it is an address in graph memory", "[memory][order]") {
    Sample s;
    const Stream stream;
    const auto region =
        s.b.capture(stream, [&](cudaStream_t in) { cudag::launch(in, {}, store, s.alloc.span().data(), 1); })
            .label("region");
    s.end().after(region);
    CHECK(s.refusal().labels() == Labels{"region", "memory"});
    region.after(s.alloc);
    CHECK(std::move(s.b).build().node_count() == 3);
}

TEST_CASE("memory beside an allocation is no use of it", "[memory][order]") {
    Sample s;
    int* const begin = s.alloc.span().data();
    s.b.kernel({}, add, s.outside.data(), begin + (1 << 28), 1);
    s.b.memset(s.outside, 1);
    CHECK(std::move(s.b).build().node_count() == 3);
}

TEST_CASE("the end of one allocation is no use of the next", "[memory][order]") {
    GraphBuilder b;
    constexpr std::size_t count = std::size_t{1} << 20U; // CUDA may put them side by side
    const auto first = b.alloc<int>(count);
    const auto second = b.alloc<int>(count);
    const auto lower = first.span().data() < second.span().data() ? first : second;
    const auto use = b.kernel({}, add, lower.span().data() + count, lower.span().data(), 1).after(lower);
    b.free(lower).after(use);
    b.check();
}

TEST_CASE("what begins where memory ended that is free again is used like any other", "[memory][order]") {
    GraphBuilder b;
    constexpr std::size_t count = std::size_t{1} << 20U; // CUDA may put them side by side
    const auto one = b.alloc<int>(count), other = b.alloc<int>(count);
    const bool is_lower = one.span().data() < other.span().data();
    const auto lower = is_lower ? one : other, upper = is_lower ? other : one;
    const auto free = b.free(lower).after(lower);
    const auto again = b.alloc<int>(count / 2, {.after = {free}}); // which ends elsewhere
    const auto use = b.kernel({}, add, upper.span().data(), again.span().data(), 1).label("use").after(again);
    CHECK(refused<GraphError>([&] { b.check(); }).labels().front() == "use");
    use.after(upper);
    b.check();
}

TEST_CASE("a use of memory that is reused belongs to the allocation that it follows", "[memory][order]") {
    GraphBuilder b;
    constexpr std::size_t bytes = std::size_t{4} << 20U;
    const auto first = b.alloc<char>(bytes).label("first");
    const auto end = b.free(first).label("first end").after(first);
    const auto second = b.alloc<char>(bytes, {.after = {end}}).label("second");
    REQUIRE(second.span().data() == first.span().data());
    const auto use = b.memset(second.span(), '\1').label("fill");
    const auto last = b.free(second).label("second end").after(second);
    CHECK(refused<GraphError>([&] { b.check(); }).labels() == Labels{"fill", "first"});
    use.after(second);
    CHECK(refused<GraphError>([&] { b.check(); }).labels() == Labels{"fill", "second", "second end"});
    last.after(use);
    CHECK(std::move(b).build().node_count() == 5);
}

TEST_CASE("uses in the graph that frees another graph's memory come before the free node", "[memory][order]") {
    GraphBuilder owner;
    const auto alloc = owner.alloc<int>(1).label("memory");
    GraphBuilder b;
    const auto use = b.memset(alloc.span(), 1).label("fill");
    const auto free = b.free(alloc).label("end");
    const auto error = refused<GraphError>([&] { b.check(); });
    CHECK(error.labels() == Labels{"fill", "end"});
    CHECK_THAT(error.what(), ContainsSubstring("it uses memory of another graph, and is not ordered before free"));
    free.after(use);
    b.check();
}

TEST_CASE("a cycle is refused before uses of memory are looked at", "[memory][order]") {
    Sample s;
    const auto one = s.b.memset(s.alloc.span(), 1).label("one");
    const auto two = s.b.host([] {}).label("two").after(one);
    one.after(two);
    CHECK_THAT(s.refusal().what(), ContainsSubstring("cycle"));
}

TEST_CASE("copies and fills of memory whose free node is made already are refused", "[memory][order]") {
    Sample s;
    s.end();
    const auto check = [&](const char* role, auto&& add) {
        const auto error = refused<GraphError>(add);
        CHECK(error.code() == cuda_code(cudaErrorInvalidValue));
        CHECK(error.labels() == Labels{"memory", "end"});
        CHECK_THAT(error.what(), ContainsSubstring(std::string("the ") + role + " is memory of alloc \"memory\" at ") &&
                                     ContainsSubstring("once free \"end\" at ") &&
                                     ContainsSubstring("call free() after this"));
    };
    check("destination", [&] { s.b.memset(s.alloc.span(), 1); });
    check("destination", [&] { s.b.memcpy(s.alloc.span(), s.outside); });
    check("source", [&] { s.b.memcpy(s.outside, s.alloc.span()); });
    CHECK(native_count(std::move(s.b).build()) == 2);
}

TEST_CASE("kernels may take memory whose free node is made already", "[memory][order]") {
    Sample s;
    s.end();
    const auto use = s.b.kernel({}, store, s.alloc.span(), 1).after(s.alloc);
    s.free.after(use);
    run(std::move(s.b));
}

TEST_CASE("regions that copies and fills of rows work on are uses", "[memory][order]") {
    using cudag::DeviceSpan2D;
    const auto check = [](const char* label, auto&& add) {
        Sample s;
        add(s).label(label);
        s.end();
        CHECK(s.refusal().labels() == Labels{label, "memory"});
    };
    const auto inside = [](const Sample& s) { return DeviceSpan2D<int>(s.alloc.span(), 2, 2); };
    const auto outside = [](const Sample& s) { return DeviceSpan2D<int>(s.outside.span(), 2, 2); };
    check("to", [&](Sample& s) { return s.b.memcpy2d(inside(s), outside(s)); });
    check("from", [&](Sample& s) { return s.b.memcpy2d(outside(s), inside(s)); });
    check("fill", [&](Sample& s) { return s.b.memset2d(inside(s), 1); });

    Sample late;
    late.end();
    const auto to = refused<GraphError>([&] { late.b.memcpy2d(inside(late), outside(late)); });
    CHECK_THAT(to.what(), ContainsSubstring("the destination is memory of alloc \"memory\""));
    const auto from = refused<GraphError>([&] { late.b.memcpy2d(outside(late), inside(late)); });
    CHECK_THAT(from.what(), ContainsSubstring("the source is memory of alloc \"memory\""));
    const auto fill = refused<GraphError>([&] { late.b.memset2d(inside(late), 1); });
    CHECK_THAT(fill.what(), ContainsSubstring("the destination is memory of alloc \"memory\""));
}
