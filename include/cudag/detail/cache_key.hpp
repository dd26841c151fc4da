// The keys of a CaptureCache, without their types.
#pragma once

#include <cudag/detail/type_name.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace cudag::detail {

/// A key of text: a string, a view or a pointer.
template <class Key>
concept TextKey = std::convertible_to<const Key&, std::string_view>;

/// The stored type of a key. Text is stored as a string: the text behind a view or a pointer may change.
template <class Key>
using StoredKey = std::conditional_t<TextKey<Key>, std::string, std::decay_t<Key>>;

/// Converts a key to its stored type.
template <class Key>
decltype(auto) stored_key(const Key& key) {
    if constexpr (std::same_as<Key, StoredKey<Key>>)
        return (key);
    else if constexpr (TextKey<Key>)
        return std::string(std::string_view(key));
    else
        return StoredKey<Key>(key);
}

/// A key of several elements: a tuple or a pair.
template <class Key>
concept TupleKey = requires(const Key& key) {
    std::tuple_size<Key>::value;
    std::get<0>(key);
};

/// True if a key refers to text of others.
template <class Key>
constexpr bool has_borrowed_text = TextKey<Key> && !std::same_as<Key, std::string>;
template <class... Element>
constexpr bool has_borrowed_text<std::tuple<Element...>> = (has_borrowed_text<Element> || ...);
template <class First, class Second>
constexpr bool has_borrowed_text<std::pair<First, Second>> = has_borrowed_text<First> || has_borrowed_text<Second>;

/// Returns the hash of std::hash, or a combination for the elements of a tuple; 0 for other types.
template <class Key>
std::size_t hash_of_key(const Key& key) {
    if constexpr (requires {
                      { std::hash<Key>()(key) } -> std::convertible_to<std::size_t>;
                  }) {
        return std::hash<Key>()(key);
    } else if constexpr (TupleKey<Key>) {
        const auto combine = [](const auto&... elements) {
            std::size_t hash = 0;
            ((hash = hash * 31 + hash_of_key(elements)), ...);
            return hash;
        };
        return std::apply(combine, key);
    } else {
        return 0;
    }
}

/// Returns the text of a key, for reports: "\"decode\"", "17", "(4, 128)"; "?" for other types.
template <class Key>
std::string text_of_key(const Key& key) {
    if constexpr (std::same_as<Key, bool>) {
        return key ? "true" : "false";
    } else if constexpr (std::is_arithmetic_v<Key>) {
        return std::to_string(key);
    } else if constexpr (std::is_enum_v<Key>) {
        return std::to_string(static_cast<std::underlying_type_t<Key>>(key));
    } else if constexpr (TextKey<Key>) {
        return '"' + std::string(std::string_view(key)) + '"';
    } else if constexpr (TupleKey<Key>) {
        const auto list = [](const auto&... elements) {
            std::string text;
            ((text += (text.empty() ? "(" : ", ") + text_of_key(elements)), ...);
            return text + ")";
        };
        return std::apply(list, key);
    } else {
        return "?";
    }
}

/// A borrowed key without its type.
struct KeyView {
    const void* key;
    const TypeTag* type;
    std::size_t hash;
    bool (*equal)(const void* a, const void* b);
    std::shared_ptr<const void> (*copy)(const void* key);
    std::string (*text)(const void* key);
};

/// Erases the type of `key`.
template <class Key>
KeyView view_of_key(const Key& key) {
    return {
        &key,
        &TypeOf<Key>::tag,
        hash_of_key(key),
        [](const void* a, const void* b) -> bool { return *static_cast<const Key*>(a) == *static_cast<const Key*>(b); },
        [](const void* k) -> std::shared_ptr<const void> { return std::make_shared<Key>(*static_cast<const Key*>(k)); },
        [](const void* k) { return text_of_key(*static_cast<const Key*>(k)); }};
}

/// Fails to compile if a key cannot be compared and copied, or refers to text of others.
template <class Key>
constexpr bool require_key() {
    using Stored = StoredKey<Key>;
    static_assert(std::equality_comparable<Stored> && std::copy_constructible<Stored>,
                  "cudag: a key is compared with those of earlier calls: it must have ==, and a copy constructor");
    static_assert(!has_borrowed_text<Stored>,
                  "cudag: a key owns what it compares: in a tuple or pair, text is a std::string");
    return std::equality_comparable<Stored> && std::copy_constructible<Stored> && !has_borrowed_text<Stored>;
}

} // namespace cudag::detail
