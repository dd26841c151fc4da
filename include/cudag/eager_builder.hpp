// EagerBuilder: the calls of a builder, run at once in a stream.
#pragma once

#include <cudag/config.hpp>
#include <cudag/launch.hpp>
#include <cudag/launch_config.hpp>
#include <cudag/source_location.hpp>
#include <cudag/stream.hpp>

#include <string_view>
#include <utility>

namespace cudag {

/// The result of an EagerBuilder's call. The stream has the order already, so labels, edges and accesses do nothing.
class EagerNode {
  public:
    EagerNode label(std::string_view /*text*/) const noexcept { return {}; }
    template <class... Handle>
    EagerNode after(const Handle&... /*nodes*/) const noexcept {
        return {};
    }
    template <class... Memory>
    EagerNode reads(const Memory&... /*memory*/) const noexcept {
        return {};
    }
    template <class... Memory>
    EagerNode writes(const Memory&... /*memory*/) const noexcept {
        return {};
    }
};

/// A stream with the calls of GraphBuilder for kernels, copies and fills: each enqueues its work. A function of `auto&
/// b` writes a graph, or runs, by the builder that it gets; in a capture of the stream it is recorded:
///
///     const auto body = [&](auto& b, const auto& from, const auto& to) {
///         auto filled = b.memset(to, 1.0f).label("ones");
///         b.kernel(config, add, from, from, to, n).after(filled);
///     };
///     cudag::EagerBuilder eager(stream);
///     body(eager, x, y); // in the stream
///     cudag::Graph captured = cudag::capture(stream, [&](cudaStream_t) { body(eager, x, y); });
///     cudag::GraphBuilder b;
///     body(b, x, y);
///
/// The rules and errors are those of `launch`, `memcpy_async`, `memset_async` and `clear_async`. The stream is
/// borrowed. Threads: as the stream.
class EagerBuilder {
  public:
    explicit EagerBuilder(StreamRef stream) noexcept : stream_(stream) {}

    /// Returns the stream, borrowed.
    [[nodiscard]] StreamRef stream() const noexcept { return stream_; }

    template <class Kernel, class... Argument>
    EagerNode kernel( // cudag: kernel(config, function, arguments...)
        const LaunchConfig& config, Kernel&& kernel, Argument&&... arguments) const {
        launch(stream_, config, std::forward<Kernel>(kernel), std::forward<Argument>(arguments)...);
        return {};
    }
    template <class Destination, class Source>
    EagerNode memcpy(Destination&& destination, Source&& source,
                     SourceLocation location = SourceLocation::current()) const {
        memcpy_async(stream_, std::forward<Destination>(destination), std::forward<Source>(source), location);
        return {};
    }
    template <class Destination, class Value>
    EagerNode memset(Destination&& destination, const Value& value,
                     SourceLocation location = SourceLocation::current()) const {
        memset_async(stream_, std::forward<Destination>(destination), value, location);
        return {};
    }
    template <class Destination>
    EagerNode clear(Destination&& destination, SourceLocation location = SourceLocation::current()) const {
        clear_async(stream_, std::forward<Destination>(destination), location);
        return {};
    }

    template <class Callable>
    EagerNode host(Callable&&) const = delete; // cudag: a stream has no host nodes: call cudaLaunchHostFunc, or wait

  private:
    StreamRef stream_;
};

} // namespace cudag
