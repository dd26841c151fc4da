"""The fat binary in an object of nvcc's: what joins its host half with the translated one."""

import struct

MASK = (1 << 64) - 1


def section(data: bytes, name: bytes) -> bytes:
    """Of a 64-bit little-endian ELF object; empty if there is none."""
    offset, = struct.unpack_from("<Q", data, 0x28)
    size, count, names_at = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]
    names = headers[names_at][4]
    for header in headers:
        start = names + header[0]
        if data[start:data.index(b"\0", start)] == name:
            return data[header[4]:header[4] + header[5]]
    return b""


def fat_binary(object_bytes: bytes) -> tuple[int, int]:
    """Its size and the runtime's hash of it; zeros if the object has none."""
    data = section(object_bytes, b".nv_fatbin")
    if len(data) < 16:
        return 0, 0
    _, _, header, size = struct.unpack_from("<IHHQ", data)
    data = data[:header + size]
    words = struct.unpack(f"<{len(data) // 8}Q", data[:len(data) // 8 * 8])
    weighted = sum((i + 1) * word for i, word in enumerate(words))
    return len(data), (sum(words) & MASK) ^ ((weighted << 1) & MASK)
