// Stacks that threads of kernels run on, and switching between them.
#pragma once

#include <cstddef>
#include <vector>

namespace cudart_cpu::detail {

/// Where an execution stands that is not running now.
struct Context {
    void* stack_pointer = nullptr;
    const void* stack_low = nullptr;
    std::size_t stack_bytes = 0;
    void* fake_stack = nullptr; ///< AddressSanitizer's
    void* tsan_fiber = nullptr; ///< ThreadSanitizer's
};

/// A stack with the context that runs on it. Its addresses are spread over the cache.
struct Fiber {
    Context context;
    std::byte* low = nullptr;
    std::byte* top = nullptr;
    std::size_t stack_class = 0;
    void* argument = nullptr;
};

/// Whether `address` is where accesses fault that overflow the stack.
bool is_below(const Fiber& fiber, const void* address) noexcept;

/// Goes on at `to`, and returns when somebody switches to `from`.
void switch_context(Context& from, Context& to);

/// Makes the fiber begin with `run(fiber)` when it is switched to; that must never return.
void begin_fiber(Fiber& fiber, void (*run)(Fiber&));

/// To be called first on a fiber.
void enter_fiber();

/// Before the calling thread's own stack is switched from.
void adopt_thread(Context& context);

/// Fibers for one worker, from those of the process. Not thread-safe.
class FiberCache {
  public:
    /// For stacks of at least `stack_bytes`.
    explicit FiberCache(std::size_t stack_bytes);
    FiberCache(const FiberCache&) = delete;
    FiberCache& operator=(const FiberCache&) = delete;
    ~FiberCache();

    /// Null if there is no memory for another stack.
    Fiber* take();
    void give_back(Fiber& fiber) { free_.push_back(&fiber); }

  private:
    std::size_t stack_class_;
    std::vector<Fiber*> free_;
};

} // namespace cudart_cpu::detail
