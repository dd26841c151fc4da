// User objects: objects of the user kept alive by graphs, execs and launches.
#pragma once

#include "runtime/live_counts.hpp"

#include <cuda_runtime_api.h>

#include <list>
#include <memory>
#include <optional>
#include <vector>

namespace cudart_cpu::detail {

/// A call of the user's destructor, still to be made.
struct Destruction {
    cudaHostFn_t function;
    void* data;
};

/// Has one owner for all references of the caller, and one for every graph, exec and launch in flight with a reference.
/// When the last owner goes, the user's destructor runs: inside the releasing call, or after a launch on an internal
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
    std::list<Destruction> destruction_; // one element, spliced into a waiting list: a destructor must not allocate
    std::optional<Counted<Kind::user_object>> counted_{std::in_place};
};

/// The scope of a call with possible releases of user objects: their destructors wait until its end, when the call has
/// given up its locks.
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

/// Releases `objects`; destructors of objects without another owner run on an internal thread.
void release_asynchronously(std::vector<UserObjectPointer> objects) noexcept;

/// Throws Failure for an object without an owner.
UserObjectPointer user_object_of(cudaUserObject_t handle);

/// Throws Failure unless the caller owns at least `count` references.
void release_caller_references(cudaUserObject_t handle, unsigned count);

/// Throws Failure unless `count` is in CUDA's range: 1 to INT_MAX.
void validate_reference_count(unsigned count);

} // namespace cudart_cpu::detail
