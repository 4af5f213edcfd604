"""How a verb says no."""

import errno

from pyverbs.pyverbs_error import PyverbsError


class VerbsError(Exception):
    """A verb was refused; `name` is the errno's name, such as EINVAL."""

    def __init__(self, name: str, what: str):
        super().__init__(f"{what}: {name}")
        self.name = name


def refusal(error: PyverbsError, what: str) -> VerbsError:
    """The failure of the verb `what`, by the errno that pyverbs carries along."""
    code = getattr(error, "error_code", -1)
    code = 0 if code == -1 else abs(code)  # -1 is what pyverbs has when there was no errno
    return VerbsError(named(code) if code else str(error), what)


def named(code: int) -> str:
    """The name of an errno. Linux gives 95 two, and the field says EOPNOTSUPP."""
    if code == errno.EOPNOTSUPP:
        return "EOPNOTSUPP"
    return errno.errorcode.get(code, f"errno {code}")
