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
void find_function(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr)
        refuse<Error>(fmt::format("profile: this CUPTI is too old: it has no {}", name), {}, cudaErrorNotSupported);
}

CuptiLibrary load_cupti() {
    void* const library = open_cupti();
    CuptiLibrary functions{};
    find_function(library, "cuptiSubscribe", functions.subscribe);
    find_function(library, "cuptiUnsubscribe", functions.unsubscribe);
    find_function(library, "cuptiActivityRegisterCallbacks", functions.register_callbacks);
    find_function(library, "cuptiActivityEnable", functions.enable);
    find_function(library, "cuptiActivityDisable", functions.disable);
    find_function(library, "cuptiActivityFlushAll", functions.flush_all);
    find_function(library, "cuptiActivityGetNextRecord", functions.next_record);
    find_function(library, "cuptiActivityGetNumDroppedRecords", functions.dropped_records);
    find_function(library, "cuptiGetGraphNodeId", functions.node_id);
    find_function(library, "cuptiGetGraphExecId", functions.exec_id);
    find_function(library, "cuptiGetResultString", functions.result_string);
    return functions;
}

} // namespace

const CuptiLibrary& cupti_library() {
    static const CuptiLibrary functions = load_cupti();
    return functions;
}

} // namespace cudag::detail
