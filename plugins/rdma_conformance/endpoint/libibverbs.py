"""Verbs called in libibverbs itself: what pyverbs has no way to say, and calls without its lock.

An address of 0 with a length, every way to register, and threads that register at once. Such a
region carries no data: its protection domain is this module's own, which no queue pair is of.
"""

import ctypes
import errno
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from functools import cache
from typing import Any

from conformance.spec.buffer import Verb
from rdma_conformance.endpoint.books import BOOKS, CONTEXT, DOMAIN


class _MemoryRegion(ctypes.Structure):
    """struct ibv_mr"""

    _fields_ = (
        ("context", c_void_p),
        ("pd", c_void_p),
        ("addr", c_void_p),
        ("length", c_size_t),
        ("handle", c_uint32),
        ("lkey", c_uint32),
        ("rkey", c_uint32),
    )


class Refused(Exception):
    """A call failed; `name` is the errno's name, or `errno 0` when it set none."""

    def __init__(self, call: str, code: int):
        name = errno.errorcode.get(code, f"errno {code}")
        self.name = "EOPNOTSUPP" if code == errno.EOPNOTSUPP else name
        super().__init__(f"{call}: {self.name}")


@cache
def _library() -> Any:
    library = ctypes.CDLL("libibverbs.so.1", use_errno=True)
    region = POINTER(_MemoryRegion)
    for name, result, arguments in (
        ("ibv_get_device_list", POINTER(c_void_p), (c_void_p,)),
        ("ibv_free_device_list", None, (POINTER(c_void_p),)),
        ("ibv_get_device_name", c_char_p, (c_void_p,)),
        ("ibv_open_device", c_void_p, (c_void_p,)),
        ("ibv_close_device", c_int, (c_void_p,)),
        ("ibv_alloc_pd", c_void_p, (c_void_p,)),
        ("ibv_dealloc_pd", c_int, (c_void_p,)),
        ("ibv_reg_mr", region, (c_void_p, c_void_p, c_size_t, c_int)),
        ("ibv_reg_mr_iova", region, (c_void_p, c_void_p, c_size_t, c_uint64, c_int)),
        ("ibv_reg_mr_iova2", region, (c_void_p, c_void_p, c_size_t, c_uint64, c_uint32)),
        ("ibv_dereg_mr", c_int, (region,)),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


class Domain:
    """A device opened anew, with a protection domain in it. Raises Refused."""

    def __init__(self, device: str):
        library = _library()
        devices = library.ibv_get_device_list(None)
        try:
            self._context = None
            for each in _listed(devices):
                if library.ibv_get_device_name(each).decode() == device:
                    with BOOKS.opening(CONTEXT) as opened:
                        self._context = _made("ibv_open_device", each)
                        opened(None, key=(CONTEXT, self._context))
        finally:
            if devices:
                library.ibv_free_device_list(devices)
        if self._context is None:
            raise Refused(f"ibv_open_device({device})", errno.ENODEV)
        with BOOKS.opening(DOMAIN) as opened:
            self._domain = _made("ibv_alloc_pd", self._context)
            opened(None, key=(DOMAIN, self._domain))

    def register(
        self, address: int, length: int, access: int, verb: str = Verb.REG_MR, iova: int = 0
    ) -> Any:
        """The region, by the call that `verb` names; `iova` is for those that take one."""
        arguments = [self._domain, address, length, access]
        if verb != Verb.REG_MR:
            arguments.insert(3, iova)
        made = _made(verb, *arguments)
        BOOKS.region(made, (address, length, access))
        return made

    def deregister(self, region: Any) -> None:
        ctypes.set_errno(0)
        if code := _library().ibv_dereg_mr(region):
            BOOKS.stayed(region)
            raise Refused("ibv_dereg_mr", code)
        BOOKS.closed(region)

    def abandon(self) -> None:
        """Close the device and leave protection domain and regions to the kernel.

        Only in a process of its own: the books are not told.
        """
        if code := _library().ibv_close_device(self._context):
            raise Refused("ibv_close_device", abs(code))

    def close(self) -> None:
        if not _library().ibv_dealloc_pd(self._domain):
            BOOKS.closed((DOMAIN, self._domain))
        if not _library().ibv_close_device(self._context):
            BOOKS.closed((CONTEXT, self._context))


def keys(region: Any) -> tuple[int, int]:
    """lkey and rkey of a region that `Domain.register` returned."""
    return region.contents.lkey, region.contents.rkey


def _listed(devices: Any) -> list[int]:
    found = []
    while devices and devices[len(found)]:
        found.append(devices[len(found)])
    return found


def _made(call: str, *arguments: Any) -> Any:
    """What the call of that name makes; NULL is a refusal with errno."""
    ctypes.set_errno(0)
    made = getattr(_library(), call)(*arguments)
    if not made:
        raise Refused(call, ctypes.get_errno())
    return made
