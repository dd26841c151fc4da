// User objects: something of the user's that lives as long as the graphs, execs and launches that refer to it.
#pragma once

#include "runtime/live_counts.hpp"

#include <cuda_runtime_api.h>

#include <list>
#include <memory>
#include <optional>
#include <vector>

namespace cudart_cpu::detail {

/// The user's destructor, to be called.
struct Destruction {
    cudaHostFn_t function;
    void* data;
};

/// The caller's references count as one owner; every graph, exec and launch in flight that refers to it is another.
/// When the last owner goes, the user's destructor runs: inside the call that let go, or after a launch on an internal
/// thread.
class UserObject {
  public:
    UserObject(cudaUserObject_t handle, Destruction destruction) : handle_(handle), destruction_{destruction} {}
    UserObject(const UserObject&) = delete;
    UserObject& operator=(const UserObject&) = delete;
    ~UserObject();

    cudaUserObject_t handle() const noexcept { return handle_; }

  private:
    cudaUserObject_t handle_;
    std::list<Destruction> destruction_; // an element that is moved to where it waits: a destructor must not allocate
    std::optional<Counted<Kind::user_object>> counted_{std::in_place};
};

/// A call that may let go of user objects: the destructors wait until the call has given up its locks, at the end of
/// this.
class DestructionScope {
  public:
    DestructionScope() noexcept;
    DestructionScope(const DestructionScope&) = delete;
    DestructionScope& operator=(const DestructionScope&) = delete;
    ~DestructionScope();

    void add(std::list<Destruction>& one) noexcept { waiting_.splice(waiting_.end(), one); }

  private:
    std::list<Destruction> waiting_;
};

using UserObjectPointer = std::shared_ptr<UserObject>;

/// Lets go of `objects`; the destructors of those that have no other owner run on an internal thread.
void release_asynchronously(std::vector<UserObjectPointer> objects) noexcept;

/// Throws Failure for an object that nobody owns any more.
UserObjectPointer user_object_of(cudaUserObject_t handle);

/// Throws Failure unless the caller owns that many references.
void release_caller_references(cudaUserObject_t handle, unsigned count);

/// Throws Failure unless `count` is what CUDA allows: 1 to INT_MAX.
void validate_reference_count(unsigned count);

} // namespace cudart_cpu::detail
