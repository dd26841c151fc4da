// cudaStreamGetAttribute, cudaStreamSetAttribute, cudaStreamCopyAttributes.
#include "runtime/call.hpp"
#include "runtime/number_in.hpp"
#include "stream/stream.hpp"

using namespace cudart_cpu::detail;

CUDART_CPU_API cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                                  cudaLaunchAttributeValue* value) {
    return api("cudaStreamGetAttribute", [&] {
        const Stream& asked = stream_of(stream);
        require_pointer(value, "value_out");
        get_attribute(asked, number_in(attribute), *value);
    });
}

CUDART_CPU_API cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                                  const cudaLaunchAttributeValue* value) {
    return api("cudaStreamSetAttribute", [&] {
        Stream& target = stream_of(stream);
        require_pointer(value, "value");
        set_attribute(target, number_in(attribute), *value);
    });
}

CUDART_CPU_API cudaError_t cudaStreamCopyAttributes(cudaStream_t destination, cudaStream_t source) {
    return api("cudaStreamCopyAttributes", [&] {
        Stream& target = stream_of(destination);
        const Stream& origin = stream_of(source);
        target.attributes() = origin.attributes();
        target.set_priority(origin.priority());
    });
}
