"""How a verb says no."""

import errno

from pyverbs.pyverbs_error import PyverbsError

# What the host, its limits or its policies answer: it says nothing of what a device can do.
_HOSTS = frozenset({"EPERM", "EACCES", "ENOMEM", "EMFILE", "ENFILE", "EINTR", "EIO", "ENODEV"})


class VerbsError(Exception):
    """A verb was refused; `name` is the errno's name, such as EINVAL."""

    def __init__(self, name: str, what: str):
        super().__init__(f"{what}: {name}")
        self.name = name

    def denial(self) -> str:
        """The name, if it can mean that the device does not do it. Raises itself else."""
        if self.name in _HOSTS:
            raise self
        return self.name


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
