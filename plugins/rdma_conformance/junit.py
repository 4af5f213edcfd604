"""What pytest's own --junitxml tells beside the outcomes: device, requirement, verdict."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
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


@contextmanager
def last(config: pytest.Config) -> Iterator[Written]:
    """Within, pytest does not write its XML; at the end it does, and may fail.

    By itself it would end pytest with a traceback, and the hooks behind it were never called.
    """
    written = Written()
    xml = config.stash.get(xml_key, None)
    if xml is not None:
        config.pluginmanager.unregister(xml)
    yield written
    if xml is None:
        return
    try:
        xml.pytest_sessionfinish()
    except OSError as error:
        if Path(xml.logfile).is_file():  # half of it says less than none
            with suppress(OSError):
                Path(xml.logfile).unlink()
        del config.stash[xml_key]  # else pytest would say that it is there
        written.trouble = (
            f"--junitxml={xml.logfile} cannot be written: {error.strerror}. Make room or name "
            "another file"
        )
    else:
        config.pluginmanager.register(xml)
