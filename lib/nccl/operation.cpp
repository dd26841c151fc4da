// Operations of NCCL: checks of their memory, calls in streams, and graphs captured from them.
#include "communicator.hpp"

#include "cuda/device_guard.hpp"
#include "cuda/failure.hpp"

#include <cudag/detail/recapture.hpp>
#include <cudag/detail/record.hpp>
#include <cudag/format.hpp>
#include <cudag/inlined_graph.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <system_error>
#include <utility>

namespace cudag::nccl {

namespace detail {

namespace {

const char* name_of(NcclKind kind) {
    static constexpr std::array names{"all_reduce",     "reduce", "broadcast", "all_gather",
                                      "reduce_scatter", "send",   "recv"};
    return names[static_cast<std::size_t>(kind)];
}
const char* name_of(NcclType type) {
    static constexpr std::array names{"int8",   "uint8",  "int32", "uint32", "int64",
                                      "uint64", "__half", "float", "double", "__nv_bfloat16"};
    return names[static_cast<std::size_t>(type)];
}
const char* name_of(Reduction reduction) {
    static constexpr std::array names{"sum", "product", "max", "min", "average"};
    return names[static_cast<std::size_t>(reduction)];
}

[[nodiscard]] bool is_point_to_point(NcclKind kind) {
    return kind == NcclKind::send || kind == NcclKind::recv;
}
[[nodiscard]] bool has_root(NcclKind kind) {
    return kind == NcclKind::reduce || kind == NcclKind::broadcast;
}
[[nodiscard]] bool reduces(NcclKind kind) {
    return kind == NcclKind::all_reduce || kind == NcclKind::reduce || kind == NcclKind::reduce_scatter;
}

/// The label of the nodes: equal on all ranks, whose peers and lengths of messages may differ.
std::string label_of(const NcclCall& call) {
    const NcclKind kind = call.shape.kind;
    if (is_point_to_point(kind)) return fmt::format("{} of {}", name_of(kind), name_of(call.type));
    const std::size_t count = kind == NcclKind::reduce_scatter ? call.out.count : call.in.count;
    std::string text = fmt::format("{} of {} {}", name_of(kind), count, name_of(call.type));
    if (reduces(kind)) text += fmt::format(", {}", name_of(call.shape.reduction));
    if (has_root(kind)) text += fmt::format(", root {}", call.shape.peer);
    return text;
}

void require_lengths(const NcclCall& call) {
    const NcclKind kind = call.shape.kind;
    if (is_point_to_point(kind)) return;
    const auto ranks = static_cast<std::size_t>(call.comm->ranks());
    const std::size_t in = call.in.count, out = call.out.count;
    const std::size_t in_parts = kind == NcclKind::reduce_scatter ? ranks : 1;
    const std::size_t out_parts = kind == NcclKind::all_gather ? ranks : 1;
    if (in * out_parts == out * in_parts && in % in_parts == 0) return;
    const char* const rule = kind == NcclKind::all_gather       ? "out needs the length of in for each rank"
                             : kind == NcclKind::reduce_scatter ? "in needs the length of out for each rank"
                                                                : "both need the same length";
    cudag::detail::refuse(
        fmt::format("{} over {} ranks: in has {} elements and out has {}; {}", name_of(kind), ranks, in, out, rule));
}

/// The streams of a group, one for each communicator.
class GroupStreams {
  public:
    void add(NcclComm* comm, cudaStream_t stream) { all_.emplace_back(comm, stream); }
    [[nodiscard]] cudaStream_t of(const NcclComm* comm) const {
        return std::ranges::find(all_, comm, [](const auto& each) { return each.first; })->second;
    }

  private:
    std::vector<std::pair<const NcclComm*, cudaStream_t>> all_;
};

int issue(const NcclCall& call, cudaStream_t stream) {
    const NcclLibrary& nccl = nccl_library();
    ncclComm* const comm = call.comm->get();
    const int type = static_cast<int>(call.type), reduction = static_cast<int>(call.shape.reduction);
    const int peer = call.shape.peer;
    const NcclRange &in = call.in, &out = call.out;
    switch (call.shape.kind) {
    case NcclKind::all_reduce:
        return nccl.all_reduce(in.data, out.data, in.count, type, reduction, comm, stream);
    case NcclKind::reduce:
        return nccl.reduce(in.data, out.data, in.count, type, reduction, peer, comm, stream);
    case NcclKind::broadcast:
        return nccl.broadcast(in.data, out.data, in.count, type, peer, comm, stream);
    case NcclKind::all_gather:
        return nccl.all_gather(in.data, out.data, in.count, type, comm, stream);
    case NcclKind::reduce_scatter:
        return nccl.reduce_scatter(in.data, out.data, out.count, type, reduction, comm, stream);
    case NcclKind::send:
        return nccl.send(in.data, in.count, type, peer, comm, stream);
    case NcclKind::recv:
        return nccl.recv(out.data, out.count, type, peer, comm, stream);
    }
    return success;
}

/// The communicators of some calls, each once, in an order in which all threads may lock them.
std::vector<NcclComm*> comms_of(const std::vector<NcclCall>& calls) {
    std::vector<NcclComm*> comms;
    for (const NcclCall& call : calls)
        comms.push_back(call.comm.get());
    std::ranges::sort(comms);
    comms.erase(std::unique(comms.begin(), comms.end()), comms.end());
    return comms;
}

class LockedComms {
  public:
    explicit LockedComms(const std::vector<NcclComm*>& comms) {
        for (NcclComm* const comm : comms)
            locks_.emplace_back(comm->mutex());
    }

  private:
    std::vector<std::unique_lock<std::mutex>> locks_;
};

void issue_all(const std::vector<NcclCall>& calls, const GroupStreams& streams, const std::string& subject,
               const SourceLocation& where) {
    const NcclLibrary& nccl = nccl_library();
    check_nccl(nccl.group_start(), "ncclGroupStart", nullptr, subject, where);
    for (const NcclCall& call : calls) {
        const int result = issue(call, streams.of(call.comm.get()));
        if (result == success || result == in_progress) continue;
        static_cast<void>(nccl.group_end());
        check_nccl(result, name_of(call.shape.kind), call.comm->get(), subject, where);
    }
    const int result = nccl.group_end();
    check_nccl(result, "ncclGroupEnd", calls.front().comm->get(), subject, where);
    if (result == in_progress)
        for (const NcclComm* const comm : comms_of(calls))
            comm->finish_call("ncclGroupEnd", subject, where);
    static_cast<void>(cudaGetLastError()); // attempts of NCCL that it has handled
}

/// Declares what the calls do to memory, and that each uses its communicator alone.
void declare(const CapturedNode& region, const std::vector<NcclCall>& calls) {
    for (const NcclCall& call : calls) {
        const auto bytes = [&](const NcclRange& range) {
            return std::span(static_cast<std::byte*>(range.data), range.count * call.element_bytes);
        };
        if (call.in.count != 0) region.reads(bytes(call.in));
        if (call.out.count != 0) region.writes(bytes(call.out));
        region.writes(std::span(reinterpret_cast<std::byte*>(call.comm->get()), 1));
    }
}

Graph captured_graph(const std::vector<NcclCall>& calls, const std::string& label, const SourceLocation& where) {
    const std::vector<NcclComm*> comms = comms_of(calls);
    const LockedComms one_thread(comms);
    GroupStreams streams;
    for (NcclComm* const comm : comms) {
        const cudag::detail::DeviceGuard guard(comm->device());
        streams.add(comm, comm->capture_stream());
    }
    const cudag::detail::DeviceGuard guard(comms.front()->device());
    GraphBuilder b;
    const auto capture = [&](StreamCapture& c) {
        for (const NcclComm* const comm : comms)
            if (comm != comms.front()) c.fork(streams.of(comm));
        issue_all(calls, streams, label, where);
        for (const NcclComm* const comm : comms)
            if (comm != comms.front()) c.join(streams.of(comm));
    };
    const CapturedNode region =
        b.capture(streams.of(comms.front()), capture,
                  {.mode = CaptureMode::relaxed, .allow_empty = true, .allow_refused_calls = true}, where);
    region.label(label);
    declare(region, calls);
    return std::move(b).build(where);
}

/// Removes NCCL's event nodes, and keeps the other nodes in their order.
void remove_events(GraphBuilder& b, const InlinedGraph& part, const std::string& label, const SourceLocation& where) {
    std::vector<Node> events;
    std::vector<Node> work;
    for (const Node& node : part.nodes()) {
        const NodeKind kind = node.kind();
        if (kind == NodeKind::host)
            cudag::detail::refuse(fmt::format("{}: NCCL needs a host node for it, as between hosts without direct "
                                              "access, so it cannot be Order::within_graph",
                                              label),
                                  {{}, {label}, where});
        (kind == NodeKind::record_event || kind == NodeKind::wait_event ? events : work).push_back(node);
    }
    if (!events.empty()) b.remove(events, where);
    for (std::size_t i = 1; i < work.size(); ++i)
        cudag::detail::add_edges(work[i], &work[i - 1], 1);
}

} // namespace

Operation checked_operation(const Communicator& comm, NcclCall&& call) {
    call.comm = NcclAccess::state(comm);
    static_cast<void>(call.comm->get());
    const NcclKind kind = call.shape.kind;
    if ((is_point_to_point(kind) || has_root(kind)) && (call.shape.peer < 0 || call.shape.peer >= comm.ranks()))
        cudag::detail::refuse(fmt::format("{}: there is no rank {}; the communicator has {}, counted from 0",
                                          name_of(kind), call.shape.peer, comm.ranks()));
    require_lengths(call);
    std::string label = label_of(call);
    std::vector<NcclCall> calls;
    calls.push_back(std::move(call));
    return NcclAccess::operation(std::move(calls), std::move(label));
}

} // namespace detail

using detail::NcclAccess;
using detail::NcclCall;
using detail::NcclComm;

Operation group(std::span<const Operation> operations) {
    std::vector<NcclCall> calls;
    for (const Operation& operation : operations)
        calls.insert(calls.end(), operation.calls_.begin(), operation.calls_.end());
    return NcclAccess::operation(std::move(calls), operations.size() == 1 ? std::string(operations.front().label_)
                                                                          : std::string("group"));
}

void Operation::enqueue(StreamRef stream, SourceLocation location) const {
    if (calls_.empty()) return;
    const std::vector<NcclComm*> comms = detail::comms_of(calls_);
    if (comms.size() > 1)
        cudag::detail::refuse(fmt::format("{}: its operations are of {} communicators, which need a stream each; use "
                                          "graph() or add()",
                                          label_, comms.size()),
                              {{}, {}, location});
    const detail::LockedComms one_thread(comms);
    detail::GroupStreams streams;
    streams.add(comms.front(), stream.get());
    detail::issue_all(calls_, streams, label_, location);
}

namespace {

/// Captures an operation again, with other memory.
class OperationRecapture final : public cudag::detail::Recapture {
  public:
    OperationRecapture(std::vector<NcclCall> calls, std::string label, Order order, const SourceLocation& where)
        : calls_(std::move(calls)), label_(std::move(label)), order_(order), where_(where) {}

    [[nodiscard]] Graph with_moved(const Recapture& made,
                                   std::span<const cudag::detail::MovedRange> moved) const override {
        const auto* const original = dynamic_cast<const OperationRecapture*>(&made);
        if (original == nullptr || original->calls_.size() != calls_.size())
            refuse_bind(
                "an update has given it another number of calls; update it by an operation with the other memory");
        std::vector<NcclCall> calls = calls_;
        for (std::size_t i = 0; i < calls.size(); ++i) {
            const NcclCall& before = original->calls_[i];
            move(before.in, before.element_bytes, moved, calls[i], 0, calls[i].in);
            move(before.out, before.element_bytes, moved, calls[i], 1, calls[i].out);
        }
        return NcclAccess::operation(std::move(calls), std::string(label_)).graph(order_, where_);
    }

  private:
    [[noreturn]] void refuse_bind(const char* reason) const {
        cudag::detail::refuse<UpdateError>(fmt::format("bind: {}: {}", label_, reason), {{}, {label_}, where_});
    }
    void move(const detail::NcclRange& before, std::size_t element_bytes,
              std::span<const cudag::detail::MovedRange> moved, NcclCall& call, std::uint32_t argument,
              detail::NcclRange& range) const {
        const auto begin = reinterpret_cast<std::uintptr_t>(before.data);
        const std::uintptr_t end = begin + before.count * element_bytes;
        for (const cudag::detail::MovedRange& memory : moved) {
            if (begin == end || end <= memory.begin || memory.begin + memory.bytes <= begin) continue;
            if (begin < memory.begin || memory.begin + memory.bytes < end)
                refuse_bind("it uses memory on both sides of an end of the parameter; make the parameter large enough");
            range.data = reinterpret_cast<void*>(memory.next + (begin - memory.begin)); // NOLINT: memory of the device
            call.owners.erase_if([&](const auto& owner) { return owner.argument == argument; });
            if (memory.owner != nullptr) call.owners.push_back({argument, 0, memory.owner});
        }
    }

    std::vector<NcclCall> calls_;
    std::string label_;
    Order order_;
    SourceLocation where_;
};

} // namespace

Graph Operation::graph(Order order, SourceLocation location) const {
    GraphBuilder b;
    if (calls_.empty()) return std::move(b).build(location);
    if (order == Order::within_graph && detail::comms_of(calls_).size() > 1)
        cudag::detail::refuse(fmt::format("{}: Order::within_graph is for the operations of one communicator", label_),
                              {{}, {}, location});
    // Written again: without NCCL's user object, of which a single one makes each launch cost twice as much. The
    // captured graph lives as long as its copy, and keeps NCCL's memory for it.
    struct Captured {
        std::vector<NcclCall> calls; // with their owners: NCCL's communicators wait for their graphs
        Graph graph;
    };
    const auto captured =
        std::make_shared<const Captured>(Captured{calls_, detail::captured_graph(calls_, label_, location)});
    const InlinedGraph part = b.inline_graph(captured->graph, location);
    if (order == Order::within_graph) detail::remove_events(b, part, label_, location);
    b.retain(captured);
    Graph graph = std::move(b).build(location);
    cudag::detail::set_recapture(graph, std::make_shared<const OperationRecapture>(calls_, label_, order, location));
    return graph;
}

ChildNode add(GraphBuilder& builder, const Operation& operation, Order order, SourceLocation location) {
    const Graph graph = operation.graph(order, location);
    try {
        return builder.child(graph, location).label(operation.label());
    } catch (const GraphError& error) {
        if (order == Order::within_graph || error.code() != std::error_code(cudaErrorNotSupported, cuda_category()))
            throw;
        throw GraphError(cudaErrorNotSupported,
                         fmt::format("{}; give add() Order::within_graph, without NCCL's event nodes", error.what()),
                         {error.operation(), error.log(), error.labels(), error.location()});
    }
}

ChildNode add(StreamCapture& capture, const Operation& operation, Order order, SourceLocation location) {
    return capture.add([&](GraphBuilder& b) { return add(b, operation, order, location); }, location);
}

} // namespace cudag::nccl
