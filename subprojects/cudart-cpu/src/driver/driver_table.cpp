// The driver's functions by name, version and kind of default stream.
#include "driver_table.hpp"

#include "driver_frame.hpp"
#include "driver_functions.hpp"
#include "graph/graph_cuda12.hpp"
#include "runtime/driver_version.hpp"
#include "runtime/node_functions.hpp"
#include "runtime/text.hpp"

#include <cudaTypedefs.h>

// CUDA deprecates some of them, but programs call them.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace cudart_cpu::detail::driver {

namespace {

/// A function that is not in cudart-cpu, whatever its parameters.
template <Name name>
CUresult CUDAAPI refuse_call() {
    return answer(name.text, [] { fail(cudaErrorNotSupported, text("cudart-cpu has no ", name.text)); });
}

/// Requires at compile time that `function` has exactly the driver's signature.
template <class Signature>
void* function_address(Signature function) {
    return reinterpret_cast<void*>(function);
}

/// The name for cuGetProcAddress: the symbol's without its version.
constexpr std::string_view base_name(std::string_view symbol) noexcept {
    const std::size_t at = symbol.rfind("_v");
    return at == symbol.npos ? symbol : symbol.substr(0, at);
}

constexpr unsigned always = 2000;

// The rows of driver_table.inc as addresses. Names are pasted at once: cuda.h has macros of the same names.
#define FORWARDED(text, signature, needs, function) Forward<Name(text), signature, function, Needs::needs>::call

#define OWN(name, since, symbol, function)                                                                             \
    {#name, #symbol, since, function_address<PFN_##name##_v##since>(driver::function), nullptr},
#define OWN_STREAM(name, since, symbol, function)                                                                      \
    {#name, #symbol, since, function_address<PFN_##name##_v##since>(driver::function),                                 \
     function_address(PerThread<driver::function>::call)},
#define OWN_SYNC OWN_STREAM
#define TYPED(name, since, symbol, function) {#name, #symbol, since, function_address(driver::function), nullptr},
#define FORWARD(name, since, symbol, needs, function)                                                                  \
    {#name, #symbol, since, function_address(FORWARDED(#symbol, PFN_##name##_v##since, needs, function)), nullptr},
#define FORWARD_STREAM(name, since, symbol, needs, function)                                                           \
    {#name, #symbol, since, function_address(FORWARDED(#symbol, PFN_##name##_v##since, needs, function)),              \
     function_address(PerThread<FORWARDED(#symbol, PFN_##name##_v##since, needs, function)>::call)},
#define ALIAS(name, since, symbol, of, of_since, needs, function)                                                      \
    {#name, #symbol, since, function_address(FORWARDED(#symbol, PFN_##of##_v##of_since, needs, function)), nullptr},
#define REFUSED(symbol) {base_name(#symbol), #symbol, always, function_address(refuse_call<Name(#symbol)>), nullptr},
#define REFUSED_STREAM REFUSED
#define REFUSED_SYNC REFUSED

const EntryPoint entry_points[] = {
#include "driver_table.inc"
};

#undef OWN
#undef OWN_STREAM
#undef OWN_SYNC
#undef TYPED
#undef FORWARD
#undef FORWARD_STREAM
#undef ALIAS
#undef REFUSED
#undef REFUSED_STREAM
#undef REFUSED_SYNC

} // namespace

} // namespace cudart_cpu::detail::driver

// The same rows in the same order.
#define OWN(name, since, symbol, function) function_address<PFN_##name##_v##since>(driver::function),
#define OWN_STREAM(name, since, symbol, function)                                                                      \
    function_address<PFN_##name##_v##since>(driver::function), function_address(PerThread<driver::function>::call),
#define OWN_SYNC OWN_STREAM
#define TYPED(name, since, symbol, function) function_address(driver::function),
#define FORWARD(name, since, symbol, needs, function)                                                                  \
    function_address(FORWARDED(#symbol, PFN_##name##_v##since, needs, function)),
#define FORWARD_STREAM(name, since, symbol, needs, function)                                                           \
    function_address(FORWARDED(#symbol, PFN_##name##_v##since, needs, function)),                                      \
        function_address(PerThread<FORWARDED(#symbol, PFN_##name##_v##since, needs, function)>::call),
#define ALIAS(name, since, symbol, of, of_since, needs, function)
#define REFUSED(symbol) function_address(refuse_call<Name(#symbol)>),
#define REFUSED_STREAM(symbol)                                                                                         \
    function_address(refuse_call<Name(#symbol)>), function_address(refuse_call<Name(#symbol)>),
#define REFUSED_SYNC REFUSED_STREAM

using namespace cudart_cpu::detail;
using namespace cudart_cpu::detail::driver;

void* const cudart_cpu_driver_functions[] = {
#include "driver_table.inc"
};

#undef OWN
#undef OWN_STREAM
#undef OWN_SYNC
#undef TYPED
#undef FORWARD
#undef FORWARD_STREAM
#undef ALIAS
#undef REFUSED
#undef REFUSED_STREAM
#undef REFUSED_SYNC
#undef FORWARDED

namespace cudart_cpu::detail::driver {

FoundEntry find_entry(std::string_view name, unsigned version, DefaultStream stream) {
    const auto here = static_cast<unsigned>(driver_version());
    const EntryPoint* newest = nullptr;
    bool is_known = false;
    for (const EntryPoint& one : entry_points) {
        if (one.name != name || one.since > here) continue;
        is_known = true;
        if (one.since <= version && (newest == nullptr || newest->since < one.since)) newest = &one;
    }
    if (!is_known || is_missing(std::string(name))) return {Lookup::missing, nullptr};
    if (newest == nullptr) return {Lookup::version_too_old, nullptr};
    return {Lookup::found, newest->address_for(stream)};
}

} // namespace cudart_cpu::detail::driver
