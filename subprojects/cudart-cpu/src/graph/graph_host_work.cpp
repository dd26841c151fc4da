// Host nodes.
#include "graph_host_work.hpp"

#include "runtime/call.hpp"

namespace cudart_cpu::detail {

HostWork::HostWork(const cudaHostNodeParams& params, unsigned sync_mode) : params_(params), sync_mode_(sync_mode) {
    if (!params.fn) fail(cudaErrorInvalidValue, "Host function cannot be NULL");
    if (sync_mode > 1) fail(cudaErrorInvalidValue, text("host task sync mode ", sync_mode, " is unknown"));
}

std::string HostWork::details() const {
    return text("host function ", reinterpret_cast<const void*>(params_.fn), " data ", params_.userData);
}

void HostWork::run() const {
    run_host_function(params_.fn, params_.userData);
}

} // namespace cudart_cpu::detail
