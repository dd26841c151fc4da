// What cudag makes of the driver's answers, also of those that no driver here gives.
#include "cuda/driver.hpp"
#include "cuda/kernel_name.hpp"

#include "catch.hpp"
#include "fake_driver.hpp"
#include "kernels.hpp"

#include <cudag/buffer.hpp>
#include <cudag/graphed_function.hpp>
#include <cudag/launch.hpp>
#include <cudag/stream.hpp>

#include <string>
#include <thread>
#include <vector>

using cudag::detail::call_in_context;
using cudag::detail::converted_green_context;
using cudag::detail::device_by_context;
using cudag::detail::Driver;
using cudag::detail::is_separate_context;
using cudag::detail::kernel_name;
using cudag::detail::parameter_types;
using cudag::detail::same_parameters;

namespace {

int places[2]; // contexts of no driver stand for themselves
CUcontext context(int number) {
    return reinterpret_cast<CUcontext>(&places[number]);
}

/// How each device answers about its primary context.
struct Primary {
    CUresult state = CUDA_SUCCESS;
    int is_active = 1;
    CUresult retain = CUDA_SUCCESS;
    CUcontext context = nullptr;
    int retained = 0;
    int released = 0;
} primary;

CUresult get_state(CUdevice, unsigned* flags, int* is_active) {
    *flags = 0;
    *is_active = primary.is_active;
    return primary.state;
}
CUresult retain(CUcontext* found, CUdevice) {
    *found = primary.context;
    if (primary.retain == CUDA_SUCCESS) ++primary.retained;
    return primary.retain;
}
CUresult release(CUdevice) {
    ++primary.released;
    return CUDA_SUCCESS;
}

/// With primary contexts that answer so.
void use(FakeDriver& fake, const Primary& answers) {
    primary = answers;
    fake.calls.primary_ctx_get_state = get_state;
    fake.calls.primary_ctx_retain = retain;
    fake.calls.primary_ctx_release = release;
}

/// How a green context is converted.
struct Conversion {
    CUresult result = CUDA_SUCCESS;
    CUcontext converted = nullptr;
} conversion;

CUresult convert(CUcontext* converted, CUgreenCtx) {
    *converted = conversion.converted;
    return conversion.result;
}

/// The contexts that `call_in_context` calls with, for a kernel in `given`; the first call fails with `first`.
std::vector<CUcontext> contexts_of_calls(CUcontext given, CUresult first) {
    std::vector<CUcontext> calls;
    CUDA_KERNEL_NODE_PARAMS params{};
    params.ctx = given;
    params.gridDimX = 7;
    const CUresult result = call_in_context(params, [&](const CUDA_KERNEL_NODE_PARAMS& asked) {
        CHECK(asked.gridDimX == 7);
        calls.push_back(asked.ctx);
        return calls.size() == 1 ? first : CUDA_SUCCESS;
    });
    CHECK(result == (calls.size() == 1 ? first : CUDA_SUCCESS));
    return calls;
}

/// How the driver answers for a kernel's name.
struct Name {
    CUresult result = CUDA_SUCCESS;
    const char* mangled = nullptr;
} name;

CUresult get_name(const char** found, CUfunction) {
    *found = name.mangled;
    return name.result;
}

/// The parameters of a kernel that the driver calls `mangled`.
std::vector<std::string> types_of(const char* mangled) {
    name = {CUDA_SUCCESS, mangled};
    return parameter_types(nullptr);
}

using Types = std::vector<std::string>;

} // namespace

TEST_CASE("a context that is no device's primary one is separate", "[cuda][driver]") {
    FakeDriver fake;
    use(fake, {.context = context(0)});
    CHECK_FALSE(is_separate_context(context(0)));
    CHECK(is_separate_context(context(1)));
    CHECK(primary.retained > 0);
    CHECK(primary.released == primary.retained);
}

TEST_CASE("a primary context that is not active is not made and is none", "[cuda][driver]") {
    FakeDriver fake;
    use(fake, {.is_active = 0, .context = context(0)});
    CHECK(is_separate_context(context(0)));
    CHECK(primary.retained == 0);
    CHECK(primary.released == 0);
}

TEST_CASE("a question about primary contexts that the driver refuses is an error", "[cuda][driver]") {
    FakeDriver fake;
    const Primary answers =
        GENERATE(Primary{.state = CUDA_ERROR_INVALID_DEVICE}, Primary{.retain = CUDA_ERROR_OUT_OF_MEMORY});
    use(fake, answers);
    primary.context = context(0);
    CHECK_THROWS_AS(is_separate_context(context(0)), cudag::GraphError);
    CHECK(primary.released == 0);
}

TEST_CASE("a driver that cannot be asked for primary contexts has no others", "[cuda][driver]") {
    FakeDriver fake;
    use(fake, {.context = context(0)});
    SECTION("for their state") {
        fake.calls.primary_ctx_get_state = nullptr;
    }
    SECTION("to retain them") {
        fake.calls.primary_ctx_retain = nullptr;
    }
    SECTION("to release them") {
        fake.calls.primary_ctx_release = nullptr;
    }
    CHECK_FALSE(is_separate_context(context(1)));
    CHECK(primary.retained == 0);
}

TEST_CASE("a green context is converted, and what is none is not", "[cuda][driver]") {
    FakeDriver fake;
    fake.calls.ctx_from_green_ctx = nullptr;
    CHECK(converted_green_context(context(0)) == nullptr);
    fake.calls.ctx_from_green_ctx = convert;
    conversion = {CUDA_SUCCESS, context(1)};
    CHECK(converted_green_context(context(0)) == context(1));
    conversion.result = CUDA_ERROR_INVALID_CONTEXT;
    CHECK(converted_green_context(context(0)) == nullptr);
}

TEST_CASE("a call that the driver refuses for a green context is made again, with the converted one",
          "[cuda][driver]") {
    using Contexts = std::vector<CUcontext>;
    FakeDriver fake;
    fake.calls.ctx_from_green_ctx = convert;
    conversion = {CUDA_SUCCESS, context(1)};
    CHECK(contexts_of_calls(context(0), CUDA_ERROR_INVALID_CONTEXT) == Contexts{context(0), context(1)});
    CHECK(contexts_of_calls(context(0), CUDA_SUCCESS) == Contexts{context(0)});
    CHECK(contexts_of_calls(context(0), CUDA_ERROR_INVALID_VALUE) == Contexts{context(0)});
    CHECK(contexts_of_calls(nullptr, CUDA_ERROR_INVALID_CONTEXT) == Contexts{nullptr});
    conversion.result = CUDA_ERROR_INVALID_CONTEXT;
    CHECK(contexts_of_calls(context(0), CUDA_ERROR_INVALID_CONTEXT) == Contexts{context(0)});
}

TEST_CASE("a thread has a context before the driver is asked for a stream's", "[cuda][driver]") {
    static std::string asked;
    static Driver real;
    const cudag::Stream stream;
    FakeDriver fake;
    real = fake.calls;
    fake.calls.ctx_get_current = [](CUcontext* current) {
        asked += "current ";
        return real.ctx_get_current(current);
    };
    fake.calls.stream_get_ctx = [](CUstream of, CUcontext* found) {
        asked += "stream ";
        return real.stream_get_ctx(of, found);
    };
    for (int turn = 0; turn < 2; ++turn) {
        asked.clear();
        std::thread([&] { CHECK(device_by_context(stream.get()) == 0); }).join();
        CHECK_THAT(asked, StartsWith("current ") && EndsWith("stream "));
    }
}

TEST_CASE("a kernel that the driver does not name is called one, and has no known parameters", "[cuda][driver]") {
    FakeDriver fake;
    fake.calls.func_get_name = get_name;
    name = GENERATE(Name{CUDA_SUCCESS, nullptr}, Name{CUDA_ERROR_INVALID_HANDLE, nullptr},
                    Name{CUDA_ERROR_INVALID_HANDLE, "_Z6scaledPfi"});
    CHECK(kernel_name(CUfunction{}) == "kernel");
    CHECK(parameter_types(nullptr).empty());
    CHECK_FALSE(same_parameters(nullptr, nullptr));
}

TEST_CASE("a kernel's parameters are read from the name that the driver has for it", "[cuda][driver]") {
    FakeDriver fake;
    fake.calls.func_get_name = get_name;
    CHECK(types_of("_Z6scaledPfi") == Types{"float*", "int"});
    CHECK(kernel_name(CUfunction{}) == "scaled");
    CHECK(types_of("_Z7nothingv").empty());
    CHECK(types_of("not_mangled").empty());
    CHECK(types_of("_Z5applyPFviEi") == Types{"void (*)(int)", "int"});
    CHECK(types_of("_Z5applyPFvifEi") == Types{"void (*)(int, float)", "int"});
    CHECK(types_of("_Z4pairSt4pairIifEi") == Types{"std::pair<int, float>", "int"});
}

TEST_CASE("an allocation that begins where another one ends is found among a graph's, too", "[capture][graphed]") {
    using Cells = cudag::DeviceSpan<const int>;
    constexpr std::size_t half = 64;
    static const int* block = nullptr;
    const cudag::DeviceBuffer<int> memory(2 * half);
    block = memory.data();
    const cudag::Stream stream;
    cudag::GraphedFunction<void(cudaStream_t, Cells)> f(
        [](cudaStream_t s, Cells in) {
            for (const int* const cells : {block, block + half, in.data()})
                cudag::launch(s, {}, kernels::scoped, cells, 1);
        },
        {.bind_inputs = true});
    FakeDriver fake;
    static Driver real;
    real = fake.calls;
    fake.calls.mem_get_address_range = [](CUdeviceptr* begin, std::size_t* bytes, CUdeviceptr address) {
        const CUresult result = real.mem_get_address_range(begin, bytes, address);
        if (result != CUDA_SUCCESS || *begin != reinterpret_cast<CUdeviceptr>(block)) return result;
        *bytes = half * sizeof(int); // one after the other
        if (address - *begin >= *bytes) *begin += *bytes;
        return result;
    };
    f.forward(stream, Cells(block + half, 1));
    CHECK(f.last_copied().size() == 1);
    const cudag::DeviceBuffer<int> apart(1);
    f.forward(stream, apart);
    CHECK(f.last_copied().empty());
    stream.synchronize();
}
