// GraphBuilder: captured regions.
#include <cudag/builder.hpp>

#include "new_region.hpp"

namespace cudag {

CapturedNode GraphBuilder::add_region(StreamRef stream, CaptureOptions options,
                                      const std::function<void(StreamCapture&)>& function,
                                      const SourceLocation& location) {
    static_cast<void>(graph());
    const std::shared_ptr<detail::GraphState> owner = state_; // the function may move this builder, or destroy it
    const detail::BuilderGraph device_is_current = state();
    detail::NewRegion region(owner, stream.get(), options, location);
    try {
        function(region.capture());
    } catch (const CaptureError& error) {
        region.fail(error);
    }
    return region.finish();
}

} // namespace cudag
