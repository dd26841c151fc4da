// CUPTI, loaded at run time: cudag is built with its headers, and does not link it.
#include "cupti_library.hpp"

#include "cuda/failure.hpp"

#include <cudag/error.hpp>

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <fmt/format.h>

#include <string>
#include <vector>

namespace cudag::detail {

namespace {

/// The folder of the CUDA Runtime in use; "" if the loader does not report it.
std::string runtime_folder() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&cudaRuntimeGetVersion), &info) == 0 || info.dli_fname == nullptr)
        return {};
    const std::string file = info.dli_fname;
    const std::size_t slash = file.rfind('/');
    return slash == std::string::npos ? std::string() : file.substr(0, slash);
}

/// Returns the library of the runtime's version: the loader's own choice, or the one that the toolkit or the wheels of
/// PyPI have near the runtime.
void* open_cupti() {
    int version = 0;
    checked(cudaRuntimeGetVersion(&version), "cudaRuntimeGetVersion");
    const std::string name = fmt::format("libcupti.so.{}", version / 1000);
    std::vector<std::string> files{name};
    if (const std::string folder = runtime_folder(); !folder.empty())
        for (const char* place :
             {"/", "/../extras/CUPTI/lib64/", "/../../../extras/CUPTI/lib64/", "/../../cuda_cupti/lib/"})
            files.push_back(folder + place + name);
    for (const std::string& file : files)
        if (void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    refuse<Error>(fmt::format("profile: CUPTI, which measures the nodes, is not found: {} is neither in the loader's "
                              "path nor beside the CUDA Runtime; install it (Debian: cuda-cupti, PyPI: "
                              "nvidia-cuda-cupti), or name its folder in LD_LIBRARY_PATH",
                              name),
                  {}, cudaErrorNotSupported);
}

template <class Function>
void find_in_cupti(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr)
        refuse<Error>(fmt::format("profile: this CUPTI is too old: it has no {}", name), {}, cudaErrorNotSupported);
}

CuptiLibrary load_cupti() {
    void* const library = open_cupti();
    CuptiLibrary functions{};
    find_in_cupti(library, "cuptiSubscribe", functions.subscribe);
    find_in_cupti(library, "cuptiUnsubscribe", functions.unsubscribe);
    find_in_cupti(library, "cuptiActivityRegisterCallbacks", functions.register_callbacks);
    find_in_cupti(library, "cuptiActivityEnable", functions.enable);
    find_in_cupti(library, "cuptiActivityDisable", functions.disable);
    find_in_cupti(library, "cuptiActivityFlushAll", functions.flush_all);
    find_in_cupti(library, "cuptiActivityGetNextRecord", functions.next_record);
    find_in_cupti(library, "cuptiActivityGetNumDroppedRecords", functions.dropped_records);
    find_in_cupti(library, "cuptiGetGraphNodeId", functions.node_id);
    find_in_cupti(library, "cuptiGetGraphExecId", functions.exec_id);
    find_in_cupti(library, "cuptiGetResultString", functions.result_string);
    return functions;
}

} // namespace

const CuptiLibrary& cupti_library() {
    static const CuptiLibrary functions = load_cupti();
    return functions;
}

} // namespace cudag::detail
