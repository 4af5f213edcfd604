"""Protection domains, and the memory that is registered in them."""

from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.pyverbs_error import PyverbsError
from pyverbs.wr import SGE

from rdma_conformance.endpoint.books import BOOKS, DOMAIN, REGION
from rdma_conformance.endpoint.verbs.device import Device
from rdma_conformance.endpoint.verbs.errors import refusal

try:
    from pyverbs.mr import MREx
except ImportError:  # before release 60
    HAS_IOVA = False
else:
    HAS_IOVA = True


def allocate_domain(device: Device) -> PD:
    try:
        with BOOKS.opening(DOMAIN) as opened:
            made = PD(device.context)
            opened(made)
        return made
    except PyverbsError as error:
        raise refusal(error, "ibv_alloc_pd") from None


def deallocate_domain(pd: PD) -> None:
    """ibv_dealloc_pd(). pyverbs would end what it knows to be in the domain first."""
    try:
        with BOOKS.closing(pd):
            pd.close()
    except PyverbsError as error:
        raise refusal(error, "ibv_dealloc_pd") from None


def register(pd: PD, address: int, length: int, access: int, iova: int | None = None) -> MR:
    """ibv_reg_mr() of memory that the suite owns: pyverbs must never choose the memory.

    With an `iova` it is ibv_reg_mr_ex(), which pyverbs has from release 60 on (`HAS_IOVA`).
    """
    try:
        if iova is not None:
            made = MREx(pd, length=length, access=access, address=address, iova=iova)
        else:
            # The C function takes an int, and bit 31 is its sign.
            made = MR(pd, length, access - (access >> 31 << 32), address=address)
    except PyverbsError as error:
        raise refusal(error, "ibv_reg_mr" if iova is None else "ibv_reg_mr_ex") from None
    BOOKS.region(made, (address, length, access))
    return made


def register_everything(pd: PD, access: int) -> MR:
    """ibv_reg_mr() of NULL and SIZE_MAX: an implicit region for on-demand paging."""
    try:
        made = MR(pd, 0, access, implicit=True)
    except PyverbsError as error:
        raise refusal(error, "ibv_reg_mr") from None
    BOOKS.opened(REGION, made)
    return made


def advise(pd: PD, advice: int, flags: int, place: tuple[int, int, int]) -> None:
    """ibv_advise_mr() of one place: address, length and lkey."""
    try:
        pd.advise_mr(advice, flags, [SGE(*place)])
    except PyverbsError as error:
        raise refusal(error, "ibv_advise_mr") from None


def reregister(region: MR, wanted: dict[str, int], domain: PD) -> None:
    """ibv_rereg_mr(); `wanted` are flags, address, length and access."""
    access = wanted["access"]
    try:
        with BOOKS.changing(region):
            region.rereg(wanted["flags"], domain, wanted["address"], wanted["length"], access)
    except PyverbsError as error:
        raise refusal(error, "ibv_rereg_mr") from None


def deregister(region: MR) -> None:
    try:
        region.close()
    except PyverbsError as error:
        BOOKS.stayed(region)
        raise refusal(error, "ibv_dereg_mr") from None
    BOOKS.closed(region)
