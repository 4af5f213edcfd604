"""The worker's side of the channel: take requests, perform them, answer.

Requests are {"id", "do", ...}; answers {"id", "result"} or {"id", "error": {"kind", "message",
"traceback"}}. Kinds: `pyverbs` (not importable here), `verbs` (a verb was refused while
preparing), `suite` (all else). They travel as JSON texts: what the channel itself makes of
nested data costs ten times as much.
"""

import ctypes
import json
import os
import traceback
from dataclasses import asdict
from operator import attrgetter
from typing import Any

from conformance.spec.vocabulary import PAGE
from rdma_conformance.device import list_devices, plain
from rdma_conformance.endpoint import capabilities, privileges
from rdma_conformance.endpoint.leak_guard import Guard, watch
from rdma_conformance.endpoint.pair import Pair
from rdma_conformance.plants import HONEST, PLANTS

PROTOCOL = 4  # counted up with every change of requests, facts or cases
# What a whole run has registered at a time, with room to spare: a refusal for want of it would
# look like the driver's.
PIN_ROOM = 64 << 20
# prctl(2)
PR_SET_NAME = 15
_libc = ctypes.CDLL(None, use_errno=True)


def serve(channel: Any, protocol: int) -> None:
    """Answer requests until the channel closes.

    `protocol` is what the controller speaks: on another host another release may be installed.
    """
    _detach()
    channel.send(json.dumps({"pid": os.getpid(), "protocol": PROTOCOL}))
    if protocol != PROTOCOL:
        return
    session = Session()
    try:
        for message in channel:
            request = json.loads(message)
            channel.send(json.dumps({"id": request["id"], **session.answer(request)}))
    except EOFError:
        pass  # the controller is gone
    finally:
        session.close()


def _detach() -> None:
    """Leave the terminal's process group, and die with the parent, however that ends."""
    os.setpgid(0, 0)
    privileges.die_with_parent(os.getppid())


def _show_phase(phase: str) -> None:
    """Name this thread after the phase: seen from outside even when a verb never returns.

    A message ahead of the answer would say the same, at a fifth of the cost of a case.
    """
    _libc.prctl(PR_SET_NAME, phase.encode(), 0, 0, 0)


class Session:
    """The ends that this worker has open and the pair that they make."""

    def __init__(self) -> None:
        self._ends: dict[str, Any] = {}
        self._pair: Pair
        self._guard: Guard

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """`{"result": ...}` or `{"error": ...}`: nothing that goes wrong ends the worker."""
        try:
            return {"result": self._perform(**request)}
        except ImportError as error:
            return _error("pyverbs", error)
        except Exception as error:
            verb_refused = type(error).__name__ == "VerbsError"
            return _error("verbs" if verb_refused else "suite", error)

    def _perform(self, id: int, do: str, **payload: Any) -> Any:
        return getattr(self, f"do_{do}")(**payload)

    def do_device(self, name: str) -> dict[str, Any] | None:
        """What this host's sysfs shows of a device, or None when there is none of that name."""
        return next((plain(each) for each in list_devices() if each.name == name), None)

    def do_open(self, end: str, device: str, port: int, gid_index: int) -> None:
        """Open a device of this host as the end named `end`.

        Raises RuntimeError for a host whose pages or limits would answer in the driver's place.
        """
        size = os.sysconf("SC_PAGE_SIZE")
        if size != PAGE:
            raise RuntimeError(
                f"pages of this host have {size} bytes, and the suite counts in pages of {PAGE}: "
                "boot a kernel with pages of that size"
            )
        privileges.raise_memlock()
        room = privileges.may_pin()
        if room is not None and room < PIN_ROOM:
            raise RuntimeError(
                f"this process may pin {room >> 10} kB (RLIMIT_MEMLOCK), and the suite pins up to "
                f"{PIN_ROOM >> 10} kB: ulimit -Hl unlimited, or run as root"
            )
        from rdma_conformance.endpoint.end import End  # noqa: PLC0415 - needs pyverbs

        self._ends[end] = End(device, port, gid_index)

    def do_identify(self, end: str) -> dict[str, Any]:
        """The attributes of an opened end, and what they claim."""
        attributes = self._ends[end].attributes()
        found = capabilities.read(attributes)
        probed = self._ends[end].probe()
        return {
            "attributes": attributes,
            "claims": {**found.claims, **probed["claims"]},
            "denials": {**found.denials, **probed["denials"]},
        }

    def do_pair(self, plant: str | None) -> None:
        """Make a pair of this worker's ends `requester` and `responder`."""
        fault = PLANTS[plant] if plant else HONEST
        self._pair = Pair(self._ends["requester"], self._ends["responder"], fault, self._asked)

    def do_guard(self) -> str:
        """Watch from now on over what is open; returns what of it, in words."""
        self._guard = watch(list(self._ends.values()))
        return self._guard.describe()

    def do_leftovers(self, thorough: bool, performed: int = 0) -> list[dict[str, Any]]:
        """What was left behind since this was asked last; see `Guard.check`.

        So many cases were `performed` meanwhile by a pair that lives elsewhere.
        """
        self._guard.count(performed)
        return [asdict(each) for each in self._guard.check(thorough)]

    def do_plant(self, name: str) -> None:
        """Plant another fault in the pair."""
        self._pair.planted = PLANTS[name]

    def do_perform(self, cases: list[dict[str, Any]], seed: int) -> dict[str, Any]:
        """The observations of cases, by the pair, and the leftovers.

        None in place of these when they can't be told: who asks again by `do_leftovers` hears why.
        """
        self._guard.count(1)
        _show_phase("control")
        observations = self._pair.perform(cases, seed)
        _show_phase("control")
        try:
            leftovers = self.do_leftovers(thorough=False)
        except Exception:  # it takes no answer of the driver's with it
            leftovers = None
        return {"observations": observations, "leftovers": leftovers}

    def _asked(self) -> None:
        """From here on a lack of an answer is the driver's."""
        _show_phase("asked")

    def do_call(self, end: str, method: str, arguments: list[Any]) -> Any:
        """Call a method of an end or of its parts, for a pair that lives elsewhere."""
        return attrgetter(method)(self._ends[end])(*arguments)

    def close(self) -> None:
        for end in self._ends.values():
            end.close()


def _error(kind: str, error: BaseException) -> dict[str, Any]:
    trace = "".join(traceback.format_exception(error))
    return {"error": {"kind": kind, "message": str(error), "traceback": trace}}
