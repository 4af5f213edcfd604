"""One registration on trial: made, looked at, and taken back."""

import contextlib
from typing import Any

from conformance.spec.memory import image
from conformance.spec.vocabulary import Access
from rdma_conformance.endpoint import verbs
from rdma_conformance.endpoint.accounting import PinnedMemory
from rdma_conformance.endpoint.accounts import Accounts
from rdma_conformance.endpoint.agreement import NONE
from rdma_conformance.endpoint.arena import Area
from rdma_conformance.endpoint.books import BOOKS


class Trials:
    """Registers memory of the suite, one region at a time, and watches what that pins."""

    def __init__(self, domain: Any, device: str):
        self._domain = domain
        self._accounts = Accounts(device)
        self._pinned = PinnedMemory()
        self._areas: dict[tuple[int, int], Area] = {}
        self._stuck: list[Any] = []
        self._made: Any = None
        self._pinned_by_registering = 0
        self.area: Area

    def register(self, access: int, length: int, page_offset: int, seed: int) -> dict[str, Any]:
        """Register; `result` is OK or the errno, `reported` what the binding shows otherwise.

        Of a refusal `left` says what another one like it leaves behind.
        """
        key = (length, page_offset)
        if key not in self._areas:
            self._areas[key] = Area(length, page_offset)
        self.area = self._areas[key]
        self.area.fill(image(seed, "local", length))
        before = self._pinned.kilobytes()
        answer: dict[str, Any] = {"result": "OK", "reported": "as asked"}
        try:
            self._made = verbs.register(self._domain, self.area.address, length, access)
        except verbs.VerbsError as refused:
            answer["result"] = refused.name
        else:
            answer["reported"] = self._reported()
        self._pinned_by_registering = self._pinned.kilobytes() - before
        if self._made is None:
            answer["left"] = self._left(access, length)
        return answer

    def _left(self, access: int, length: int) -> list[str]:
        """What a registration that is refused leaves; one that is not refused again, too."""
        before = self._accounts.balance()
        with contextlib.suppress(verbs.VerbsError):
            self._stuck.append(verbs.register(self._domain, self.area.address, length, access))
        return self._accounts.left(before)

    @property
    def lkey(self) -> int:
        return int(self._made.lkey)

    def _reported(self) -> str:
        found = {"address": int(self._made.buf), "length": int(self._made.length)}
        asked = {"address": self.area.address, "length": self.area.length}
        differing = [f"{name} {found[name]:#x}" for name in asked if found[name] != asked[name]]
        return ", ".join(differing) or "as asked"

    def deregister(self, leak: bool) -> dict[str, Any]:
        """`dereg` is OK, an errno or none; `pinned_left` is what stays pinned (VmPin), in kB.

        What is pinned between the two calls, by the connection that uses the region, is not
        counted. With `leak` a page stays pinned, as by a driver that loses count.
        """
        before = self._pinned.kilobytes()
        result = NONE
        if self._made is not None:
            result = "OK"
            try:
                verbs.deregister(self._made)
            except verbs.VerbsError as refused:
                self._stuck.append(self._made)  # ends with the process: trying again tells nothing
                result = refused.name
            self._made = None
        if leak:
            area = Area(1)
            made = verbs.register(self._domain, area.address, 1, Access.LOCAL_WRITE)
            BOOKS.closed(made)
            self._stuck += [area, made]
        released = before - self._pinned.kilobytes()
        return {"dereg": result, "pinned_left": self._pinned_by_registering - released}

    def close(self) -> None:
        for area in self._areas.values():
            area.close()
        self._accounts.close()
        self._pinned.close()
