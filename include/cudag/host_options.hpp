// HostOptions: how CUDA runs the function of a host node.
#pragma once

namespace cudag {

/// The way in which CUDA's thread for host functions waits for the next one. Needs CUDA 13.1, except `blocking`.
enum class HostSyncMode {
    blocking,  ///< sleeps: takes no time of the processor
    spin_wait, ///< spins: the function starts sooner, and a processor core is busy meanwhile
};

/// Options of `GraphBuilder::host`.
///
///     b.host([] { std::puts("done"); }, {.sync_mode = cudag::HostSyncMode::spin_wait});
struct HostOptions {
    HostSyncMode sync_mode = HostSyncMode::blocking;
};

} // namespace cudag
