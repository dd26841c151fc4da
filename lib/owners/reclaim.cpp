// User objects whose destructors only hand over; reclaim() destroys the objects.
#include "reclaim.hpp"

#include "cuda/failure.hpp"
#include "cuda/no_waiting.hpp"
#include "cuda/relaxed_capture.hpp"
#include "in_flight.hpp"

#include <atomic>
#include <utility>

namespace cudag::detail {

namespace {

struct Bundle {
    std::vector<std::shared_ptr<const void>> objects;
    Bundle* next = nullptr;
};

std::atomic<Bundle*> released = nullptr;

void CUDART_CB hand_over(void* user_data) {
    auto* bundle = static_cast<Bundle*>(user_data);
    bundle->next = released.load(std::memory_order_relaxed);
    while (!released.compare_exchange_weak(bundle->next, bundle, std::memory_order_release, std::memory_order_relaxed))
        ;
}

template <class E>
cudaUserObject_t keep_as_object(cudaGraph_t graph, std::vector<std::shared_ptr<const void>>&& objects,
                                Subject subject = {}) {
    auto bundle = std::make_unique<Bundle>();
    cudaUserObject_t user_object = nullptr;
    const cudaError_t created =
        cudaUserObjectCreate(&user_object, bundle.get(), hand_over, 1, cudaUserObjectNoDestructorSync);
    if (created != cudaSuccess) raise_call<E>(created, "cudaUserObjectCreate", subject);
    Bundle& kept = *bundle.release(); // owned by the user object from here on
    const cudaError_t status = cudaGraphRetainUserObject(graph, user_object, 1, cudaGraphUserObjectMove);
    if (status != cudaSuccess) {
        CallFailure failure = describe_failure(status, "cudaGraphRetainUserObject", std::move(subject), Api::runtime);
        report_release(cudaUserObjectRelease(user_object, 1), "cudaUserObjectRelease");
        throw E(status, failure.text, std::move(failure.details));
    }
    kept.objects = std::move(objects);
    return user_object;
}

} // namespace

cudaUserObject_t keep_with_graph(cudaGraph_t graph, std::vector<std::shared_ptr<const void>>&& objects) {
    return keep_as_object<GraphError>(graph, std::move(objects));
}

void GivenObjects::take_from(cudaGraph_t graph) noexcept {
    for (Given& given : objects_) {
        if (given.is_taken) continue;
        const cudaError_t kept = cudaUserObjectRetain(given.object, 1);
        ignore(kept);
        if (kept != cudaSuccess) continue;
        const cudaError_t taken = cudaGraphReleaseUserObject(graph, given.object, 1);
        ignore(taken);
        given.is_taken = taken == cudaSuccess;
        if (!given.is_taken) report_release(cudaUserObjectRelease(given.object, 1), "cudaUserObjectRelease");
    }
}

void GivenObjects::return_to(cudaGraph_t graph) noexcept {
    std::erase_if(objects_, [graph](Given& given) {
        if (!std::exchange(given.is_taken, false)) return false;
        const cudaError_t status = cudaGraphRetainUserObject(graph, given.object, 1, cudaGraphUserObjectMove);
        if (status == cudaSuccess) return false;
        report_release(status, "cudaGraphRetainUserObject");
        report_release(cudaUserObjectRelease(given.object, 1), "cudaUserObjectRelease");
        return true;
    });
}

KeptForExecs::KeptForExecs(cudaGraph_t graph, const Owners& owners, Call call) : graph_(graph) {
    if (owners.empty()) return;
    std::vector<std::shared_ptr<const void>> objects;
    for (const Owner& owner : owners)
        objects.push_back(owner.object);
    object_ = call == Call::update ? keep_as_object<UpdateError>(graph, std::move(objects), {"update"})
                                   : keep_as_object<InstantiateError>(graph, std::move(objects), {"instantiate"});
}

KeptForExecs::~KeptForExecs() {
    if (object_ != nullptr)
        report_release(cudaGraphReleaseUserObject(graph_, object_, 1), "cudaGraphReleaseUserObject");
}

void reclaim() noexcept {
    const bool some_released = released.load(std::memory_order_relaxed) != nullptr;
    if ((!some_released && !has_retired_owners() && !has_left_over()) || NoWaiting::is_in_force()) return;
    const RelaxedCapture allow_free;
    Bundle* bundle = released.exchange(nullptr, std::memory_order_acquire);
    while (bundle != nullptr) {
        const std::unique_ptr<Bundle> last(bundle);
        bundle = bundle->next;
    }
    drop_retired_owners();
    release_left_over();
}

} // namespace cudag::detail
