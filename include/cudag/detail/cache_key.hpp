// What a CaptureCache's keys are without their types.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace cudag::detail {

template <class K>
concept TextKey = std::convertible_to<const K&, std::string_view>;

/// What a key is kept as: text as a string, for a view or a pointer may come to mean other text.
template <class K>
using StoredKey = std::conditional_t<TextKey<K>, std::string, std::decay_t<K>>;

template <class K>
decltype(auto) stored_key(const K& key) {
    if constexpr (std::same_as<K, StoredKey<K>>)
        return (key);
    else if constexpr (TextKey<K>)
        return std::string(std::string_view(key));
    else
        return StoredKey<K>(key);
}

template <class K>
concept TupleKey = requires(const K& key) {
    std::tuple_size<K>::value;
    std::get<0>(key);
};

template <class K>
constexpr bool has_borrowed_text = TextKey<K> && !std::same_as<K, std::string>;
template <class... E>
constexpr bool has_borrowed_text<std::tuple<E...>> = (has_borrowed_text<E> || ...);
template <class A, class B>
constexpr bool has_borrowed_text<std::pair<A, B>> = has_borrowed_text<A> || has_borrowed_text<B>;

template <class K>
std::size_t hash_of_key(const K& key) {
    if constexpr (requires {
                      { std::hash<K>()(key) } -> std::convertible_to<std::size_t>;
                  }) {
        return std::hash<K>()(key);
    } else if constexpr (TupleKey<K>) {
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

/// "\"decode\"", "17", "(4, 128)"; "?" where it cannot be told.
template <class K>
std::string text_of_key(const K& key) {
    if constexpr (std::same_as<K, bool>) {
        return key ? "true" : "false";
    } else if constexpr (std::is_arithmetic_v<K>) {
        return std::to_string(key);
    } else if constexpr (std::is_enum_v<K>) {
        return std::to_string(static_cast<std::underlying_type_t<K>>(key));
    } else if constexpr (TextKey<K>) {
        return '"' + std::string(std::string_view(key)) + '"';
    } else if constexpr (TupleKey<K>) {
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

/// A key that somebody else holds.
struct KeyView {
    const void* key;
    const std::type_info& type;
    std::size_t hash;
    bool (*equal)(const void* a, const void* b);
    std::shared_ptr<const void> (*copy)(const void* key);
    std::string (*text)(const void* key);
};

template <class K>
KeyView view_of_key(const K& key) {
    return {&key,
            typeid(K),
            hash_of_key(key),
            [](const void* a, const void* b) -> bool { return *static_cast<const K*>(a) == *static_cast<const K*>(b); },
            [](const void* k) -> std::shared_ptr<const void> { return std::make_shared<K>(*static_cast<const K*>(k)); },
            [](const void* k) { return text_of_key(*static_cast<const K*>(k)); }};
}

template <class K>
constexpr bool require_key() {
    using Key = StoredKey<K>;
    static_assert(std::equality_comparable<Key> && std::copy_constructible<Key>,
                  "cudag: a key is compared with those of earlier calls: it must have ==, and a copy constructor");
    static_assert(!has_borrowed_text<Key>,
                  "cudag: a key owns what it compares: in a tuple or pair, text is a std::string");
    return std::equality_comparable<Key> && std::copy_constructible<Key> && !has_borrowed_text<Key>;
}

} // namespace cudag::detail
