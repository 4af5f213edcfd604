"""Takes the uncompressed kernel out of a bzImage, to spare the guest the decompression.

Source of the format: the kernel's Documentation/arch/x86/boot.rst.
"""

from __future__ import annotations

import gzip
import lzma
import shutil
import struct
import subprocess
import zlib

_SETUP_SECTORS = 0x1F1
_MAGIC = 0x202
_PAYLOAD = 0x248  # offset and length, little-endian, from the end of the setup sectors
_SIZE_FIELD = 4  # the build appends the uncompressed size to the payload


def uncompressed(image: bytes) -> bytes | None:
    """The ELF image inside ``image``, or None when it can't be had (then boot the bzImage)."""
    if image[_MAGIC : _MAGIC + 4] != b"HdrS":
        return None
    sectors = image[_SETUP_SECTORS] or 4
    offset, length = struct.unpack_from("<II", image, _PAYLOAD)
    start = (sectors + 1) * 512 + offset
    payload = image[start : start + length]
    try:
        kernel = _decompressed(payload)
    except (OSError, lzma.LZMAError, zlib.error, subprocess.CalledProcessError):
        return None
    return kernel if kernel and kernel.startswith(b"\x7fELF") else None


def _decompressed(payload: bytes) -> bytes | None:
    body = payload[:-_SIZE_FIELD]
    if payload.startswith(b"\xfd7zXZ"):
        return lzma.LZMADecompressor().decompress(payload)
    if payload.startswith(b"\x1f\x8b"):
        return gzip.decompress(body)
    if payload.startswith(b"\x28\xb5\x2f\xfd") and shutil.which("zstd"):
        done = subprocess.run(
            ["zstd", "-dc"],
            input=body,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=True,
        )
        return done.stdout
    return None
