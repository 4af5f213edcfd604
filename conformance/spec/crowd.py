"""Many regions: over the same memory, at once, in a row; and memory that changes under a region."""

from dataclasses import dataclass

from conformance.spec.vocabulary import PAGE, Operation

SIZE = 64  # bytes that an operation carries


@dataclass(frozen=True, slots=True)
class Part:
    """A registration of `length` bytes from `offset` of memory that others register, too."""

    access: int
    offset: int = 0
    length: int = 2 * PAGE


@dataclass(frozen=True, slots=True)
class Overlap:
    """`operation` at offset `at` of memory that is registered twice, by each key; then the first
    region is deregistered, and both keys are tried again."""

    operation: Operation
    first: Part
    second: Part
    at: int = PAGE

    @property
    def id(self) -> str:
        parts = (f"{each.offset}+{each.length}:{int(each.access):x}" for each in self._parts())
        return f"{self.operation}-at:{self.at}-" + "-".join(parts)

    def _parts(self) -> tuple[Part, Part]:
        return self.first, self.second


@dataclass(frozen=True, slots=True)
class Crowd:
    """`processes` with `threads` each register at once, until each thread has `count` regions."""

    processes: int
    threads: int
    count: int

    @property
    def id(self) -> str:
        return f"processes:{self.processes}-threads:{self.threads}-regions:{self.count}"


@dataclass(frozen=True, slots=True)
class Churn:
    """`count` registrations in a row, each deregistered before the next."""

    count: int

    @property
    def id(self) -> str:
        return f"registrations:{self.count}"


@dataclass(frozen=True, slots=True)
class Limit:
    """Register `count` regions that all live, or as many as the device has room for; then end
    them all."""

    count: int | None = None

    @property
    def id(self) -> str:
        return "max_mr" if self.count is None else f"regions:{self.count}"


@dataclass(frozen=True, slots=True)
class Listed:
    """What the kernel's list of memory regions shows of one of `length` bytes."""

    length: int

    @property
    def id(self) -> str:
        return f"length:{self.length}"


@dataclass(frozen=True, slots=True)
class Forked:
    """A process with a region of `length` bytes at `offset` of a page forks; both write there."""

    length: int
    offset: int

    @property
    def id(self) -> str:
        return f"{self.length}@{self.offset}"


@dataclass(frozen=True, slots=True)
class Remapped:
    """`length` bytes from the start of a page are registered, then unmapped, and other memory is
    mapped at their address."""

    length: int
    on_demand: bool = False

    @property
    def id(self) -> str:
        return f"length:{self.length}" + ("-on_demand" if self.on_demand else "")


Crowded = Overlap | Crowd | Churn | Limit | Listed | Forked | Remapped
