"""What pytest's own --junitxml tells beside the outcomes: device, requirement, verdict."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from _pytest.junitxml import xml_key

from rdma_reports.junit import case_properties, properties


def tell_run(config: pytest.Config, header: Mapping[str, Any]) -> None:
    """Write what a run file's header says as properties of the test suite, if XML is asked for."""
    xml = config.stash.get(xml_key, None)
    if xml is None:
        return
    for name, value in properties(header).items():
        xml.add_global_property(name, value)


def tell_case(item: pytest.Item, record: Mapping[str, Any]) -> None:
    """Give a case's requirement, level and verdict to the reports of its item that follow."""
    item.user_properties.extend(case_properties(record).items())


@dataclass
class Written:
    """What became of the XML; `trouble` says why it is not there."""

    trouble: str | None = None


def guard(config: pytest.Config) -> Written:
    """Make pytest's writing of its XML, if it is asked for, say that it failed in what is returned.

    By itself it ends pytest with a traceback, and the hooks behind it are never called.
    """
    written = Written()
    xml = config.stash.get(xml_key, None)
    if xml is None:
        return written
    write, manager = xml.pytest_sessionfinish, config.pluginmanager

    def pytest_sessionfinish() -> None:
        try:
            write()
        except OSError as error:
            path = Path(xml.logfile)
            if path.is_file():  # half of it says less than none
                with suppress(OSError):
                    path.unlink()
            reason = f"--junitxml={path} cannot be written: {error.strerror}"
            written.trouble = f"{reason}. Make room or name another file"
            del config.stash[xml_key]
            manager.unregister(xml)  # it would say that the file is there

    manager.unregister(xml)
    xml.pytest_sessionfinish = pytest_sessionfinish
    manager.register(xml)
    return written
