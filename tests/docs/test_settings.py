"""docs/settings.md names every setting with its default, and no other."""

import re

from bench.reference import PROGRAM
from service.settings.settings import SETTINGS
from tests.docs.markdown import ROOT

ROW = re.compile(r"^\| `(FRESHET_\w+)` \| (?:`([^`]*)`)? ?\| (.+) \|$", re.MULTILINE)


def test_every_setting_is_documented_with_its_default() -> None:
    rows = ROW.findall((ROOT / "docs/settings.md").read_text())
    assert sorted((variable, default) for variable, default, _ in rows) == sorted(
        (setting.variable, setting.default) for setting in SETTINGS
    )


def test_every_variable_in_the_documents_is_a_setting() -> None:
    client = set(re.findall(r'envvar="(\w+)"', (ROOT / "freshet/command/connection_options.py").read_text()))
    settings = {setting.variable for setting in SETTINGS} | client | {PROGRAM}
    examples = [path for path in (ROOT / "examples").rglob("*") if path.suffix in (".yaml", ".yml", ".json")]
    assert examples
    for path in [ROOT / "README.md", ROOT / "Dockerfile", *examples, *sorted((ROOT / "docs").glob("*.md"))]:
        assert set(re.findall(r"FRESHET_\w+", path.read_text())) <= settings, path.name
