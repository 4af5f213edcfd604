"""Which of the project's dependencies the guest's builder fetches as wheels."""

from pathlib import Path

from rdma_lab import suiteinstall

PROJECT = """
[project]
dependencies = ["pure-thing>=1.0,<2", "built_thing>=3", "other"]
[build-system]
requires = ["setuptools>=77"]
"""


def test_what_debian_has_is_not_fetched(tmp_path: Path, monkeypatch):
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "packages").write_text("# why\npython3-other\npython3-pure\n")
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    asked = []
    monkeypatch.setattr(suiteinstall, "run", asked.extend)
    suiteinstall.fetch_wheels(["pip"], tmp_path, tmp_path / "wheels")
    wanted = asked[asked.index("-d") + 2 :]
    assert wanted == ["pure-thing>=1.0,<2", "built_thing>=3", "setuptools>=77", "pip"]


def test_a_dependency_without_a_wheel_for_every_python_comes_from_debian():
    """MarkupSafe below jinja2 is built for a machine: pip finds no wheel for "any" there."""
    root = Path(__file__).parents[2]
    assert "python3-jinja2" in (root / "lab" / "packages").read_text().split()
