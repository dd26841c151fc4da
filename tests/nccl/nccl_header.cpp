// NCCL's own header against the interface that cudag declares for itself.
#include <cudag/nccl.hpp>

#include <nccl/nccl_library.hpp>

#include <nccl.h>

#include <type_traits>

namespace {

using namespace cudag::nccl;
using namespace cudag::nccl::detail;

static_assert(std::is_same_v<ncclComm_t, ncclComm*>);
static_assert(sizeof(ncclUniqueId) == sizeof(IdBytes) && alignof(ncclUniqueId) == alignof(IdBytes));
static_assert(sizeof(ncclResult_t) == sizeof(int) && sizeof(ncclDataType_t) == sizeof(int) &&
              sizeof(ncclRedOp_t) == sizeof(int));
static_assert(static_cast<int>(ncclSuccess) == success && static_cast<int>(ncclInProgress) == in_progress);

constexpr bool is(NcclType type, ncclDataType_t theirs) {
    return static_cast<int>(type) == theirs;
}
static_assert(is(NcclType::int8, ncclInt8) && is(NcclType::uint8, ncclUint8) && is(NcclType::int32, ncclInt32) &&
              is(NcclType::uint32, ncclUint32) && is(NcclType::int64, ncclInt64) && is(NcclType::uint64, ncclUint64) &&
              is(NcclType::half, ncclFloat16) && is(NcclType::float32, ncclFloat32) &&
              is(NcclType::float64, ncclFloat64) && is(NcclType::bfloat16, ncclBfloat16));
constexpr bool is(Reduction reduction, ncclRedOp_t theirs) {
    return static_cast<int>(reduction) == theirs;
}
static_assert(is(Reduction::sum, ncclSum) && is(Reduction::product, ncclProd) && is(Reduction::max, ncclMax) &&
              is(Reduction::min, ncclMin) && is(Reduction::average, ncclAvg));

/// A function of NCCL as cudag calls it: with ints for enumerators, and bytes for the id.
template <class T>
using Plain =
    std::conditional_t<std::is_enum_v<T>, int, std::conditional_t<std::is_same_v<T, ncclUniqueId>, IdBytes, T>>;
template <class T>
struct Called {
    using type = Plain<T>;
};
template <class T>
struct Called<T*> {
    using type = typename Called<T>::type*;
};
template <class Result, class... Argument>
constexpr bool matches(Result (*)(Argument...), typename Called<Result>::type (*)(typename Called<Argument>::type...)) {
    return true;
}
constexpr NcclLibrary ours{};
static_assert(matches(ncclGetUniqueId, ours.get_unique_id) && matches(ncclCommInitRank, ours.comm_init_rank) &&
              matches(ncclCommInitAll, ours.comm_init_all) && matches(ncclCommDestroy, ours.comm_destroy) &&
              matches(ncclCommAbort, ours.comm_abort) && matches(ncclCommGetAsyncError, ours.comm_get_async_error) &&
              matches(ncclCommCount, ours.comm_count) && matches(ncclCommCuDevice, ours.comm_device) &&
              matches(ncclCommUserRank, ours.comm_rank) && matches(ncclCommRegister, ours.comm_register) &&
              matches(ncclCommDeregister, ours.comm_deregister) && matches(ncclAllReduce, ours.all_reduce) &&
              matches(ncclReduce, ours.reduce) && matches(ncclBroadcast, ours.broadcast) &&
              matches(ncclAllGather, ours.all_gather) && matches(ncclReduceScatter, ours.reduce_scatter) &&
              matches(ncclSend, ours.send) && matches(ncclRecv, ours.recv));

} // namespace
