// Functions for kernels only, called on the host.
#include <cudag/cudag.hpp>

void device(const cudag::KernelNode<float*, int>& node, const cudag::Exec& exec) {
    const auto updatable = node.on_device();
    const cudag::DeviceExec launchable = exec.on_device();
#if CUDAG_MISTAKE == 1 // expect-error: cudag: for kernels; on the host exec.update(node, config)
    updatable.set_grid(4);
#elif CUDAG_MISTAKE == 2 // expect-error: cudag: for kernels; on the host exec.update(node, arg<I>(value))
    updatable.set_argument<1>(4);
#elif CUDAG_MISTAKE == 3 // expect-error: cudag: for kernels; on the host exec.enable(node)
    updatable.set_enabled(false);
#elif CUDAG_MISTAKE == 4 // expect-error: cudag: for kernels; on the host exec.launch(stream)
    launchable.launch_tail();
#elif CUDAG_MISTAKE == 5 // expect-error: cudag: for kernels only
    launchable.launch_fire_and_forget();
#elif CUDAG_MISTAKE == 6 // expect-error: cudag: for kernels only
    static_cast<void>(cudag::DeviceExec::current());
#elif CUDAG_MISTAKE == 7 // expect-error: cudag: for kernels; nodes wait by .after(nodes...)
    cudag::wait_for_previous();
#elif CUDAG_MISTAKE == 8 // expect-error: cudag: for kernels
    cudag::let_next_start();
#endif
    static_cast<void>(updatable), static_cast<void>(launchable);
}
