// The parameters of kernel nodes: arguments, signatures, copies, and what the driver is given of them.
#include "kernels.hpp"
#include "node/differences.hpp"
#include "node/function.hpp"
#include "node/kernel.hpp"
#include "node/kernel_attributes.hpp"
#include "node/node_params.hpp"
#include "node/owned_params.hpp"

#include <cudag/function.hpp>

#include "catch.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory_resource>
#include <numeric>
#include <string>
#include <vector>

using namespace cudag::detail;
using cudag::LaunchConfig;
using cudag::UpdateError;

namespace {

template <class T>
T* fake(std::uintptr_t address) {
    return reinterpret_cast<T*>(address); // only compared
}

template <class... P>
CUfunction function_of(void (*kernel)(P...)) {
    cudaFunction_t function = nullptr;
    cudag::check(cudaGetFuncBySymbol(&function, kernel_symbol(kernel)));
    return function;
}

/// A kernel's parameters with `T` as the only argument.
template <class T>
struct OneArgument {
    Parameter parameter;
    T value;
    KernelSignature signature{&parameter, 1, sizeof(T)};
    KernelParams params{nullptr, nullptr, &signature, {}, reinterpret_cast<std::byte*>(&value)};

    OneArgument(ParameterType type, const T& given) : parameter{0, sizeof(T), type}, value(given) {}
    OneArgument(const OneArgument&) = delete;
    OneArgument& operator=(const OneArgument&) = delete;
};

/// The only difference, as "before -> after"; "" if there is none.
template <class T>
std::string difference(const OneArgument<T>& before, const OneArgument<T>& after,
                       const SameConditions& conditions = {}) {
    const std::vector<FieldDifference> list = diff_params(&before.params, &after.params, conditions);
    CHECK(same_params(&before.params, &after.params, conditions) == list.empty());
    if (list.empty()) return {};
    CHECK(list.size() == 1);
    CHECK(list[0].field == "argument 0");
    return list[0].before + " -> " + list[0].after;
}

struct Span {
    std::uintptr_t data;
    std::size_t size;
};

/// Condition 1 before stands for 2 after.
struct OneForTwo : SameConditions {
    [[nodiscard]] bool same(cudaGraphConditionalHandle before, cudaGraphConditionalHandle after) const override {
        return before == 1 && after == 2;
    }
};

std::string problem_of(const std::vector<GivenArgument>& list, const std::vector<Parameter>& parameters) {
    const KernelSignature signature{parameters.data(), static_cast<std::uint32_t>(parameters.size()), 64};
    ValuePointers values(parameters.size());
    return point_at({list, true, nullptr}, signature, values.get());
}

} // namespace

TEST_CASE("an argument that is a span reads as its address and elements", "[core][params]") {
    const OneArgument<Span> before(ParameterType::span, {0x1000, 2}), after(ParameterType::span, {0x2000, 3});
    CHECK(difference(before, after) == "0x1000 (2 elements) -> 0x2000 (3 elements)");
}

TEST_CASE("of an argument without a type all bytes are shown, up to 32", "[core][params]") {
    using All = std::array<unsigned char, 32>;
    const std::string text =
        difference(OneArgument<All>(ParameterType::span, All{}), OneArgument<All>(ParameterType::span, All{1}));
    CHECK_THAT(text, StartsWith("bytes 00 ") && ContainsSubstring("bytes 01 00") && !ContainsSubstring("..."));
    CHECK(std::count(text.begin(), text.end(), ' ') == 2 * 32 + 2);
    using More = std::array<unsigned char, 33>;
    More last{};
    last.back() = 1;
    CHECK_THAT(difference(OneArgument<More>(ParameterType::span, More{}), OneArgument<More>(ParameterType::span, last)),
               ContainsSubstring("00 ... -> bytes 00") && EndsWith("00 ..."));
}

TEST_CASE("whichever of two nodes knows an argument's type says how both read", "[core][params]") {
    const OneArgument<int> number(ParameterType::signed_integer, -7), unknown(ParameterType::object, 8);
    CHECK(difference(number, unknown) == "-7 -> 8");
    CHECK(difference(unknown, number) == "8 -> -7");
}

TEST_CASE("conditions are compared as those that stand for each other, before and after", "[core][params]") {
    const OneArgument<cudaGraphConditionalHandle> one(ParameterType::condition, 1), two(ParameterType::condition, 2),
        bare_one(ParameterType::object, 1), bare_two(ParameterType::object, 2);
    const OneForTwo conditions;
    CHECK(difference(one, two, conditions).empty());
    CHECK(difference(two, one, conditions) == "condition 2 -> condition 1");
    CHECK(difference(one, bare_two, conditions).empty()); // the handle in a node that cudag did not make
    CHECK(difference(bare_one, two, conditions).empty());
    CHECK(difference(bare_one, one, conditions) == "condition 1 -> condition 1");
}

TEST_CASE("conditions stand for those of the same number if nothing else is said", "[core][params]") {
    const OneArgument<cudaGraphConditionalHandle> one(ParameterType::condition, 1), same(ParameterType::condition, 1),
        two(ParameterType::condition, 2);
    CHECK(difference(one, same).empty());
    CHECK(difference(one, two) == "condition 1 -> condition 2");
}

TEST_CASE("kernels differ in each dimension of grid and block", "[core][params]") {
    const auto with = [](const dim3& grid, const dim3& block) {
        KernelParams params{};
        static const KernelSignature none{nullptr, 0, 0};
        static std::byte nothing{};
        params.signature = &none;
        params.values = &nothing;
        params.shape = {grid, block, 0};
        return params;
    };
    const KernelParams before = with({2, 3, 4}, {5, 6, 7});
    const auto fields = [&](const KernelParams& after) {
        std::string names;
        for (const FieldDifference& field : diff_params(&before, &after, {}))
            names += field.field;
        return names;
    };
    CHECK(fields(with({2, 3, 4}, {5, 6, 7})).empty());
    for (const dim3& other : {dim3(1, 3, 4), dim3(2, 1, 4), dim3(2, 3, 1)})
        CHECK(fields(with(other, {5, 6, 7})) == "grid");
    for (const dim3& other : {dim3(1, 6, 7), dim3(5, 1, 7), dim3(5, 6, 1)})
        CHECK(fields(with({2, 3, 4}, other)) == "block");
}

TEST_CASE("parameters that are assigned have the launch, and keep their attributes", "[core][params]") {
    OneArgument<int> first(ParameterType::signed_integer, 1), second(ParameterType::signed_integer, 2);
    const LaunchConfig own{.cooperative = true}, other{.priority = 1};
    first.params.attributes = &own;
    second.params.attributes = &other;
    second.params.function = fake<CUfunc_st>(8);
    second.params.shape = {{2, 3, 4}, {5, 6, 7}, 8};
    std::pmr::monotonic_buffer_resource arena;
    OwnedParams params(arena, NodeParams(&first.params));
    params.assign(&second.params);
    const KernelParams& assigned = *params.find<KernelParams>();
    CHECK(assigned.function == second.params.function);
    CHECK(assigned.shape.grid.y == 3);
    CHECK(assigned.shape.shared_bytes == 8);
    CHECK(assigned.attributes->cooperative);
    CHECK(assigned.attributes != second.params.attributes);
}

TEST_CASE("merged signatures are made once for the same types, and never for others", "[core][params]") {
    const TypeTag& integer = TypeOf<int>::tag;
    const TypeTag& handle = TypeOf<cudaGraphConditionalHandle>::tag;
    const std::array given{Parameter{0, 8, ParameterType::condition, &handle},
                           Parameter{8, 4, ParameterType::signed_integer, &integer}};
    const std::array former{Parameter{0, 8, ParameterType::unsigned_integer, &handle},
                            Parameter{8, 4, ParameterType::signed_integer, &integer}};
    const KernelSignature with_condition{given.data(), 2, 12}, with_number{former.data(), 2, 12};
    int value = 0;
    const std::array<void*, 2> both{&value, &value}, second{nullptr, &value};
    const auto type_of = [](const KernelSignature& signature) { return signature.parameters[0].type; };
    const KernelSignature& conditions = merged_signature(with_condition, with_number, both.data());
    const KernelSignature& numbers = merged_signature(with_condition, with_number, second.data());
    CHECK(type_of(conditions) == ParameterType::condition);
    CHECK(type_of(numbers) == ParameterType::unsigned_integer);
    CHECK(&merged_signature(with_condition, with_number, both.data()) == &conditions);
    CHECK(&merged_signature(with_condition, with_number, second.data()) == &numbers);
    for (const KernelSignature* merged : {&conditions, &numbers}) {
        CHECK(merged->count == 2);
        CHECK(merged->bytes == 12);
        CHECK(merged->parameters != given.data());
        CHECK(merged->parameters[1].cpp_type == &integer);
    }
    const std::array other_types{given[0], Parameter{8, 4, ParameterType::signed_integer, &TypeOf<long>::tag}};
    CHECK(merged_signature({other_types.data(), 2, 12}, with_number, both.data()).parameters[1].cpp_type ==
          &TypeOf<long>::tag);
}

TEST_CASE("two kernels have the same types if they are one, by any of its names", "[core][params]") {
    const Parameter parameter{0, 4}, larger{0, 8};
    const KernelSignature signature{&parameter, 1, 4}, other_signature{&larger, 1, 8};
    const int symbol = 0;
    KernelParams a{fake<CUfunc_st>(8), nullptr, &signature, {}, nullptr};
    KernelParams b = a;
    const CUfunction scoped = function_of(kernels::scoped);
    CHECK(same_kernel_types(a, b)); // the function, whatever its name tells
    a.function = scoped;
    b.function = function_of(sought);
    CHECK_FALSE(same_kernel_types(a, b));
    a.symbol = &symbol;
    CHECK_FALSE(same_kernel_types(a, b));
    b.symbol = &symbol;
    CHECK(same_kernel_types(a, b));
    a.symbol = b.symbol = nullptr;
    a.kernel = fake<CUkern_st>(8);
    CHECK_FALSE(same_kernel_types(a, b));
    b.kernel = a.kernel;
    CHECK(same_kernel_types(a, b));
    b.signature = &other_signature;
    CHECK_FALSE(same_kernel_types(a, b));
}

TEST_CASE("a kernel captured in a context of its own is given to the driver with both", "[core][params]") {
    OneArgument<int> argument(ParameterType::signed_integer, 1);
    KernelParams& params = argument.params;
    params.function = fake<CUfunc_st>(8);
    params.kernel = fake<CUkern_st>(16);
    const auto plain = driver_params(params, params.shape, nullptr);
    CHECK(plain.func == params.function);
    CHECK(plain.kern == nullptr);
    CHECK(plain.ctx == nullptr);
    params.context = fake<CUctx_st>(24);
    const auto native = driver_params(params, params.shape, nullptr);
    CHECK(native.func == nullptr);
    CHECK(native.kern == params.kernel);
    CHECK(native.ctx == params.context);
}

TEST_CASE("only of a kernel in a context of its own it matters that its kernel is unknown", "[core][params]") {
    OneArgument<int> argument(ParameterType::signed_integer, 1);
    const auto text = [&](CUkernel kernel, CUcontext context) -> std::string {
        argument.params.kernel = kernel;
        argument.params.context = context;
        try {
            raise_update({cudaErrorMemoryAllocation, "cuUpdate", Api::driver}, &argument.params, {"kernel k"});
        } catch (const UpdateError& error) {
            return error.what();
        }
    };
    const auto* const reason = "captured in a context that is not its device's own";
    CHECK_THAT(text(nullptr, fake<CUctx_st>(8)), ContainsSubstring(reason));
    CHECK_THAT(text(fake<CUkern_st>(8), fake<CUctx_st>(8)),
               ContainsSubstring("cuUpdate") && !ContainsSubstring(reason));
    CHECK_THAT(text(nullptr, nullptr), ContainsSubstring("cuUpdate") && !ContainsSubstring(reason));
}

TEST_CASE("what an exec would keep of a kernel is said with its own value first", "[core][params]") {
    OneArgument<int> current(ParameterType::signed_integer, 1), next(ParameterType::signed_integer, 1);
    const LaunchConfig cluster{.cluster = 2};
    current.params.function = function_of(sought);
    next.params.function = function_of(other);
    CHECK(problem_in_exec(&current.params, &next.params).empty());
    current.params.attributes = &cluster;
    CHECK_THAT(problem_in_exec(&current.params, &next.params),
               StartsWith("cluster is (2, 1, 1), the update's is (1, 1, 1); an Exec keeps its own"));
    CHECK_THAT(problem_in_exec(&next.params, &current.params),
               StartsWith("cluster is (1, 1, 1), the update's is (2, 1, 1)"));
}

TEST_CASE("a node is added without the shared memory that only its mode allows", "[core][params]") {
    CUDA_KERNEL_NODE_PARAMS launch{};
    launch.sharedMemBytes = 64;
    launch.gridDimX = 7;
    CHECK(without_attributes(launch, {.priority = 1}).sharedMemBytes == 64);
    const auto bare = without_attributes(launch, {.shared_memory_mode = cudag::SharedMemoryMode::allow_non_portable});
    CHECK(bare.sharedMemBytes == 0);
    CHECK(bare.gridDimX == 7);
}

TEST_CASE("there is a pointer for each argument, however many there are", "[core][params]") {
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{31}, std::size_t{32}, std::size_t{33}, std::size_t{100}}) {
        CAPTURE(count);
        ValuePointers values(count);
        void** const begin = values.get();
        const bool stands_inside = !std::less<>()(reinterpret_cast<void*>(begin), static_cast<void*>(&values)) &&
                                   std::less<>()(reinterpret_cast<void*>(begin), static_cast<void*>(&values + 1));
        CHECK((!stands_inside || count * sizeof(void*) <= sizeof values - sizeof(std::vector<void*>)));
        CHECK(std::all_of(begin, begin + count, [](const void* each) { return each == nullptr; }));
    }
}

TEST_CASE("an argument has its parameter's size, and a condition is taken for its handle", "[core][function]") {
    const int value = 0;
    const auto given = [&](std::size_t bytes, bool is_condition) {
        return std::vector{GivenArgument{0, bytes, &value, is_condition}};
    };
    const std::vector<Parameter> handle{{0, sizeof(cudaGraphConditionalHandle)}}, number{{0, 4}};
    CHECK(problem_of(given(8, false), handle).empty());
    CHECK(problem_of(given(16, true), handle).empty());
    CHECK_THAT(problem_of(given(4, false), handle),
               StartsWith("argument 0 has 4 bytes; the kernel has 1 parameter (8 "));
    CHECK_THAT(problem_of(given(16, false), handle), StartsWith("argument 0 has 16 bytes"));
    CHECK_THAT(problem_of(given(16, true), number), StartsWith("argument 0 has 16 bytes"));
}

TEST_CASE("the sizes of parameters are told in bytes, and one of 1 in the singular", "[core][function]") {
    const auto told = [](const std::vector<Parameter>& parameters) { return problem_of({}, parameters); };
    CHECK_THAT(told({{0, 1}}), EndsWith("1 parameter (1 byte)"));
    CHECK_THAT(told({{0, 4}}), EndsWith("1 parameter (4 bytes)"));
    CHECK_THAT(told({{0, 1}, {1, 1}}), EndsWith("2 parameters (1 and 1 bytes)"));
}
