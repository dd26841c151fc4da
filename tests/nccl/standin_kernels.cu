// The kernels of the stand-in for NCCL: one thread for each rank, which waits for the others.
#include "standin_kernels.hpp"

namespace {

__device__ unsigned look(unsigned* count) {
    return atomicAdd(count, 0U);
}

/// Waits until `*count` is `least` or later; ends early when the meeting is aborted.
__device__ bool wait_for(standin::Meeting* meeting, unsigned* count, unsigned least) {
    while (static_cast<int>(look(count) - least) < 0) {
        if (look(&meeting->aborted) != 0) return false;
        __nanosleep(1000); // the other rank may need this core
    }
    __threadfence_system();
    return true;
}

/// Counts this rank's phase up, and waits for that of all others.
__device__ bool meet(standin::Work* work) {
    __threadfence_system();
    const unsigned phase = atomicAdd(&work->meeting->slots[work->rank].phase, 1U) + 1;
    for (int rank = 0; rank < work->meeting->ranks; ++rank)
        if (!wait_for(work->meeting, &work->meeting->slots[rank].phase, phase)) return false;
    return true;
}

template <class T>
__device__ T combine(int reduction, T a, T b) {
    if (reduction == 1) return a * b;
    if (reduction == 2) return a > b ? a : b;
    if (reduction == 3) return a < b ? a : b;
    return a + b;
}

template <class T>
__device__ const T* operand(const standin::Meeting* meeting, int rank) {
    return reinterpret_cast<const T*>(meeting->slots[rank].in);
}

template <class T>
__device__ T reduced(const standin::Work* work, std::size_t i) {
    const standin::Meeting* meeting = work->meeting;
    T value = operand<T>(meeting, 0)[i];
    for (int rank = 1; rank < meeting->ranks; ++rank)
        value = combine(work->reduction, value, operand<T>(meeting, rank)[i]);
    return work->reduction == 4 ? value / static_cast<T>(meeting->ranks) : value;
}

template <class T>
__device__ void run(standin::Work* work) {
    standin::Meeting* meeting = work->meeting;
    T* result = reinterpret_cast<T*>(work->scratch);
    const std::size_t count = work->count;
    const std::size_t shown =
        count * static_cast<std::size_t>(work->kind == standin::reduce_scatter ? meeting->ranks : 1);
    for (std::size_t i = 0; i < shown; ++i)
        reinterpret_cast<T*>(meeting->slots[work->rank].in)[i] = static_cast<const T*>(work->in)[i];
    if (!meet(work)) return;
    std::size_t results = count;
    if (work->kind == standin::reduce && work->rank != work->root) results = 0;
    if (work->kind == standin::all_gather) results = count * static_cast<std::size_t>(meeting->ranks);
    for (std::size_t i = 0; i < results; ++i)
        if (work->kind == standin::all_gather)
            result[i] = operand<T>(meeting, static_cast<int>(i / count))[i % count];
        else if (work->kind == standin::broadcast)
            result[i] = operand<T>(meeting, work->root)[i];
        else if (work->kind == standin::reduce_scatter)
            result[i] = reduced<T>(work, static_cast<std::size_t>(work->rank) * count + i);
        else
            result[i] = reduced<T>(work, i);
    if (!meet(work)) return;
    for (std::size_t i = 0; i < results; ++i)
        static_cast<T*>(work->out)[i] = result[i];
}

} // namespace

__global__ void standin_collective(standin::Work* work) {
    if (work->type == 2) run<int>(work);
    if (work->type == 7) run<float>(work);
    if (work->type == 8) run<double>(work);
}

__global__ void standin_messages(standin::Work* work) {
    standin::Meeting* meeting = work->meeting;
    for (int i = 0; i < work->listed; ++i) {
        const standin::Message& message = work->list[i];
        if (!message.is_send) continue;
        standin::Box& box = meeting->boxes[work->rank][message.peer];
        for (std::size_t byte = 0; byte < message.bytes; ++byte)
            box.data[byte] = static_cast<const unsigned char*>(message.data)[byte];
        __threadfence_system();
        atomicAdd(&box.shown, 1U);
    }
    for (int i = 0; i < work->listed; ++i) {
        const standin::Message& message = work->list[i];
        if (message.is_send) continue;
        standin::Box& box = meeting->boxes[message.peer][work->rank];
        if (!wait_for(meeting, &box.shown, look(&box.taken) + 1)) return;
        for (std::size_t byte = 0; byte < message.bytes; ++byte)
            static_cast<unsigned char*>(message.data)[byte] = box.data[byte];
        __threadfence_system();
        atomicAdd(&box.taken, 1U);
    }
    for (int i = 0; i < work->listed; ++i) {
        const standin::Message& message = work->list[i];
        if (!message.is_send) continue;
        standin::Box& box = meeting->boxes[work->rank][message.peer];
        if (!wait_for(meeting, &box.taken, look(&box.shown))) return;
    }
}
