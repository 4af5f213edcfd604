"""What the documents say of re-registration, row by row, against the oracle."""

from conformance.spec import oracle
from conformance.spec.model import Capabilities
from conformance.spec.reregistration import Change, Fault, Reregistered, Way
from conformance.spec.vocabulary import Verdict

from .golden import SEED, Row, agrees, rows

COMMAND, LIBRARY = Way.COMMAND, Way.LIBRARY
MOVE, DOMAIN, ACCESS = Change.TRANSLATION, Change.DOMAIN, Change.ACCESS
CAPS = Capabilities(
    {
        name: f"{name} was probed"
        for name in (
            "ibv_rereg_mr",
            "memory_window_type_2",
            "odp",
            "odp_rc_read",
            "odp_rc_write",
            "rereg_access",
            "rereg_domain",
            "rereg_translation",
        )
    }
)
ANY = ["EACCES", "EBUSY", "EFAULT", "EINVAL", "ENOMEM", "EOPNOTSUPP", "EPERM"]
END = {"dereg": ["OK"], "pinned_left": [0], "left": [[]]}
OPEN, SHUT = ["SUCCESS"], ["REM_ACCESS_ERR"]


def changed(**facts: list) -> dict:
    return {Verdict.PASS: {"result": ["OK"], "new": OPEN, **END, **facts}}


def invalid(*errnos: str) -> dict:
    """Nothing new, and the old contract or none: callers are told not to rely on it."""
    facts = {"result": list(errnos), "new": SHUT, **END}
    return {Verdict.PASS: {**facts, "old": OPEN}, Verdict.NOTE: {**facts, "old": SHUT}}


def unmapped() -> dict:
    """As `invalid`; a driver that has one errno for all that can't be pinned is noted."""
    told = invalid("EFAULT")
    other = {"result": ["ENOMEM"], "new": SHUT, "old": [OPEN[0], SHUT[0]], **END}
    return {Verdict.PASS: told[Verdict.PASS], Verdict.NOTE: [told[Verdict.NOTE], other]}


REREGISTRATION_ROWS = [
    *(
        row
        for way in Way
        for row in (
            Row(
                "REREG-CHANGE",
                Reregistered(way, MOVE),
                changed(bytes=["of the new place"], old_place=SHUT),
                CAPS,
            ),
            Row(
                "REREG-CHANGE",
                Reregistered(way, DOMAIN),
                changed(bytes=["of the old place"], old_domain=SHUT),
                CAPS,
            ),
            Row("REREG-CHANGE", Reregistered(way, ACCESS), changed(write=SHUT), CAPS),
            Row("REREG-CHANGE", Reregistered(way, ACCESS, more=True), changed(write=OPEN), CAPS),
            Row(
                "REREG-CHANGE",
                Reregistered(way, MOVE | DOMAIN | ACCESS),
                changed(bytes=["of the new place"], old_place=SHUT, old_domain=SHUT, write=SHUT),
                CAPS,
            ),
            Row(
                "REREG-INVALID",
                Reregistered(way, Change(0), Fault.NO_FLAGS),
                invalid("EINVAL"),
                CAPS,
            ),
        )
    ),
    *(
        Row("REREG-INVALID", Reregistered(COMMAND, change, fault), invalid(*errnos), CAPS)
        for change, fault, errnos in (
            (ACCESS, Fault.ILLEGAL_ACCESS, ["EINVAL"]),
            (ACCESS | DOMAIN, Fault.ILLEGAL_ACCESS, ["EINVAL"]),
            (ACCESS, Fault.UNDEFINED_BIT, ["EINVAL", "EOPNOTSUPP"]),
            (ACCESS, Fault.UNKNOWN_FLAG, ["EINVAL", "EOPNOTSUPP"]),
            (MOVE, Fault.NO_BYTE, ["EINVAL"]),
            (DOMAIN, Fault.UNKNOWN_DOMAIN, ["EINVAL", "ENOENT"]),
        )
    ),
    Row(
        "REREG-INVALID",
        Reregistered(COMMAND, MOVE, Fault.UNMAPPED),
        unmapped(),
        CAPS,
    ),
    Row(
        "REREG-READ-ONLY",
        Reregistered(COMMAND, ACCESS, Fault.READ_ONLY, more=True),
        {Verdict.PASS: {"result": ANY, "write": SHUT, "seen": [[]], **END}},
        CAPS,
    ),
    Row(
        "REREG-WINDOW",
        Reregistered(COMMAND, DOMAIN, Fault.WINDOW),
        # Refused, and all is as before; or done, and the window has ended with what it was over.
        {
            Verdict.PASS: [
                {"result": ANY, "window": OPEN, **END},
                {"result": ["OK"], "window": SHUT, **END},
            ]
        },
        CAPS,
    ),
]


@rows(REREGISTRATION_ROWS)
def test_the_oracle_says_what_the_documents_say(row: Row):
    agrees(row)


def test_what_the_library_lacks_the_command_may_have():
    claims = dict(CAPS.claims)
    del claims["ibv_rereg_mr"]
    caps = Capabilities(claims, {"ibv_rereg_mr": "it answers EOPNOTSUPP"})
    case = Reregistered(LIBRARY, ACCESS)
    assert oracle.expect(case, caps, SEED).unclaimed == "it answers EOPNOTSUPP"
    assert oracle.expect(Reregistered(COMMAND, ACCESS), caps, SEED).unclaimed is None
