"""nvcc's fat binaries: the link between the host half and the translated half, and the PTX in them."""

from __future__ import annotations

import ctypes
import ctypes.util
import re
import struct

MASK = (1 << 64) - 1
MAGIC = 0xBA55ED50
PTX = 1
IN_LZ4 = 0x2000
IN_ZSTD = 0x8000


class NoPtx(Exception):
    """The reason why a fat binary has no PTX to translate."""


def section_place(data: bytes, name: bytes) -> tuple[int, int]:
    """Returns the offset and size of a section of a 64-bit little-endian ELF object; the size is 0 if there is none."""
    offset, = struct.unpack_from("<Q", data, 0x28)
    size, count, names_at = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]
    names = headers[names_at][4]
    for header in headers:
        start = names + header[0]
        if data[start:data.index(b"\0", start)] == name:
            return header[4], header[5]
    return 0, 0


def section(data: bytes, name: bytes) -> bytes:
    begin, size = section_place(data, name)
    return data[begin:begin + size]


def image_of(data: bytes) -> bytes:
    """Returns the fat binary at the beginning of `data`; empty if there is none."""
    if len(data) < 16:
        return b""
    _, _, header, size = struct.unpack_from("<IHHQ", data)
    return data[:header + size]


def size_and_hash(image: bytes) -> tuple[int, int]:
    """Returns the size and the hash, computed as in the runtime."""
    words = struct.unpack(f"<{len(image) // 8}Q", image[:len(image) // 8 * 8])
    weighted = sum((i + 1) * word for i, word in enumerate(words))
    return len(image), (sum(words) & MASK) ^ ((weighted << 1) & MASK)


def is_text(image: bytes) -> bool:
    return b"\0" not in image.rstrip(b"\0")


def text_for(text: str, newest: int) -> str:
    """Returns PTX text unless it is for newer architectures."""
    target = re.search(r"^\s*\.target\s+sm_(\d+)", text, re.MULTILINE)
    if target is None:
        raise NoPtx("its PTX has no .target")
    if int(target[1]) > newest:
        raise NoPtx(f"its PTX is for compute capability {int(target[1]) / 10}, later than {newest / 10}")
    return text


def ptx_of(image: bytes, newest: int) -> str:
    """Returns the PTX for the newest architecture up to `newest`, such as 90: of a fat binary, or text. Throws NoPtx."""
    if is_text(image):
        return text_for(image.rstrip(b"\0").decode(errors="replace"), newest)
    magic, _, at, _ = struct.unpack_from("<IHHQ", image)
    if magic != MAGIC:
        raise NoPtx("its fat binary has a format of its own")
    found = {}
    while at + 64 <= len(image):
        kind, _, header, padded, packed, _, _, architecture = struct.unpack_from("<HHIQIIII", image, at)
        flags, _, size = struct.unpack_from("<QQQ", image, at + 40)
        if kind == PTX:
            found[architecture] = (image[at + header:at + header + padded], flags, packed, size)
        at += header + padded
    fitting = [architecture for architecture in found if architecture <= newest]
    if not fitting and found:
        raise NoPtx(f"its PTX is for compute capability {min(found) / 10}; give nvcc -gencode=arch=compute_90,code=compute_90")
    if not fitting:
        raise NoPtx("it has no PTX, only code for GPUs; give nvcc -gencode=arch=compute_90,code=compute_90, without -rdc=true")
    text, flags, packed, size = found[max(fitting)]
    if flags & IN_ZSTD:
        text = zstd(text[:packed], size)
    elif flags & IN_LZ4:
        text = lz4(text[:packed], size)
    return text.rstrip(b"\0").decode(errors="replace")


def zstd(packed: bytes, size: int) -> bytes:
    name = ctypes.util.find_library("zstd")
    if name is None:
        raise NoPtx("its PTX is compressed; install libzstd.so.1, or give nvcc --compress-mode=none")
    library = ctypes.CDLL(name)
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    text = ctypes.create_string_buffer(size)
    if library.ZSTD_decompress(text, size, packed, len(packed)) != size:
        raise NoPtx("its compressed PTX is damaged")
    return text.raw


def lz4(packed: bytes, size: int) -> bytes:
    """Unpacks a block of LZ4: literals and copies of earlier text, in turn."""
    text = bytearray()
    at = 0

    def length(first: int) -> int:
        nonlocal at
        total = first
        byte = 255
        while first == 15 and byte == 255:
            byte = packed[at]
            at += 1
            total += byte
        return total

    try:
        while at < len(packed):
            token = packed[at]
            at += 1
            literals = length(token >> 4)
            text += packed[at:at + literals]
            at += literals
            if at >= len(packed):
                break
            back = packed[at] | packed[at + 1] << 8
            at += 2
            for _ in range(length(token & 15) + 4):
                text.append(text[-back])
    except IndexError:
        raise NoPtx("its compressed PTX is damaged") from None
    if len(text) != size:
        raise NoPtx("its compressed PTX is damaged")
    return bytes(text)
