// Which argument fits which kernel parameter.
#include <cudag/detail/kernel_arguments.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace {

template <class A, class P>
constexpr bool fits = cudag::detail::KernelArgument<A, P>;

using cudag::DeviceBuffer;
using cudag::DeviceSpan;
using cudag::PinnedBuffer;

enum class Mode { fast, exact };
enum Plain { zero, one };
struct Point {
    float x, y;
};
struct Pixel {
    int x, y;
    operator Point() const { return {static_cast<float>(x), static_cast<float>(y)}; }
};
struct Base {};
struct Derived : Base {};
union Bits {
    int i;
    float f;
};

// Integers go into any number; the value is looked at when the program runs.
static_assert(fits<int, int> && fits<int, long> && fits<long, int> && fits<int, unsigned> && fits<unsigned, int>);
static_assert(fits<std::size_t, int> && fits<std::int64_t, std::int8_t> && fits<char, int> && fits<int, char>);
static_assert(fits<int, float> && fits<int, double> && fits<std::uint64_t, float> && fits<short, long double>);

// Floating-point values widen, and never narrow or become integers.
static_assert(fits<float, float> && fits<float, double> && fits<double, double> && fits<double, long double>);
static_assert(!fits<double, float> && !fits<long double, double>);
static_assert(!fits<float, int> && !fits<double, int> && !fits<float, char> && !fits<double, std::int64_t>);

// bool is no number.
static_assert(fits<bool, bool>);
static_assert(!fits<bool, int> && !fits<bool, float> && !fits<int, bool> && !fits<float, bool>);
static_assert(!fits<int*, bool> && !fits<std::nullptr_t, bool> && !fits<DeviceBuffer<int>, bool>);
static_assert(!fits<std::shared_ptr<int>, bool>);

// Enumerations are themselves only.
static_assert(fits<Mode, Mode> && fits<Plain, Plain>);
static_assert(!fits<int, Mode> && !fits<int, Plain> && !fits<Mode, int> && !fits<Plain, int> && !fits<Plain, float>);
static_assert(!fits<Mode, Plain>);

// Pointers convert as in C++: to const, to void, to a base.
static_assert(fits<float*, float*> && fits<float*, const float*> && fits<float*, void*> && fits<float*, const void*>);
static_assert(fits<const float*, const float*> && fits<const float*, const void*> && fits<Derived*, Base*>);
static_assert(fits<std::nullptr_t, float*> && fits<std::nullptr_t, const void*>);
static_assert(!fits<const float*, float*> && !fits<const float*, void*> && !fits<volatile float*, float*>);
static_assert(!fits<int*, float*> && !fits<void*, float*> && !fits<Base*, Derived*> && !fits<float*, float**>);
static_assert(!fits<int, float*> && !fits<std::uintptr_t, float*> && !fits<float*, std::uintptr_t>);
static_assert(!fits<const char*, std::string>);
static_assert(!fits<std::string, const char*> && !fits<std::string, float*>);

// Owners and views of device memory become pointers.
static_assert(fits<DeviceBuffer<float>, float*> && fits<DeviceBuffer<float>, const float*>);
static_assert(fits<DeviceBuffer<float>, void*> && fits<DeviceBuffer<float>, DeviceSpan<float>>);
static_assert(fits<DeviceBuffer<float>, DeviceSpan<const float>>);
static_assert(fits<PinnedBuffer<float>, float*> && fits<PinnedBuffer<float>, const float*>);
static_assert(fits<DeviceSpan<float>, float*> && fits<DeviceSpan<float>, const float*>);
static_assert(fits<DeviceSpan<const float>, const float*> && fits<DeviceSpan<float>, DeviceSpan<float>>);
static_assert(fits<DeviceSpan<float>, DeviceSpan<const float>>);
static_assert(!fits<DeviceBuffer<int>, float*> && !fits<DeviceBuffer<int>, DeviceSpan<float>>);
static_assert(!fits<DeviceSpan<const float>, float*> && !fits<DeviceSpan<const float>, void*>);
static_assert(!fits<DeviceSpan<const float>, DeviceSpan<float>> && !fits<DeviceSpan<int>, const float*>);
static_assert(!fits<PinnedBuffer<int>, float*>);

// shared_ptr becomes the pointer to what it owns, or to the buffer's memory.
static_assert(fits<std::shared_ptr<float>, float*> && fits<std::shared_ptr<float>, const float*>);
static_assert(fits<std::shared_ptr<const float>, const float*> && fits<std::shared_ptr<float[]>, float*>);
static_assert(fits<std::shared_ptr<DeviceBuffer<float>>, float*>);
static_assert(fits<std::shared_ptr<const DeviceBuffer<float>>, const float*>);
static_assert(fits<std::shared_ptr<DeviceBuffer<float>>, DeviceSpan<const float>>);
static_assert(!fits<std::shared_ptr<const float>, float*> && !fits<std::shared_ptr<int>, float*>);
static_assert(!fits<std::shared_ptr<DeviceBuffer<int>>, float*>);
static_assert(!fits<std::unique_ptr<float>, float*> && !fits<std::weak_ptr<float>, float*>);

// Host containers are not readable on the device.
static_assert(!fits<std::vector<float>, float*> && !fits<std::vector<float>, const float*>);
static_assert(!fits<std::array<float, 4>, float*> && !fits<std::span<float>, float*> && !fits<float[4], float*>);
static_assert(!fits<std::vector<float>, DeviceSpan<float>> && !fits<std::span<float>, DeviceSpan<float>>);

// Objects are themselves, or come from a class that converts to them.
static_assert(fits<Point, Point> && fits<Pixel, Point> && fits<Bits, Bits> && fits<Derived, Base>);
static_assert(!fits<Point, Pixel> && !fits<float, Point> && !fits<int, Bits> && !fits<Point, float> &&
              !fits<Point, int>);
static_assert(fits<std::true_type, bool>);

// A parameter that is a reference takes nothing.
static_assert(!fits<int, int&> && !fits<int, const int&> && !fits<Point, Point&>);

} // namespace
