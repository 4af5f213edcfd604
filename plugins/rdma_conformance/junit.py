"""What pytest's own --junitxml tells beside the outcomes: device, requirement, verdict."""

from collections.abc import Mapping
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
