// NCCL, loaded at run time: cudag does not link it.
#include "nccl_library.hpp"

#include "cuda/failure.hpp"

#include <cudag/error.hpp>

#include <dlfcn.h>

#include <fmt/format.h>

#include <string>
#include <vector>

namespace cudag::nccl::detail {

namespace {

/// Returns the NCCL that the program has, since communicators are of one copy, or else loads one: the loader's own
/// choice, or one beside the CUDA Runtime, in a toolkit or in the wheels of PyPI.
void* open_nccl() {
    if (dlsym(RTLD_DEFAULT, "ncclCommInitRank") != nullptr) return RTLD_DEFAULT;
    std::vector<std::string> files{"libnccl.so.2"};
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&cudaRuntimeGetVersion), &info) != 0 && info.dli_fname != nullptr) {
        const std::string runtime = info.dli_fname;
        const std::string folder = runtime.substr(0, runtime.rfind('/') + 1);
        for (const char* place : {"", "../../nccl/lib/"})
            files.push_back(folder + place + files.front());
    }
    for (const std::string& file : files)
        if (void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    cudag::detail::refuse<Error>(
        "nccl: NCCL is not found: libnccl.so.2 is neither in the program nor in the loader's path nor beside the CUDA "
        "Runtime; install it (NVIDIA's packages: libnccl2, PyPI: nvidia-nccl), or name its folder in LD_LIBRARY_PATH",
        {}, cudaErrorNotSupported);
}

class NcclSymbols {
  public:
    NcclSymbols() : library_(open_nccl()) {}

    template <class Function>
    void find(const char* name, Function& function) const {
        find_optional(name, function);
        if (function == nullptr)
            cudag::detail::refuse<Error>(fmt::format("nccl: this NCCL is too old: it has no {}; cudag needs 2.7", name),
                                         {}, cudaErrorNotSupported);
    }
    template <class Function>
    void find_optional(const char* name, Function& function) const {
        function = reinterpret_cast<Function>(dlsym(library_, name));
    }

  private:
    void* library_;
};

NcclLibrary load_nccl() {
    const NcclSymbols nccl;
    NcclLibrary functions{};
    nccl.find("ncclGetVersion", functions.get_version);
    nccl.find("ncclGetErrorString", functions.get_error_string);
    nccl.find_optional("ncclGetLastError", functions.get_last_error);
    nccl.find("ncclGetUniqueId", functions.get_unique_id);
    nccl.find("ncclCommInitRank", functions.comm_init_rank);
    nccl.find("ncclCommInitAll", functions.comm_init_all);
    nccl.find("ncclCommDestroy", functions.comm_destroy);
    nccl.find("ncclCommAbort", functions.comm_abort);
    nccl.find("ncclCommGetAsyncError", functions.comm_get_async_error);
    nccl.find("ncclCommCount", functions.comm_count);
    nccl.find("ncclCommCuDevice", functions.comm_device);
    nccl.find("ncclCommUserRank", functions.comm_rank);
    nccl.find_optional("ncclCommRegister", functions.comm_register);
    nccl.find_optional("ncclCommDeregister", functions.comm_deregister);
    nccl.find("ncclAllReduce", functions.all_reduce);
    nccl.find("ncclReduce", functions.reduce);
    nccl.find("ncclBroadcast", functions.broadcast);
    nccl.find("ncclAllGather", functions.all_gather);
    nccl.find("ncclReduceScatter", functions.reduce_scatter);
    nccl.find("ncclSend", functions.send);
    nccl.find("ncclRecv", functions.recv);
    nccl.find("ncclGroupStart", functions.group_start);
    nccl.find("ncclGroupEnd", functions.group_end);
    return functions;
}

} // namespace

const NcclLibrary& nccl_library() {
    static const NcclLibrary functions = load_nccl();
    return functions;
}

} // namespace cudag::nccl::detail
