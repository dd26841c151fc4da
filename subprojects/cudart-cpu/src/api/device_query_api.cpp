// Searches for devices: by properties, and by place on the PCI bus.
#include "memory/channels.hpp"
#include "runtime/call.hpp"
#include "runtime/device_model.hpp"
#include "runtime/text.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

using namespace cudart_cpu::detail;

namespace {

/// The size of "0000:01:00.0" with its terminator.
constexpr std::size_t pci_id_size = 13;

/// Takes a hexadecimal number from the front of `id`.
bool take_number(std::string_view& id, unsigned& number) {
    const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), number, 16);
    if (error != std::errc{}) return false;
    id.remove_prefix(static_cast<std::size_t>(end - id.data()));
    return true;
}

bool take(std::string_view& id, char separator) {
    if (!id.starts_with(separator)) return false;
    id.remove_prefix(1);
    return true;
}

struct PciPlace {
    unsigned domain = 0;
    unsigned bus = 0;
    unsigned device = 0;
    unsigned function = 0;
};

/// Parses "domain:bus:device.function", "domain:bus:device" or "bus:device.function", all hexadecimal.
PciPlace parse(std::string_view id) {
    const std::string_view whole = id;
    std::array<unsigned, 3> parts{};
    std::size_t count = 0;
    bool well_formed = true;
    do {
        well_formed = take_number(id, parts[count++]);
    } while (well_formed && count < parts.size() && take(id, ':'));
    PciPlace place;
    const bool has_function = well_formed && take(id, '.');
    if (has_function) well_formed = take_number(id, place.function);
    if (!well_formed || !id.empty() || !(count == 3 || (count == 2 && has_function)))
        fail(cudaErrorInvalidValue, text('"', whole, "\" is not of the form domain:bus:device.function"));
    const std::size_t first = count == 3 ? 1 : 0;
    place.domain = first == 1 ? parts[0] : 0;
    place.bus = parts[first];
    place.device = parts[first + 1];
    return place;
}

} // namespace

CUDART_CPU_API cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties) {
    return api("cudaChooseDevice", [&] {
        require_pointer(device, "device");
        require_pointer(properties, "prop");
        *device = 0; // all devices are alike
    });
}

CUDART_CPU_API cudaError_t cudaSetValidDevices(int* devices, int count) {
    return api_without_context("cudaSetValidDevices", [&] {
        if (count < 0 || count > static_cast<int>(device_count()))
            fail(cudaErrorInvalidValue, text(count, " devices named of ", device_count()));
        if (count > 0) require_pointer(devices, "device_arr");
        for (int i = 0; i < count; ++i)
            require_device(devices[i]);
        set_preferred_device(count > 0 ? devices[0] : 0); // every device works, so the first one is taken
    });
}

CUDART_CPU_API cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
    return api("cudaDeviceGetPCIBusId", [&] {
        require_pointer(id, "pciBusId");
        require_device(device);
        if (length < static_cast<int>(pci_id_size))
            fail(cudaErrorInvalidValue, text(length, " characters are too few for a PCI bus id of ", pci_id_size));
        std::snprintf(id, pci_id_size, "0000:%02X:00.0", static_cast<unsigned>(pci_bus_of(device)) & 0xFFU);
    });
}

CUDART_CPU_API cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
    return api("cudaDeviceGetByPCIBusId", [&] {
        require_pointer(device, "device");
        require_pointer(id, "pciBusId");
        const PciPlace place = parse(id);
        for (int one = 0; one < static_cast<int>(device_count()); ++one) {
            const bool there = place.domain == 0 && place.device == 0 && place.function == 0;
            if (there && place.bus == static_cast<unsigned>(pci_bus_of(one))) {
                *device = one;
                return;
            }
        }
        fail(cudaErrorInvalidDevice, text("no device is at ", id));
    });
}

CUDART_CPU_API cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(std::size_t* width, const cudaChannelFormatDesc* desc,
                                                                int device) {
    return api("cudaDeviceGetTexture1DLinearMaxWidth", [&] {
        require_pointer(width, "maxWidthInElements");
        require_pointer(desc, "fmtDesc");
        require_device(device);
        static_cast<void>(element_bytes_of(*desc));
        *width = max_linear_texels;
    });
}
