// Changes given to CUDA one after the other, all or none.
#pragma once

#include "cuda/failure.hpp"
#include "node/native_result.hpp"

#include <cstddef>
#include <optional>
#include <utility>

namespace cudag::detail {

/// Gives CUDA several changes in order: all or none. The one engine for updates of several nodes.
///
///   - `give(i)` gives CUDA change `i`, and returns its answer. If it fails or throws, nothing of the change remains.
///   - `take_back(i)` restores the state before change `i`. CUDA has accepted this state before.
template <class Give, class TakeBack>
class AllOrNone {
  public:
    /// CUDA's refusal of one change.
    struct Refusal {
        std::size_t change;
        NativeResult result;
    };

    AllOrNone(Give give, TakeBack take_back) : give_(std::move(give)), take_back_(std::move(take_back)) {}

    /// Gives CUDA changes 0 to `count` - 1. Returns the first refusal, without a sticky error: CUDA then has none of
    /// the changes. Passes exceptions of `give` on, with the same effect.
    [[nodiscard]] std::optional<Refusal> push(std::size_t count) {
        std::size_t next = 0;
        const std::optional<NativeResult> refused = push_until_refused(next, count);
        if (!refused) [[likely]]
            return std::nullopt;
        if (refused->api == Api::runtime) ignore(refused->status);
        take_back_before(next);
        return Refusal{next, *refused};
    }

  private:
    std::optional<NativeResult> push_until_refused(std::size_t& next, std::size_t count) {
        try {
            for (; next < count; ++next)
                if (const NativeResult result = give_(next); result.status != cudaSuccess) [[unlikely]]
                    return result;
        } catch (...) {
            take_back_before(next);
            throw;
        }
        return std::nullopt;
    }
    /// The last change goes first: changes may concern one node.
    void take_back_before(std::size_t change) {
        while (change-- > 0)
            take_back_(change);
    }

    Give give_;
    TakeBack take_back_;
};

} // namespace cudag::detail
