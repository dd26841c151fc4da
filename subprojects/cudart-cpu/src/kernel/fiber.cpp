// Stacks for threads of kernels, and switches between these stacks.
#include "fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#define CUDART_CPU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CUDART_CPU_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define CUDART_CPU_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CUDART_CPU_TSAN 1
#endif
#endif

#ifdef CUDART_CPU_ASAN
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef CUDART_CPU_TSAN
#include <sanitizer/tsan_interface.h>
#endif

#if defined(__x86_64__)
// Pushes the registers that a call must keep, and pops those of the other stack.
asm(R"(
.text
.type cudart_cpu_switch_stack,@function
cudart_cpu_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    retq
.size cudart_cpu_switch_stack,.-cudart_cpu_switch_stack
)");
#define CUDART_CPU_OWN_SWITCH 1
#elif defined(__aarch64__)
asm(R"(
.text
.type cudart_cpu_switch_stack,%function
cudart_cpu_switch_stack:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size cudart_cpu_switch_stack,.-cudart_cpu_switch_stack
)");
#define CUDART_CPU_OWN_SWITCH 1
#else
#include <ucontext.h>
#endif

#ifdef CUDART_CPU_OWN_SWITCH
extern "C" void cudart_cpu_switch_stack(void** save, void* next);
#endif

namespace cudart_cpu::detail {

namespace {

thread_local Fiber* beginning = nullptr;
thread_local void (*begin_with)(Fiber&) = nullptr;

[[maybe_unused]] void first_frame() {
    begin_with(*beginning);
}

#ifdef CUDART_CPU_OWN_SWITCH
void switch_stack(Context& from, Context& to) {
    cudart_cpu_switch_stack(&from.stack_pointer, to.stack_pointer);
}

void prepare(Fiber& fiber) {
    // The stack looks as if a call of the switch were about to return to the beginning of first_frame.
#if defined(__x86_64__)
    auto** at = reinterpret_cast<void**>(fiber.top);
    *--at = nullptr; // the return address of first_frame
    *--at = reinterpret_cast<void*>(&first_frame);
    for (int i = 0; i < 6; ++i)
        *--at = nullptr;
#else
    auto** at = reinterpret_cast<void**>(fiber.top) - 20;
    for (int i = 0; i < 20; ++i)
        at[i] = nullptr;
    at[11] = reinterpret_cast<void*>(&first_frame);
#endif
    fiber.context.stack_pointer = at;
}
#else
void switch_stack(Context& from, Context& to) {
    ucontext_t here;
    from.stack_pointer = &here;
    swapcontext(&here, static_cast<ucontext_t*>(to.stack_pointer));
}

void prepare(Fiber& fiber) {
    auto* const context = reinterpret_cast<ucontext_t*>(fiber.low);
    getcontext(context);
    context->uc_stack.ss_sp = fiber.low + sizeof(ucontext_t);
    context->uc_stack.ss_size = static_cast<std::size_t>(fiber.top - fiber.low) - sizeof(ucontext_t);
    context->uc_link = nullptr;
    makecontext(context, &first_frame, 0);
    fiber.context.stack_pointer = context;
}
#endif

/// The fibers of the process without a worker.
struct StackPool {
    std::mutex mutex;
    std::map<std::size_t, std::vector<Fiber*>> free;
    std::size_t made = 0;
};

StackPool& stack_pool() {
    static auto* all = new StackPool; // never destroyed: kernels may run after main()
    return *all;
}

constexpr std::size_t page = 4096;
constexpr std::size_t slab = 64;
/// The number of stacks with a faulting page below them: each costs the process two of its mappings.
constexpr std::size_t guarded = 8192;

/// Returns false if there is no memory.
bool make_slab(StackPool& all, std::size_t stack_bytes) {
    // One page more than a power of two, and the colour: stacks must not share their cache lines' sets.
    const std::size_t stride = stack_bytes + 2 * page;
    void* const memory =
        mmap(nullptr, stride * slab, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    for (std::size_t i = 0; i < slab; ++i) {
        auto* const fiber = new Fiber;
        std::byte* const low = static_cast<std::byte*>(memory) + i * stride;
        if (all.made < guarded) mprotect(low, page, PROT_NONE);
        fiber->low = low + page;
        fiber->top = low + stride - 64 - i * 1088 % page / 64 * 64;
        fiber->stack_class = stack_bytes;
        fiber->context.stack_low = fiber->low;
        fiber->context.stack_bytes = static_cast<std::size_t>(fiber->top - fiber->low);
        all.free[stack_bytes].push_back(fiber);
        ++all.made;
    }
    return true;
}

std::size_t class_of(std::size_t bytes) {
    std::size_t size = 64 * 1024;
    while (size < bytes)
        size *= 2;
    return size;
}

} // namespace

void adopt_thread([[maybe_unused]] Context& context) {
#ifdef CUDART_CPU_TSAN
    context.tsan_fiber = __tsan_get_current_fiber();
#endif
#ifdef CUDART_CPU_ASAN
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void* low = nullptr;
    pthread_attr_getstack(&attributes, &low, &context.stack_bytes);
    context.stack_low = low;
    pthread_attr_destroy(&attributes);
#endif
}

void switch_context(Context& from, Context& to) {
#ifdef CUDART_CPU_TSAN
    __tsan_switch_to_fiber(to.tsan_fiber, 0);
#endif
#ifdef CUDART_CPU_ASAN
    __sanitizer_start_switch_fiber(&from.fake_stack, to.stack_low, to.stack_bytes);
#endif
    switch_stack(from, to);
#ifdef CUDART_CPU_ASAN
    __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#endif
}

void begin_fiber(Fiber& fiber, void (*run)(Fiber&)) {
    beginning = &fiber;
    begin_with = run;
#ifdef CUDART_CPU_ASAN
    __asan_unpoison_memory_region(fiber.low, fiber.context.stack_bytes); // poisoned by frames without a return
#endif
    prepare(fiber);
#ifdef CUDART_CPU_TSAN
    if (fiber.context.tsan_fiber == nullptr) fiber.context.tsan_fiber = __tsan_create_fiber(0);
#endif
}

void enter_fiber() {
#ifdef CUDART_CPU_ASAN
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

bool is_below(const Fiber& fiber, const void* address) noexcept {
    const auto* const at = static_cast<const std::byte*>(address);
    return at < fiber.low && fiber.low - at <= static_cast<std::ptrdiff_t>(page);
}

FiberCache::FiberCache(std::size_t stack_bytes) : stack_class_(class_of(stack_bytes)) {}

FiberCache::~FiberCache() {
    StackPool& all = stack_pool();
    const std::lock_guard lock(all.mutex);
    std::vector<Fiber*>& free = all.free[stack_class_];
    free.insert(free.end(), free_.begin(), free_.end());
}

Fiber* FiberCache::take() {
    if (free_.empty()) {
        StackPool& all = stack_pool();
        const std::lock_guard lock(all.mutex);
        std::vector<Fiber*>& free = all.free[stack_class_];
        if (free.empty() && !make_slab(all, stack_class_)) return nullptr;
        const std::size_t count = free.size() < slab ? free.size() : slab;
        free_.assign(free.end() - static_cast<std::ptrdiff_t>(count), free.end());
        free.resize(free.size() - count);
    }
    Fiber* const fiber = free_.back();
    free_.pop_back();
    return fiber;
}

} // namespace cudart_cpu::detail
