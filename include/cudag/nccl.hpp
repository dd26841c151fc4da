// NCCL's collectives, sends and receives, as nodes of graphs and in streams.
#pragma once

#include <cudag/builder.hpp>
#include <cudag/config.hpp>
#include <cudag/detail/nccl_call.hpp>
#include <cudag/error.hpp>
#include <cudag/graph.hpp>
#include <cudag/nested_node.hpp>
#include <cudag/source_location.hpp>
#include <cudag/stream.hpp>
#include <cudag/stream_capture.hpp>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct ncclComm; // of nccl.h, which programs need for their own calls only

/// NCCL in graphs. cudag loads NCCL at run time, and does not link it: the copy that the program has linked or loaded,
/// or else `libnccl.so.2`. Every call throws Error if there is none.
namespace cudag::nccl {

/// Reports a failed call of NCCL. `what()` has NCCL's own text.
///
///     try {
///         const auto name = cudag::nccl::UniqueId::create();
///     } catch (const cudag::nccl::NcclError& error) {
///         std::puts(error.what());
///     }
class CUDAG_EXPORT NcclError : public Error {
  public:
    NcclError(int result, const std::string& text, ErrorDetails details)
        : Error(cudaErrorUnknown, text, std::move(details)), result_(result) {}
    /// Returns NCCL's `ncclResult_t`.
    [[nodiscard]] int result() const noexcept { return result_; }

  private:
    int result_;
};

/// Returns the version of NCCL, such as 22803 for 2.28.3.
[[nodiscard]] CUDAG_EXPORT int version();

/// The name of a communicator under construction: made on one rank, and given to all others, by MPI or other means.
///
///     cudag::nccl::UniqueId id; // MPI_Bcast(id.bytes.data(), id.bytes.size(), MPI_CHAR, 0, MPI_COMM_WORLD)
struct UniqueId {
    std::array<char, 128> bytes{};
    [[nodiscard]] CUDAG_EXPORT static UniqueId create();
};

/// One rank of a communicator: a cheap handle; copies are the same rank. Graphs with its operations keep it alive.
///
///     cudag::nccl::Communicator comm(id, ranks, rank); // on the current device; waits for all ranks
///     auto sum = add(b, all_reduce(comm, x, y));
///
/// NCCL's rules hold: all ranks have the same collectives of a communicator in the same order (`cudag::agree` compares
/// their graphs), and one thread at a time uses one. Its device is that of its creation.
/// The end of the last handle, graph or Exec destroys NCCL's communicator, and waits for the other ranks.
class CUDAG_EXPORT Communicator {
  public:
    /// Makes rank `rank` of `ranks`, on the current device. Waits until all ranks have called it.
    Communicator(const UniqueId& id, int ranks, int rank, SourceLocation location = SourceLocation::current());
    /// Makes one communicator over several devices of this process: rank i is on `devices[i]`.
    [[nodiscard]] static std::vector<Communicator> over(std::span<const int> devices,
                                                        SourceLocation location = SourceLocation::current());
    /// Refers to a communicator that the program itself destroys, after all graphs with its operations.
    [[nodiscard]] static Communicator borrow(ncclComm* comm, SourceLocation location = SourceLocation::current());

    [[nodiscard]] int rank() const noexcept;
    [[nodiscard]] int ranks() const noexcept;
    [[nodiscard]] int device() const noexcept;
    /// Returns NCCL's own handle, an `ncclComm_t`. Throws GraphError after `abort`.
    [[nodiscard]] ncclComm* get() const;

    /// Throws NcclError if NCCL has reported an asynchronous error, such as a lost rank. Does not wait for work.
    void check(SourceLocation location = SourceLocation::current()) const;
    /// Ends the communicator's work under way, such as a launch that waits for a lost rank. Its results are
    /// undefined, and later calls throw GraphError. Does not wait: synchronise the stream.
    ///
    ///     try {
    ///         stream.synchronize(std::chrono::seconds(10));
    ///     } catch (const cudag::DeadlineError&) {
    ///         comm.abort();
    ///         stream.synchronize();
    ///     }
    void abort() const;

    /// Returns the owner of NCCL's communicator.
    [[nodiscard]] std::shared_ptr<const void> owner() const noexcept { return state_; }

  private:
    friend struct detail::NcclAccess;
    explicit Communicator(std::shared_ptr<detail::NcclComm> state) noexcept : state_(std::move(state)) {}
    std::shared_ptr<detail::NcclComm> state_;
};

/// The order of an operation in a graph against the communicator's other work.
enum class Order : std::uint8_t {
    everywhere, ///< NCCL's own event nodes order it after all earlier work of the communicator, in any stream or graph
    /// No event nodes: for the bodies of conditionals, which allow none, and for cheaper launches. Other work of the
    /// communicator must not run at the same time: launch all graphs with it into one stream.
    within_graph,
};

/// A call of NCCL, or a group of calls, as a value: for graphs, updates and streams. Keeps buffers, and borrows spans.
///
///     cudag::nccl::Operation sum = all_reduce(comm, x, y);
///     sum.enqueue(stream);                // a call of NCCL in a stream, such as a warm-up
///     auto node = add(b, sum).after(fill_x); // a node of a graph
///     exec.update(node, all_reduce(comm, y, x).graph());
class CUDAG_EXPORT Operation {
  public:
    /// Returns a graph with this operation alone: captured, with declared accesses, owners and a label. It is for
    /// `add`, `b.child` and `exec.update(child, graph)`. If NCCL has yet to connect the ranks, all of them must call
    /// this at the same time; a warm-up by `enqueue` avoids that. Throws NcclError, GraphError and CaptureError.
    [[nodiscard]] Graph graph(Order order = Order::everywhere,
                              SourceLocation location = SourceLocation::current()) const;

    /// Enqueues the calls into `stream`, which may be captured. In a group, all operations must be of one communicator.
    void enqueue(StreamRef stream, SourceLocation location = SourceLocation::current()) const;

    /// Returns the label of its nodes, such as "all_reduce of 1024 float, sum": equal on all ranks.
    [[nodiscard]] const std::string& label() const noexcept { return label_; }

  private:
    friend CUDAG_EXPORT Operation group(std::span<const Operation> operations);
    friend struct detail::NcclAccess;
    Operation() = default;

    std::vector<detail::NcclCall> calls_;
    std::string label_;
};

/// Adds `operation` as one node, a child graph. Two operations of one communicator need an order, by `.after` or by
/// inferred edges: they count as writing a common byte, the communicator, and `build()` throws RaceError otherwise.
/// In the body of a conditional, `order` must be `Order::within_graph`.
CUDAG_EXPORT ChildNode add(GraphBuilder& builder, const Operation& operation, Order order = Order::everywhere,
                           SourceLocation location = SourceLocation::current());
/// Adds `operation` to a running capture, after all work recorded in its stream so far.
CUDAG_EXPORT ChildNode add(StreamCapture& capture, const Operation& operation, Order order = Order::everywhere,
                           SourceLocation location = SourceLocation::current());

/// Returns all `operations` as one that runs them at once: sends and receives that wait for each other, or the
/// operations of several devices. An empty group does nothing.
///
///     const auto exchange = cudag::nccl::group({send(comm, x, next), recv(comm, y, previous)});
[[nodiscard]] CUDAG_EXPORT Operation group(std::span<const Operation> operations);
[[nodiscard]] inline Operation group(std::initializer_list<Operation> operations) {
    return group(std::span(operations.begin(), operations.size()));
}

// The operations. Memory is a DeviceBuffer, a DeviceSpan or a shared_ptr to one of them. Each throws GraphError for
// ranges of wrong lengths, and for ranks that do not exist. `in` and `out` may be the same memory where NCCL allows it.

/// Combines `in` of all ranks into `out` on all ranks.
template <class In, class Out>
[[nodiscard]] Operation all_reduce( // cudag: all_reduce(comm, in, out, reduction)
    const Communicator& comm, In&& in, Out&& out, Reduction reduction = Reduction::sum) {
    return detail::checked_operation(comm, detail::nccl_call({detail::NcclKind::all_reduce, reduction}, in, out));
}
/// Combines `in` of all ranks into `out` on rank `root`; other ranks give memory of the same length.
template <class In, class Out>
[[nodiscard]] Operation reduce( // cudag: reduce(comm, in, out, root, reduction)
    const Communicator& comm, In&& in, Out&& out, int root, Reduction reduction = Reduction::sum) {
    return detail::checked_operation(comm, detail::nccl_call({detail::NcclKind::reduce, reduction, root}, in, out));
}
/// Copies `memory` of rank `root` to `memory` of all ranks.
template <class Memory>
[[nodiscard]] Operation broadcast( // cudag: broadcast(comm, memory, root)
    const Communicator& comm, Memory&& memory, int root) {
    return detail::checked_operation(
        comm, detail::nccl_call({detail::NcclKind::broadcast, Reduction::sum, root}, memory, memory));
}
/// Copies `in` of all ranks to `out`, which is as many times as long, in the order of the ranks.
template <class In, class Out>
[[nodiscard]] Operation all_gather( // cudag: all_gather(comm, in, out)
    const Communicator& comm, In&& in, Out&& out) {
    return detail::checked_operation(comm, detail::nccl_call({detail::NcclKind::all_gather}, in, out));
}
/// Combines `in` of all ranks, and gives each rank its part, `out`: `in` is as many times as long as there are ranks.
template <class In, class Out>
[[nodiscard]] Operation reduce_scatter( // cudag: reduce_scatter(comm, in, out, reduction)
    const Communicator& comm, In&& in, Out&& out, Reduction reduction = Reduction::sum) {
    return detail::checked_operation(comm, detail::nccl_call({detail::NcclKind::reduce_scatter, reduction}, in, out));
}
/// Sends `in` to rank `peer`, which receives as many elements.
template <class In>
[[nodiscard]] Operation send(const Communicator& comm, In&& in, int peer) { // cudag: send(comm, in, peer)
    return detail::checked_operation(comm, detail::nccl_send(in, peer));
}
/// Receives `out` from rank `peer`.
template <class Out>
[[nodiscard]] Operation recv(const Communicator& comm, Out&& out, int peer) { // cudag: recv(comm, out, peer)
    return detail::checked_operation(comm, detail::nccl_receive(out, peer));
}

/// Registers memory with a communicator, so that NCCL reads and writes it without copies (NCCL 2.19). Graphs captured
/// meanwhile keep using the registration: retain its owner with them.
///
///     const cudag::nccl::RegisteredMemory fast(comm, x);
///     b.retain(fast);
class CUDAG_EXPORT RegisteredMemory {
  public:
    template <class Memory>
    RegisteredMemory(const Communicator& comm, Memory&& memory) // cudag: RegisteredMemory(comm, memory)
        : state_(detail::nccl_register(comm, memory)) {}
    [[nodiscard]] std::shared_ptr<const void> owner() const noexcept { return state_; }

  private:
    std::shared_ptr<const void> state_;
};

} // namespace cudag::nccl
