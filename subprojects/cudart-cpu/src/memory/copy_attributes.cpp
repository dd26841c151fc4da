// Checks of the parameters of batches of copies.
#include "copy_attributes.hpp"

#if CUDART_VERSION >= 12080

#include "runtime/call.hpp"
#include "runtime/number_in.hpp"
#include "runtime/text.hpp"

namespace cudart_cpu::detail {

int checked_order(const cudaMemcpySrcAccessOrder& order) {
    const int number = number_in(order);
    if (number < cudaMemcpySrcAccessOrderStream || number > cudaMemcpySrcAccessOrderAny)
        fail(cudaErrorInvalidValue, text("source access order ", number, " is unknown"));
    return number;
}

void require_copy_flags(unsigned flags) {
    if (flags > cudaMemcpyFlagPreferOverlapWithCompute)
        fail(cudaErrorInvalidValue, text("the flags of a copy, ", flags, ", do not exist"));
}

void require_attributes(const CopyBatch& batch) {
    if (batch.count == 0) return;
    require_pointer(batch.destinations, "dsts");
    require_pointer(batch.sources, "srcs");
    require_pointer(batch.sizes, "sizes");
    require_pointer(batch.attributes, "attrs");
    require_pointer(batch.first_of_attributes, "attrsIdxs");
    if (batch.attribute_count == 0 || batch.attribute_count > batch.count)
        fail(cudaErrorInvalidValue, text(batch.attribute_count, " sets of attributes for ", batch.count, " copies"));
    for (std::size_t i = 0; i < batch.attribute_count; ++i) {
        const std::size_t first = batch.first_of_attributes[i];
        const bool in_order = i == 0 ? first == 0 : first > batch.first_of_attributes[i - 1];
        if (!in_order || first >= batch.count)
            fail(cudaErrorInvalidValue, text("attributes ", i, " begin at copy ", first, " of ", batch.count));
        checked_order(batch.attributes[i].srcAccessOrder);
        require_copy_flags(batch.attributes[i].flags);
    }
}

} // namespace cudart_cpu::detail

#endif
