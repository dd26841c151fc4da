// Host nodes.
#include "graph_host_work.hpp"

#include "runtime/call.hpp"

namespace cudart_cpu::detail {

HostWork::HostWork(const cudaHostNodeParams& params) : params_(params) {
    if (!params.fn) fail(cudaErrorInvalidValue, "Host function cannot be NULL");
}

std::string HostWork::details() const {
    return text("host function ", reinterpret_cast<const void*>(params_.fn), " data ", params_.userData);
}

void HostWork::run() const {
    run_host_function(params_.fn, params_.userData);
}

} // namespace cudart_cpu::detail
