// Lists of owners by capture; CUDA's user objects for captures of others.
#include "capture_owners.hpp"

#include "capture_lists.hpp"
#include "cuda/compat.hpp"
#include "cuda/failure.hpp"
#include "reclaim.hpp"

#include <iterator>
#include <utility>

namespace cudag::detail {

namespace {

using Objects = std::vector<std::shared_ptr<const void>>;

/// Never destroyed: threads may capture at the end of the process.
CaptureLists<std::shared_ptr<const void>>& owners_of_captures() {
    static auto* all = new CaptureLists<std::shared_ptr<const void>>;
    return *all;
}

} // namespace

CaptureOwners::CaptureOwners(unsigned long long capture) : capture_(capture) {
    owners_of_captures().begin(capture);
}

CaptureOwners::~CaptureOwners() {
    owners_of_captures().end(capture_);
}

void CaptureOwners::move_to(Objects& list) {
    owners_of_captures().with(capture_, [&](Objects& captured) {
        list.insert(list.end(), std::make_move_iterator(captured.begin()), std::make_move_iterator(captured.end()));
        captured.clear();
    });
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
    const bool is_kept =
        owners_of_captures().with(id, [&](Objects& list) { list.insert(list.end(), objects.begin(), objects.end()); });
    if (!is_kept) keep_with_graph(graph, std::move(objects));
}

} // namespace cudag::detail
