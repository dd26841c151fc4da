// FewOf: a vector with room for its first elements inside itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>

namespace cudag::detail {

/// A vector that allocates only for more than `Few` elements. Moves never fail. A move of up to `Few` elements moves
/// them one by one, and invalidates references to them.
template <class Element, std::size_t Few>
class FewOf {
    static_assert(std::is_nothrow_copy_constructible_v<Element> && std::is_nothrow_move_constructible_v<Element>);

  public:
    using value_type = Element;

    FewOf() noexcept {}
    FewOf(std::initializer_list<Element> list) : FewOf(list.begin(), list.end()) {}
    FewOf(const Element* first, const Element* last) : FewOf() { append(first, last); }
    FewOf(const FewOf& other) : FewOf(other.begin(), other.end()) {}
    FewOf(FewOf&& other) noexcept { take(other); }
    FewOf& operator=(const FewOf& other) { return *this = FewOf(other); }
    FewOf& operator=(FewOf&& other) noexcept {
        if (this == &other) return *this;
        release();
        take(other);
        return *this;
    }
    ~FewOf() { release(); }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] Element* data() noexcept { return many_ == nullptr ? reinterpret_cast<Element*>(few_) : many_; }
    [[nodiscard]] const Element* data() const noexcept {
        return many_ == nullptr ? reinterpret_cast<const Element*>(few_) : many_;
    }
    [[nodiscard]] Element* begin() noexcept { return data(); }
    [[nodiscard]] const Element* begin() const noexcept { return data(); }
    [[nodiscard]] Element* end() noexcept { return data() + size_; }
    [[nodiscard]] const Element* end() const noexcept { return data() + size_; }
    [[nodiscard]] Element& operator[](std::size_t index) noexcept { return data()[index]; }
    [[nodiscard]] const Element& operator[](std::size_t index) const noexcept { return data()[index]; }
    [[nodiscard]] Element& front() noexcept { return *data(); }
    [[nodiscard]] const Element& front() const noexcept { return *data(); }

    void push_back(const Element& element) { add(element); }
    void push_back(Element&& element) { add(std::move(element)); }
    /// Appends elements from outside this list.
    void append(const Element* first, const Element* last) {
        const std::size_t count = size_ + static_cast<std::size_t>(last - first);
        if (count > room()) reserve(std::max(count, 2 * room()));
        for (; first != last; ++first)
            add(*first);
    }
    /// Makes room for `count` elements in all: adding up to this number cannot fail afterwards.
    void reserve(std::size_t count) {
        if (count > room()) use_memory(allocate(count), count);
    }
    template <class Gone>
    void erase_if(const Gone& gone) {
        Element* const rest = std::remove_if(begin(), end(), gone);
        std::destroy(rest, end());
        size_ = static_cast<std::uint32_t>(rest - data());
    }
    void clear() noexcept {
        std::destroy_n(data(), size_);
        size_ = 0;
    }

  private:
    [[nodiscard]] std::size_t room() const noexcept { return Few + more_; }
    [[nodiscard]] static Element* allocate(std::size_t count) { return std::allocator<Element>().allocate(count); }

    template <class Given>
    void add(Given&& element) {
        if (size_ == room()) [[unlikely]]
            return add_in_new_memory(std::forward<Given>(element));
        std::construct_at(end(), std::forward<Given>(element));
        ++size_;
    }
    template <class Given>
    [[gnu::noinline]] void add_in_new_memory(Given&& element) {
        const std::size_t count = 2 * room();
        Element* const memory = allocate(count);
        std::construct_at(memory + size_, std::forward<Given>(element)); // first: `element` may be in this list
        use_memory(memory, count);
        ++size_;
    }
    void use_memory(Element* memory, std::size_t count) noexcept {
        std::uninitialized_move_n(data(), size_, memory);
        release();
        many_ = memory;
        more_ = static_cast<std::uint32_t>(count - Few);
    }
    /// Takes the elements and the memory of `other`, and leaves it empty. This list must have neither.
    void take(FewOf& other) noexcept {
        size_ = other.size_;
        more_ = std::exchange(other.more_, 0);
        many_ = std::exchange(other.many_, nullptr);
        if (many_ == nullptr) {
            std::uninitialized_move_n(other.data(), size_, data());
            std::destroy_n(other.data(), size_);
        }
        other.size_ = 0;
    }
    void release() noexcept {
        std::destroy_n(data(), size_);
        if (many_ != nullptr) [[unlikely]]
            std::allocator<Element>().deallocate(many_, room());
    }

    Element* many_ = nullptr; ///< null while there are few
    std::uint32_t size_ = 0;
    std::uint32_t more_ = 0; ///< the room beyond `Few`
    alignas(Element) std::byte few_[Few * sizeof(Element)];
};

} // namespace cudag::detail
