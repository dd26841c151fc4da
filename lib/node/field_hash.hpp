// Hashes of the fields of parameters.
#pragma once

#include "fields.hpp"
#include "lists/hash.hpp"
#include "node_params.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>
#include <variant>

namespace cudag::detail {

template <class T>
void add_value(Hash& hash, const T& value) noexcept {
    if constexpr (std::is_pointer_v<T>)
        hash.add(reinterpret_cast<const void*>(value));
    else
        hash.add(static_cast<std::uint64_t>(value));
}
inline void add_value(Hash& hash, const dim3& size) noexcept {
    hash.add(size.x);
    hash.add(std::uint64_t{size.y} << 32U | size.z);
}
inline void add_value(Hash& hash, const cudaPos& position) noexcept {
    hash.add(position.x);
    hash.add(position.y);
    hash.add(position.z);
}
inline void add_value(Hash& hash, const cudaExtent& extent) noexcept {
    hash.add(extent.width);
    hash.add(extent.height);
    hash.add(extent.depth);
}

/// A visitor for hashing a selection of the fields.
template <class Params, HashedFields which>
class FieldHash {
  public:
    FieldHash(Hash& hash, const Params& params) : hash_(hash), params_(params) {}

    template <class Get>
    void field(const char* /*name*/, const Get& get, const FieldRule& rule) {
        if (takes(rule)) add_value(hash_, get(params_));
    }
    template <class Get>
    void unchosen(const Get& get) {
        if constexpr (which == HashedFields::fixed) add_value(hash_, get(params_));
    }
    template <class... Get>
    void ignored(const Get&... /*get*/) const noexcept {}
    template <class Part, class... Get>
    void part(const Part& /*part*/, const Get&... /*get*/) {
        Part::add_to(hash_, params_, which);
    }

  private:
    static constexpr bool takes(const FieldRule& rule) noexcept {
        if (which == HashedFields::structure) return rule.kind == DifferenceKind::function;
        return (rule.changed_by == ChangedBy::node_update) == (which == HashedFields::changing);
    }

    Hash& hash_;
    const Params& params_;
};

/// Adds a selection of a node's fields to `hash`. Throws GraphError if CUDA does not report attributes of the node.
template <HashedFields which>
void add_fields(Hash& hash, const NodeParams& params) {
    const auto add = [&hash](const auto& block) {
        if constexpr (!is_none<decltype(block)>) {
            FieldHash<std::decay_t<decltype(*block)>, which> visit(hash, *block);
            fields(*block, visit);
        }
    };
    std::visit(add, params);
}

} // namespace cudag::detail
