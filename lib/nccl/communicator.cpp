// Communicators of NCCL: their making, their end, and registered memory.
#include "communicator.hpp"

#include "cuda/device_guard.hpp"
#include "cuda/failure.hpp"

#include <cudag/format.hpp>

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstring>

namespace cudag::nccl {

namespace detail {

using cudag::detail::DeviceGuard;

void check_nccl(int result, const char* call, ncclComm* comm, const std::string& subject, const SourceLocation& where) {
    if (result == success || result == in_progress) return;
    const NcclLibrary& nccl = nccl_library();
    static_cast<void>(cudaGetLastError());
    std::string text = fmt::format("cudag: {}: {}: {}", subject, call, nccl.get_error_string(result));
    if (const char* last = nccl.get_last_error == nullptr ? nullptr : nccl.get_last_error(comm);
        last != nullptr && *last != '\0')
        text += fmt::format(": {}", last);
    throw NcclError(result, text, {call, {}, {}, where});
}

void DestroyComm::operator()(ncclComm* comm) const noexcept {
    if (const int result = nccl_library().comm_destroy(comm); result != success && result != in_progress)
        std::fprintf(stderr, "cudag: ncclCommDestroy: %s\n", nccl_library().get_error_string(result));
}

NcclComm::NcclComm(ncclComm* borrowed, const SourceLocation& where) : comm_(borrowed) {
    const NcclLibrary& nccl = nccl_library();
    check_nccl(nccl.comm_count(comm_, &ranks_), "ncclCommCount", comm_, "Communicator", where);
    check_nccl(nccl.comm_rank(comm_, &rank_), "ncclCommUserRank", comm_, "Communicator", where);
    check_nccl(nccl.comm_device(comm_, &device_), "ncclCommCuDevice", comm_, "Communicator", where);
}

NcclComm::~NcclComm() {
    if (!aborting_.joinable()) return;
    aborting_.join();
    static_cast<void>(owned_.release()); // the abort has destroyed it
}

ncclComm* NcclComm::get() const {
    if (is_aborted_) cudag::detail::refuse("the communicator was aborted; make a new one, on all ranks");
    return comm_;
}

cudaStream_t NcclComm::capture_stream() {
    if (stream_ == nullptr) stream_ = std::make_unique<Stream>();
    return stream_->get();
}

void NcclComm::finish_call(const char* call, const std::string& subject, const SourceLocation& where) const {
    for (int result = in_progress; result == in_progress; std::this_thread::yield()) {
        check_nccl(nccl_library().comm_get_async_error(comm_, &result), "ncclCommGetAsyncError", comm_, subject, where);
        check_nccl(result, call, comm_, subject, where);
    }
}

void NcclComm::abort() {
    if (is_aborted_.exchange(true)) return;
    aborting_ = std::thread([this] {
        if (cudaSetDevice(device_) == cudaSuccess) static_cast<void>(nccl_library().comm_abort(comm_));
    });
}

std::shared_ptr<const void> register_range(const Communicator& comm, void* data, std::size_t bytes, Owners&& owners) {
    struct Registered {
        std::shared_ptr<NcclComm> comm;
        Owners owners;
        void* handle = nullptr;
        ~Registered() {
            if (handle != nullptr && !comm->is_aborted())
                static_cast<void>(nccl_library().comm_deregister(comm->get(), handle));
        }
    };
    const NcclLibrary& nccl = nccl_library();
    if (nccl.comm_register == nullptr || nccl.comm_deregister == nullptr)
        cudag::detail::refuse<Error>("RegisteredMemory: this NCCL is too old: it needs 2.19", {},
                                     cudaErrorNotSupported);
    auto made = std::make_shared<Registered>();
    made->comm = NcclAccess::state(comm);
    made->owners = std::move(owners);
    check_nccl(nccl.comm_register(comm.get(), data, bytes, &made->handle), "ncclCommRegister", comm.get(),
               "RegisteredMemory", SourceLocation());
    return made;
}

} // namespace detail

using detail::NcclAccess;
using detail::NcclComm;
using detail::OwnedComm;

int version() {
    int number = 0;
    detail::check_nccl(detail::nccl_library().get_version(&number), "ncclGetVersion", nullptr, "version",
                       SourceLocation());
    return number;
}

UniqueId UniqueId::create() {
    detail::IdBytes id{};
    detail::check_nccl(detail::nccl_library().get_unique_id(&id), "ncclGetUniqueId", nullptr, "UniqueId",
                       SourceLocation());
    UniqueId made;
    static_assert(sizeof made.bytes == sizeof id);
    std::memcpy(made.bytes.data(), id.bytes, sizeof id);
    return made;
}

Communicator::Communicator(const UniqueId& id, int ranks, int rank, SourceLocation location) {
    if (ranks < 1 || rank < 0 || rank >= ranks)
        cudag::detail::refuse(fmt::format("Communicator: rank {} of {} ranks; ranks are counted from 0", rank, ranks),
                              {{}, {}, location});
    detail::IdBytes bytes{};
    std::memcpy(bytes.bytes, id.bytes.data(), sizeof bytes);
    ncclComm* comm = nullptr;
    detail::check_nccl(detail::nccl_library().comm_init_rank(&comm, ranks, bytes, rank), "ncclCommInitRank", nullptr,
                       fmt::format("Communicator: rank {} of {}", rank, ranks), location);
    state_ = std::make_shared<NcclComm>(OwnedComm(comm), location);
}

std::vector<Communicator> Communicator::over(std::span<const int> devices, SourceLocation location) {
    if (devices.empty())
        cudag::detail::refuse("Communicator::over: there are no devices; give at least one", {{}, {}, location});
    std::vector<ncclComm*> natives(devices.size());
    std::vector<OwnedComm> comms(devices.size()); // before there is one, since the vector may throw
    detail::check_nccl(
        detail::nccl_library().comm_init_all(natives.data(), static_cast<int>(devices.size()), devices.data()),
        "ncclCommInitAll", nullptr, "Communicator::over", location);
    for (std::size_t i = 0; i < comms.size(); ++i)
        comms[i].reset(natives[i]);
    std::vector<Communicator> made;
    for (OwnedComm& comm : comms)
        made.push_back(NcclAccess::communicator(std::make_shared<NcclComm>(std::move(comm), location)));
    return made;
}

Communicator Communicator::borrow(ncclComm* comm, SourceLocation location) {
    if (comm == nullptr) cudag::detail::refuse("Communicator::borrow: the communicator is null", {{}, {}, location});
    return NcclAccess::communicator(std::make_shared<NcclComm>(comm, location));
}

int Communicator::rank() const noexcept {
    return state_->rank();
}
int Communicator::ranks() const noexcept {
    return state_->ranks();
}
int Communicator::device() const noexcept {
    return state_->device();
}
ncclComm* Communicator::get() const {
    return state_->get();
}

void Communicator::check(SourceLocation location) const {
    int result = detail::success;
    ncclComm* const comm = get();
    const std::string subject = fmt::format("rank {} of {}", rank(), ranks());
    detail::check_nccl(detail::nccl_library().comm_get_async_error(comm, &result), "ncclCommGetAsyncError", comm,
                       subject, location);
    detail::check_nccl(result, "an asynchronous error", comm, subject, location);
}

void Communicator::abort() const {
    state_->abort();
}

} // namespace cudag::nccl
