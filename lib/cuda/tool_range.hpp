// Ranges for tools such as Nsight Systems: NVTX, if cudag was built with -Dnvtx=enabled.
#pragma once

#ifdef CUDAG_NVTX
#include <nvtx3/nvToolsExt.h>

#include <string>
#endif

namespace cudag::detail {

#ifdef CUDAG_NVTX

/// A range on the timeline of this thread, in NVTX's domain "cudag", while the object lives.
class ToolRange {
  public:
    /// `text()` returns the name of the range; if it throws, there is no range.
    template <class Text>
    explicit ToolRange(const Text& text) noexcept {
        try {
            begin(text());
        } catch (...) { // out of memory
        }
    }
    ~ToolRange() {
        if (has_begun_) nvtxDomainRangePop(domain());
    }
    ToolRange(const ToolRange&) = delete;
    ToolRange& operator=(const ToolRange&) = delete;

  private:
    static nvtxDomainHandle_t domain() noexcept {
        static const nvtxDomainHandle_t cudag = nvtxDomainCreateA("cudag"); // a constant
        return cudag;
    }
    void begin(const std::string& name) noexcept {
        nvtxEventAttributes_t attributes{};
        attributes.version = NVTX_VERSION;
        attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
        attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
        attributes.message.ascii = name.c_str();
        nvtxDomainRangePushEx(domain(), &attributes);
        has_begun_ = true;
    }

    bool has_begun_ = false;
};

#else

/// Without NVTX: no code, and no call of `text`.
class ToolRange {
  public:
    template <class Text>
    constexpr explicit ToolRange(const Text&) noexcept {}
};

#endif

} // namespace cudag::detail
