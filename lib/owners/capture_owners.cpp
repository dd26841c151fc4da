// Lists of owners by capture; CUDA's user objects for captures of others.
#include "capture_owners.hpp"

#include "cuda/compat.hpp"
#include "cuda/failure.hpp"
#include "reclaim.hpp"

#include <iterator>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace cudag::detail {

namespace {

using Objects = std::vector<std::shared_ptr<const void>>;

/// The owners of all captures. Never destroyed: threads may capture at the end of the process.
struct OwnersOfCaptures {
    std::mutex mutex;
    std::unordered_map<unsigned long long, Objects> lists;
};

OwnersOfCaptures& owners_of_captures() {
    static auto* all = new OwnersOfCaptures;
    return *all;
}

} // namespace

CaptureOwners::CaptureOwners(unsigned long long capture) : capture_(capture) {
    OwnersOfCaptures& all = owners_of_captures();
    const std::scoped_lock lock(all.mutex);
    all.lists[capture];
}

CaptureOwners::~CaptureOwners() {
    Objects last; // destroyed after the lock: owners run user code
    OwnersOfCaptures& all = owners_of_captures();
    const std::scoped_lock lock(all.mutex);
    const auto list = all.lists.find(capture_);
    last.swap(list->second);
    all.lists.erase(list);
}

void CaptureOwners::move_to(Objects& list) {
    OwnersOfCaptures& all = owners_of_captures();
    const std::scoped_lock lock(all.mutex);
    Objects& captured = all.lists.find(capture_)->second;
    list.insert(list.end(), std::make_move_iterator(captured.begin()), std::make_move_iterator(captured.end()));
    captured.clear();
}

void keep_with_capture(cudaStream_t stream, const Owners& owners) {
    cudaStreamCaptureStatus capture{};
    unsigned long long id = 0;
    cudaGraph_t graph = nullptr;
    checked<CaptureError>(compat::stream_get_capture_info(stream, &capture, &id, &graph), "cudaStreamGetCaptureInfo");
    if (capture != cudaStreamCaptureStatusActive) return;
    Objects objects;
    for (const Owner& owner : owners)
        if (owner.object) objects.push_back(owner.object);
    if (objects.empty()) return;
    {
        OwnersOfCaptures& all = owners_of_captures();
        const std::scoped_lock lock(all.mutex);
        if (const auto list = all.lists.find(id); list != all.lists.end()) {
            list->second.insert(list->second.end(), objects.begin(), objects.end());
            return;
        }
    }
    keep_with_graph(graph, std::move(objects));
}

} // namespace cudag::detail
