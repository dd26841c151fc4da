// User objects: objects of the user kept alive by graphs, execs and launches.
#include "user_object.hpp"

#include "runtime/call.hpp"
#include "runtime/handle_table.hpp"
#include "runtime/text.hpp"

#include <climits>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

namespace cudart_cpu::detail {

namespace {

/// The caller's part of a user object.
struct Caller {
    std::weak_ptr<UserObject> object;
    UserObjectPointer owned; // set while the caller owns references
    std::size_t references = 0;
};

struct Callers {
    std::mutex mutex;
    std::unordered_map<cudaUserObject_t, Caller> by_handle;
};

Callers& callers() {
    static auto& all = *new Callers; // never destroyed: objects may outlive static destruction
    return all;
}

Caller& caller_of(Callers& all, cudaUserObject_t handle) {
    const auto found = all.by_handle.find(handle);
    if (found == all.by_handle.end()) fail(cudaErrorInvalidValue, text("user object ", handle, " is not alive"));
    return found->second;
}

/// The live scope of this thread.
thread_local DestructionScope* open_scope = nullptr;

/// Runs the destructors of objects released by launches, one after the other.
class DestructorThread {
  public:
    static DestructorThread& instance() {
        static auto& thread = *new DestructorThread; // never destroyed: its thread runs until the process ends
        return thread;
    }

    void add(std::list<Destruction>& one) noexcept {
        const std::lock_guard lock(mutex_);
        queue_.splice(queue_.end(), one);
        added_.notify_one();
    }

  private:
    DestructorThread() {
        std::thread([this] { run(); }).detach();
    }

    [[noreturn]] void run() {
        for (std::unique_lock lock(mutex_);;) {
            added_.wait(lock, [this] { return !queue_.empty(); });
            std::list<Destruction> one;
            one.splice(one.end(), queue_, queue_.begin());
            lock.unlock();
            run_host_function(one.front().function, one.front().data);
            lock.lock();
        }
    }

    std::mutex mutex_;
    std::condition_variable added_;
    std::list<Destruction> queue_;
};

} // namespace

UserObject::~UserObject() {
    {
        Callers& all = callers();
        const std::lock_guard lock(all.mutex);
        all.by_handle.erase(handle_);
    }
    counted_.reset(); // before the destructor runs: a thread waiting for it may count live objects
    if (open_scope)
        open_scope->add(destruction_);
    else
        DestructorThread::instance().add(destruction_);
}

DestructionScope::DestructionScope() noexcept {
    open_scope = this;
}

DestructionScope::~DestructionScope() {
    open_scope = nullptr;
    for (const Destruction& one : waiting_)
        run_host_function(one.function, one.data);
}

void release_asynchronously(std::vector<UserObjectPointer> objects) noexcept {
    DestructionScope* const outer = std::exchange(open_scope, nullptr);
    objects.clear();
    open_scope = outer;
}

UserObjectPointer user_object_of(cudaUserObject_t handle) {
    Callers& all = callers();
    const std::lock_guard lock(all.mutex);
    if (auto object = caller_of(all, handle).object.lock()) return object;
    fail(cudaErrorInvalidValue, text("user object ", handle, " is not alive"));
}

void release_caller_references(cudaUserObject_t handle, unsigned count) {
    UserObjectPointer last; // destroyed after the lock's release: the object's destructor takes the lock
    Callers& all = callers();
    const std::lock_guard lock(all.mutex);
    Caller& caller = caller_of(all, handle);
    if (caller.references < count)
        fail(cudaErrorInvalidValue, text("cannot release ", count, " references to user object ", handle,
                                         ": the caller owns ", caller.references));
    caller.references -= count;
    if (caller.references == 0) last = std::move(caller.owned);
}

void validate_reference_count(unsigned count) {
    if (count == 0 || count > INT_MAX)
        fail(cudaErrorInvalidValue, text("the number of references is ", count, "; it must be 1 to ", INT_MAX));
}

} // namespace cudart_cpu::detail

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t CUDARTAPI cudaUserObjectCreate(cudaUserObject_t* object_out, void* ptr, cudaHostFn_t destroy,
                                                          unsigned int initialRefcount, unsigned int flags) {
    return api("cudaUserObjectCreate", [&] {
        require_pointer(object_out, "object_out");
        require_pointer(reinterpret_cast<const void*>(destroy), "destroy");
        validate_reference_count(initialRefcount);
        if (flags != cudaUserObjectNoDestructorSync)
            fail(cudaErrorInvalidValue,
                 text("the flags of a user object are ", flags, "; they must be cudaUserObjectNoDestructorSync (1)"));
        DestructorThread::instance(); // started here, where a failure is an error, not in a destructor
        const auto handle = reinterpret_cast<cudaUserObject_t>(next_handle());
        Callers& all = callers();
        const std::lock_guard lock(all.mutex);
        Caller& caller = all.by_handle[handle];
        try {
            caller.owned = std::make_shared<UserObject>(handle, Destruction{destroy, ptr});
        } catch (...) {
            all.by_handle.erase(handle);
            throw;
        }
        caller.object = caller.owned;
        caller.references = initialRefcount;
        *object_out = handle;
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaUserObjectRetain(cudaUserObject_t object, unsigned int count) {
    return api("cudaUserObjectRetain", [&] {
        validate_reference_count(count);
        const UserObjectPointer alive = user_object_of(object);
        Callers& all = callers();
        const std::lock_guard lock(all.mutex);
        Caller& caller = caller_of(all, object);
        caller.owned = alive;
        caller.references += count;
    });
}

CUDART_CPU_API cudaError_t CUDARTAPI cudaUserObjectRelease(cudaUserObject_t object, unsigned int count) {
    return api("cudaUserObjectRelease", [&] {
        const DestructionScope destruction_scope;
        validate_reference_count(count);
        release_caller_references(object, count);
    });
}
