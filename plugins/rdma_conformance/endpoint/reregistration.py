"""Re-registration by one end, through the library or by the command itself."""

from typing import Any

from conformance.spec.reregistration import Change, Way
from conformance.spec.vocabulary import Access
from conformance.spec.window import Domain
from rdma_conformance.endpoint import verbs
from rdma_conformance.endpoint.arena import Area
from rdma_conformance.endpoint.bench import Bench
from rdma_conformance.endpoint.books import BOOKS
from rdma_conformance.endpoint.verbs import Reregistration, VerbsError

_MISSING = "EOPNOTSUPP"


class Reregistrations:
    """Changes the regions of a `Bench`."""

    def __init__(self, bench: Bench):
        self._bench = bench

    def change(self, name: str, way: str, wanted: dict[str, Any]) -> dict[str, Any]:
        """Change a region: result is OK or the errno, and the keys that hold after.

        `wanted`: flags, address, length, access, and domain by name, or none for one that is
        not there.
        """
        bench = self._bench
        made = bench.regions[name]
        keys = {"lkey": int(made.lkey), "rkey": int(made.rkey)}
        try:
            if way == Way.LIBRARY:
                verbs.reregister(made, wanted, bench.domains[wanted["domain"]])
                keys = {"lkey": int(made.lkey), "rkey": int(made.rkey)}
            else:
                with BOOKS.changing(made):
                    lkey, rkey = bench.commands.reregister(self._command(made, wanted))
                keys = {"lkey": lkey, "rkey": rkey}
        except VerbsError as refused:
            return {"result": refused.name, **keys}
        return {"result": "OK", **keys}

    def _command(self, made: Any, wanted: dict[str, Any]) -> Reregistration:
        domain = self._bench.domains.get(wanted["domain"])
        return Reregistration(
            region=int(made.handle),
            flags=wanted["flags"],
            address=wanted["address"],
            length=wanted["length"],
            domain=0x7FFFFFF0 if domain is None else int(domain.handle),
            access=wanted["access"],
        )

    def probe(self) -> dict[str, dict[str, str]]:
        """Claims and denials of each change by the command, and of ibv_rereg_mr(), by trying."""
        found: dict[str, dict[str, str]] = {"claims": {}, "denials": {}}
        bench = self._bench
        places = (Area(1), Area(1))
        access = int(Access.LOCAL_WRITE)
        trials = [(f"rereg_{each.name.lower()}", Way.COMMAND, each) for each in Change]
        for name, way, flags in [*trials, ("ibv_rereg_mr", Way.LIBRARY, Change.ACCESS)]:
            domain = bench.domains[Domain.OWN]
            made = verbs.register(domain, places[0].address, 1, access)
            bench.regions[name] = made
            wanted = {"flags": int(flags), "address": 0, "length": 0, "access": 0}
            if flags is Change.TRANSLATION:
                wanted |= {"address": places[1].address, "length": 1}
            result = self.change(name, way, {**wanted, "domain": Domain.OTHER.value})["result"]
            told = "claims" if result != _MISSING else "denials"
            what = "ibv_rereg_mr()" if way is Way.LIBRARY else "the command REREG_MR"
            found[told][name] = f"{what} with {flags.name} answers {result}"
        bench.clear()
        for place in places:
            place.close()
        return found
