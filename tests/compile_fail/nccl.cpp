// NCCL: memory and elements of operations.
#include <cudag/nccl.hpp>

#include <string>
#include <vector>

void operations(const cudag::nccl::Communicator& comm, cudag::DeviceBuffer<float>& x, cudag::DeviceBuffer<float>& y,
                [[maybe_unused]] std::vector<float>& host, [[maybe_unused]] cudag::DeviceBuffer<short>& shorts,
                [[maybe_unused]] cudag::DeviceBuffer<int>& numbers) {
    static_cast<void>(all_reduce(comm, x, y));
    static_cast<void>(send(comm, cudag::DeviceSpan<const float>(x.span()), 1));
#if CUDAG_MISTAKE == 1 // expect-error: cudag: NCCL takes a DeviceBuffer, a DeviceSpan or a shared_ptr to one of them
    static_cast<void>(all_reduce(comm, x.data(), y));
#elif CUDAG_MISTAKE == 2 // expect-error: cudag: NCCL takes device memory
    static_cast<void>(all_gather(comm, x, host));
#elif CUDAG_MISTAKE == 3 // expect-error: cudag: NCCL has no such elements
    static_cast<void>(recv(comm, shorts, 1));
#elif CUDAG_MISTAKE == 4 // expect-error: cudag: the memory that NCCL writes is const here
    static_cast<void>(recv(comm, cudag::DeviceSpan<const float>(x.span()), 1));
#elif CUDAG_MISTAKE == 5 // expect-error: cudag: both ranges of a collective have the same elements
    static_cast<void>(all_reduce(comm, x, numbers));
#elif CUDAG_MISTAKE == 6 // expect-error: cudag: all_reduce(comm, in, out, reduction)
    static_cast<void>(all_reduce(comm, x));
#endif
}
