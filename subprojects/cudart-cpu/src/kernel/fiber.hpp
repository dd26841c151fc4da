// Stacks for threads of kernels, and switches between these stacks.
#pragma once

#include <cstddef>
#include <vector>

namespace cudart_cpu::detail {

/// The state of a suspended execution.
struct Context {
    void* stack_pointer = nullptr;
    const void* stack_low = nullptr;
    std::size_t stack_bytes = 0;
    void* fake_stack = nullptr; ///< AddressSanitizer's
    void* tsan_fiber = nullptr; ///< ThreadSanitizer's
};

/// A stack and the context on it. The addresses of stacks are spread over the cache.
struct Fiber {
    Context context;
    std::byte* low = nullptr;
    std::byte* top = nullptr;
    std::size_t stack_class = 0;
    void* argument = nullptr;
};

/// Whether `address` is directly below the stack, where an overflow faults.
bool is_below(const Fiber& fiber, const void* address) noexcept;

/// Continues at `to`, and returns at a switch to `from`.
void switch_context(Context& from, Context& to);

/// Makes the next switch to the fiber call `run(fiber)`, which must never return.
void begin_fiber(Fiber& fiber, void (*run)(Fiber&));

/// Must be called first on a fiber.
void enter_fiber();

/// Must be called before a switch away from the calling thread's own stack.
void adopt_thread(Context& context);

/// The fibers of one worker, taken from the pool of the process. Not thread-safe.
class FiberCache {
  public:
    /// Gives stacks of at least `stack_bytes`.
    explicit FiberCache(std::size_t stack_bytes);
    FiberCache(const FiberCache&) = delete;
    FiberCache& operator=(const FiberCache&) = delete;
    ~FiberCache();

    /// Returns null if there is no memory for another stack.
    Fiber* take();
    void give_back(Fiber& fiber) { free_.push_back(&fiber); }

  private:
    std::size_t stack_class_;
    std::vector<Fiber*> free_;
};

} // namespace cudart_cpu::detail
