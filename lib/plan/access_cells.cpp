// The memory that accesses touch, cut where one of them begins or ends.
#include "access_cells.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace cudag::detail {

namespace {

/// Of rows and columns, the first ones and one past the last ones.
struct Rectangle {
    std::size_t top, bottom;
    std::size_t left, right;
};

constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

constexpr unsigned bit_of(AccessMode mode) {
    return 1U << static_cast<unsigned>(mode);
}

/// Whether all accesses commute, of which these bits are the modes.
constexpr bool commute(unsigned modes) {
    return std::has_single_bit(modes) && modes != bit_of(AccessMode::write);
}

std::size_t hash_of(const MemoryRegion& region) {
    std::uint64_t bits = region.begin;
    for (const std::uint64_t part : {region.row_bytes, region.rows, region.slices})
        bits = (std::rotl(bits, 23) ^ part) * 0x9E3779B97F4A7C15U;
    return bits ^ bits >> 32;
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

    /// Calls `use` with the rectangles that a region is.
    template <class Use>
    void for_each_rectangle(const MemoryRegion& region, const Use& use) const {
        for (std::size_t slice = 0; slice < region.slices; ++slice) {
            const std::uintptr_t begin = region.begin - base_ + slice * region.slice_pitch;
            if (region.pitch == pitch_ && region.rows > 1)
                use_rows(begin, region, use);
            else
                for (std::size_t row = 0; row < region.rows; ++row)
                    use_range(begin + row * region.pitch, begin + row * region.pitch + region.row_bytes, use);
        }
    }

    void find_cuts(std::span<const Begin> overlapping, const std::vector<Region>& regions) {
        for (const Begin& begin : overlapping)
            for_each_rectangle(regions[begin.region].bytes, [this](const Rectangle& part) {
                rows_.insert(rows_.end(), {part.top, part.bottom});
                columns_.insert(columns_.end(), {part.left, part.right});
            });
        sort_once(rows_);
        sort_once(columns_);
    }
    [[nodiscard]] std::size_t cells() const { return (rows_.size() - 1) * (columns_.size() - 1); }

    void add_blocks(Region& region, std::uint32_t first_cell, std::vector<Block>& blocks) const {
        const auto row_step = static_cast<std::uint32_t>(columns_.size() - 1);
        region.first_block = static_cast<std::uint32_t>(blocks.size());
        for_each_rectangle(region.bytes, [&](const Rectangle& part) {
            const std::uint32_t row = place_of(part.top, rows_), column = place_of(part.left, columns_);
            blocks.push_back({first_cell + row * row_step + column, place_of(part.right, columns_) - column,
                              place_of(part.bottom, rows_) - row, row_step});
        });
        region.blocks = static_cast<std::uint32_t>(blocks.size()) - region.first_block;
    }

  private:
    /// Rows that are as far apart as those of this, and may begin anywhere in them.
    template <class Use>
    void use_rows(std::uintptr_t begin, const MemoryRegion& region, const Use& use) const {
        const std::size_t row = begin / pitch_, left = begin % pitch_, right = left + region.row_bytes;
        use(Rectangle{row, row + region.rows, left, std::min(right, pitch_)});
        if (right > pitch_) use(Rectangle{row + 1, row + 1 + region.rows, 0, right - pitch_});
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
    std::vector<std::uintptr_t> rows_{}; ///< where one begins or ends
    std::vector<std::uintptr_t> columns_{};
};

AccessCells::AccessCells(std::span<const MemoryAccess> accesses) {
    find_regions(accesses);
    std::vector<Begin> begins;
    begins.reserve(regions_.size());
    for (std::uint32_t i = 0; i < regions_.size(); ++i)
        if (!regions_[i].bytes.is_empty()) begins.push_back({regions_[i].bytes.begin, i});
    std::ranges::sort(begins, {}, &Begin::address);
    blocks_.reserve(begins.size());
    for (std::size_t first = 0, next = 0; first < begins.size(); first = next) {
        std::uintptr_t end = 0;
        for (; next < begins.size() && (next == first || begins[next].address < end); ++next)
            end = std::max(end, regions_[begins[next].region].bytes.end());
        add_cells(std::span(begins).subspan(first, next - first));
    }
}

void AccessCells::find_regions(std::span<const MemoryAccess> accesses) {
    region_of_.resize(accesses.size());
    const std::size_t mask = std::bit_ceil(2 * accesses.size() + 1) - 1;
    std::vector<std::uint32_t> table(mask + 1, none);
    for (std::size_t i = 0; i < accesses.size(); ++i) {
        const MemoryRegion bytes = simplified(accesses[i].region);
        std::size_t slot = hash_of(bytes) & mask;
        while (table[slot] != none && regions_[table[slot]].bytes != bytes)
            slot = (slot + 1) & mask;
        if (table[slot] == none) {
            table[slot] = static_cast<std::uint32_t>(regions_.size());
            regions_.push_back({bytes, 0});
        }
        region_of_[i] = table[slot];
        regions_[table[slot]].modes |= bit_of(accesses[i].mode);
    }
}

void AccessCells::add_cells(std::span<const Begin> overlapping) {
    unsigned modes = 0;
    for (const Begin& begin : overlapping)
        modes |= regions_[begin.region].modes;
    if (commute(modes)) return;
    if (overlapping.size() > 1) return cut(overlapping);
    Region& region = regions_[overlapping.front().region];
    region.first_block = static_cast<std::uint32_t>(blocks_.size());
    region.blocks = 1;
    blocks_.push_back({size_++});
}

void AccessCells::cut(std::span<const Begin> overlapping) {
    std::size_t pitch = 0;
    std::size_t rows = 0;
    for (const Begin& begin : overlapping) {
        const MemoryRegion& bytes = regions_[begin.region].bytes;
        rows += bytes.rows * bytes.slices;
        if (pitch == 0 || (!bytes.is_range() && bytes.pitch < pitch)) pitch = bytes.pitch;
    }
    const std::uintptr_t base = overlapping.front().address;
    Cutting cutting(base, pitch);
    cutting.find_cuts(overlapping, regions_);
    if (pitch != 0 && cutting.cells() > 2 * rows) {
        cutting = Cutting(base, 0);
        cutting.find_cuts(overlapping, regions_);
    }
    for (const Begin& begin : overlapping)
        cutting.add_blocks(regions_[begin.region], size_, blocks_);
    size_ += static_cast<std::uint32_t>(cutting.cells());
}

} // namespace cudag::detail
