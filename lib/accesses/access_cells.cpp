// Cells of memory, cut at the boundaries of accesses.
#include "access_cells.hpp"

#include <algorithm>

namespace cudag::detail {

namespace {

/// A rectangle of rows and columns; `bottom` and `right` are exclusive.
struct Rectangle {
    std::size_t top, bottom;
    std::size_t left, right;
};

constexpr unsigned bit_of(AccessMode mode) {
    return 1U << static_cast<unsigned>(mode);
}

/// Whether all accesses with the modes in these bits commute.
constexpr bool commute(unsigned modes) {
    return (modes & (modes - 1)) == 0 && modes != bit_of(AccessMode::write);
}

void sort_once(std::vector<std::uintptr_t>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

std::uint32_t place_of(std::uintptr_t value, const std::vector<std::uintptr_t>& sorted) {
    return static_cast<std::uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin());
}

} // namespace

/// Memory from `base` on as rows of `pitch` bytes, or as a single row if `pitch` is 0.
class AccessCells::Cutting {
  public:
    Cutting(std::uintptr_t base, std::size_t pitch) : base_(base), pitch_(pitch) {}

    /// Calls `use` with each rectangle of a block.
    template <class Use>
    void for_each_rectangle(const MemoryBlock& block, const Use& use) const {
        for (std::size_t slice = 0; slice < block.slices; ++slice) {
            const std::uintptr_t begin = block.begin - base_ + slice * block.slice_pitch;
            if (block.pitch == pitch_ && block.rows > 1)
                use_rows(begin, block, use);
            else
                for (std::size_t row = 0; row < block.rows; ++row)
                    use_range(begin + row * block.pitch, begin + row * block.pitch + block.row_bytes, use);
        }
    }

    void find_cuts(const std::vector<MemoryBlock>& blocks) {
        rows_.reserve(2 * blocks.size());
        columns_.reserve(2 * blocks.size());
        for (const MemoryBlock& block : blocks)
            for_each_rectangle(block, [this](const Rectangle& part) {
                for (const std::size_t end : {part.top, part.bottom})
                    if (rows_.empty() || rows_.back() != end) rows_.push_back(end);
                for (const std::size_t end : {part.left, part.right})
                    if (columns_.empty() || columns_.back() != end) columns_.push_back(end);
            });
        sort_once(rows_);
        sort_once(columns_);
    }
    [[nodiscard]] std::size_t cells() const { return (rows_.size() - 1) * (columns_.size() - 1); }

    /// Adds the cells of a block to `cells`, which are numbered from `first` on.
    void add_cells(const MemoryBlock& block, std::uint32_t first, std::vector<std::uint32_t>& cells) const {
        const auto row_step = static_cast<std::uint32_t>(columns_.size() - 1);
        for_each_rectangle(block, [&](const Rectangle& part) {
            const std::uint32_t left = place_of(part.left, columns_), right = place_of(part.right, columns_);
            const std::uint32_t bottom = place_of(part.bottom, rows_);
            for (std::uint32_t row = place_of(part.top, rows_); row < bottom; ++row)
                for (std::uint32_t column = left; column < right; ++column)
                    cells.push_back(first + row * row_step + column);
        });
    }

  private:
    /// Uses rows of the pitch of this object; they may begin anywhere in its rows.
    template <class Use>
    void use_rows(std::uintptr_t begin, const MemoryBlock& block, const Use& use) const {
        const std::size_t row = begin / pitch_, left = begin % pitch_, right = left + block.row_bytes;
        use(Rectangle{row, row + block.rows, left, std::min(right, pitch_)});
        if (right > pitch_) use(Rectangle{row + 1, row + 1 + block.rows, 0, right - pitch_});
    }
    template <class Use>
    void use_range(std::uintptr_t begin, std::uintptr_t end, const Use& use) const {
        if (pitch_ == 0) return use(Rectangle{0, 1, begin, end});
        std::size_t row = begin / pitch_;
        if (end <= (row + 1) * pitch_) return use(Rectangle{row, row + 1, begin - row * pitch_, end - row * pitch_});
        if (begin != row * pitch_) {
            use(Rectangle{row, row + 1, begin - row * pitch_, pitch_});
            ++row;
        }
        const std::size_t last = end / pitch_;
        if (row < last) use(Rectangle{row, last, 0, pitch_});
        if (end != last * pitch_) use(Rectangle{last, last + 1, 0, end - last * pitch_});
    }

    std::uintptr_t base_;
    std::size_t pitch_;
    std::vector<std::uintptr_t> rows_{}; ///< boundaries
    std::vector<std::uintptr_t> columns_{};
};

AccessCells::AccessCells(const AccessList& accesses) : parts_(accesses.blocks().size()) {
    for (std::size_t i = 0; i < accesses.size(); ++i)
        parts_[accesses.block_of(i)].modes |= bit_of(accesses.order_of(i).mode);
    const Blocks blocks = accesses.blocks();
    std::vector<Extent> extents;
    extents.reserve(blocks.size());
    for (std::uint32_t i = 0; i < blocks.size(); ++i)
        if (!blocks[i].is_empty()) extents.push_back({blocks[i].begin, blocks[i].end(), i});
    std::ranges::sort(extents, {}, &Extent::begin);
    cells_.reserve(extents.size());
    for (std::size_t first = 0, next = 0; first < extents.size(); first = next) {
        std::uintptr_t end = 0;
        for (; next < extents.size() && (next == first || extents[next].begin < end); ++next)
            end = std::max(end, extents[next].end);
        add_cells(blocks, std::span(extents).subspan(first, next - first));
    }
}

void AccessCells::add_cells(Blocks all, std::span<const Extent> overlapping) {
    unsigned modes = 0;
    for (const Extent& extent : overlapping)
        modes |= parts_[extent.block].modes;
    if (commute(modes)) return;
    if (overlapping.size() > 1) return cut(all, overlapping);
    Part& part = parts_[overlapping.front().block];
    part.first = static_cast<std::uint32_t>(cells_.size());
    part.end = part.first + 1;
    cells_.push_back(size_++);
}

void AccessCells::cut(Blocks all, std::span<const Extent> overlapping) {
    std::vector<MemoryBlock> blocks;
    blocks.reserve(overlapping.size());
    std::size_t pitch = 0;
    std::size_t rows = 0;
    for (const Extent& extent : overlapping) {
        const MemoryBlock& block = blocks.emplace_back(simplified(all[extent.block]));
        rows += block.rows * block.slices;
        if (!block.is_range() && (pitch == 0 || block.pitch < pitch)) pitch = block.pitch;
    }
    const std::uintptr_t base = overlapping.front().begin;
    Cutting cutting(base, pitch);
    cutting.find_cuts(blocks);
    if (pitch != 0 && cutting.cells() > 2 * rows) {
        cutting = Cutting(base, 0);
        cutting.find_cuts(blocks);
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        Part& part = parts_[overlapping[i].block];
        part.first = static_cast<std::uint32_t>(cells_.size());
        cutting.add_cells(blocks[i], size_, cells_);
        part.end = static_cast<std::uint32_t>(cells_.size());
    }
    size_ += static_cast<std::uint32_t>(cutting.cells());
}

} // namespace cudag::detail
