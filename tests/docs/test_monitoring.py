"""docs/monitoring.md, the dashboard and the alerts name metrics that a service shows, with their labels."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml
from prometheus_client.core import Metric

from service.settings.settings import Settings
from tests.docs.markdown import ROOT, blocks
from tests.service.client import Client

DOCUMENT = "docs/monitoring.md"
COMPOSE = ROOT / "examples" / "compose"
DASHBOARD = COMPOSE / "grafana" / "dashboards" / "freshet.json"
ALERTS = COMPOSE / "prometheus" / "alerts.yml"
ROW = re.compile(r"^\| `(freshet_\w+)` \|([^|]*)\| \S.* \|$", re.MULTILINE)
NAME = re.compile(r"\b((?:freshet|process|python)_\w+)\b(?:\{([^}]*)\})?")
OF_PROMETHEUS = {"instance", "job"}


@pytest.fixture(scope="module")
def families(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Metric]]:
    """What a service shows, by the names that are in the documents."""
    with Client(Settings(data=tmp_path_factory.mktemp("monitored"))) as client:
        client.table("t", {"a": "BIGINT"}, key=["a"])
        client.view("v", "SELECT a FROM t")
        client.insert("t", {"a": 1})
        client.deltas("t", {"insert": {"a": 1}})
        found = list(client.app.state.registry.collect())
    yield {it.name + ("_total" if it.type == "counter" else ""): it for it in found}


def base_of(name: str) -> str:
    """The metric of a series: histograms have three."""
    return re.sub("_(bucket|sum|count)$", "", name) if re.search("_seconds_|_requests_", name) else name


def documented() -> dict[str, set[str]]:
    """The labels of each metric in the document's tables."""
    rows = ROW.findall((ROOT / DOCUMENT).read_text())
    assert len(rows) == len({name for name, _ in rows}) > 40
    return {name: set(re.findall(r"`(\w+)`", labels)) for name, labels in rows}


def test_every_metric_is_documented_and_no_other(families: dict[str, Metric]) -> None:
    assert documented().keys() == {name for name in families if name.startswith("freshet_")}


def test_labels_are_documented(families: dict[str, Metric]) -> None:
    """Of the metrics that have series here; the others have their labels from the same tables of code."""
    seen = 0
    for name, labels in documented().items():
        found = {label for sample in families[name].samples for label in sample.labels}
        if found:
            assert found == labels, name
            seen += 1
    assert seen > 15


@cache
def expressions() -> list[tuple[str, str]]:
    """Every expression of the dashboard and the alerts, with where it stands."""
    dashboard = json.loads(DASHBOARD.read_text())
    found = [
        (f"panel {panel['title']}", target["expr"])
        for panel in dashboard["panels"]
        for target in panel.get("targets", ())
    ]
    rules = yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]
    assert len(found) > 25 and len(rules) > 8
    return found + [(f"alert {rule['alert']}", rule["expr"]) for rule in rules]


@pytest.mark.parametrize(("place", "expression"), expressions())
def test_an_expression_asks_for_what_is_there(
    families: dict[str, Metric], place: str, expression: str
) -> None:
    labels = documented()
    plain = re.sub(r'"(?:[^"\\]|\\.)*"', '""', expression)
    names = NAME.findall(plain)
    known: dict[str, set[str]] = defaultdict(set)
    for series, conditions in names:
        name = base_of(series)
        assert name in families, f"{place}: {series}"
        assert (name != series) == (families[name].type == "histogram"), f"{place}: {series}"
        used = set(re.findall(r"(\w+) *(?:=~|!~|!=|=)", conditions))
        assert used <= labels[name] | OF_PROMETHEUS, f"{place}: {series}"
        known[place] |= labels[name]
    grouped = {label.strip() for by in re.findall(r"by \(([^)]*)\)", plain) for label in by.split(",")}
    assert grouped <= known[place] | OF_PROMETHEUS, place
    assert plain.count("(") == plain.count(")") and plain.count("{") == plain.count("}")
    counters = [series for series, _ in names if series.endswith("_total")]
    assert not counters or re.search(r"\b(rate|increase)\(", plain), (
        f"{place}: a counter is asked for its rate"
    )


def test_a_name_that_is_not_there_is_found(families: dict[str, Metric]) -> None:
    for wrong in ("freshet_epoches", "freshet_rows_total", "rate(freshet_queue_seconds[1m])"):
        with pytest.raises(AssertionError):
            test_an_expression_asks_for_what_is_there(families, "here", wrong)
    with pytest.raises(AssertionError):
        test_an_expression_asks_for_what_is_there(families, "here", 'freshet_rows{table="t"}')


def test_routes_of_the_dashboard_are_those_of_the_metrics() -> None:
    """Its patterns match the route of posts, as the metrics have it, and not that of reads."""
    patterns = {
        pattern for _, expression in expressions() for pattern in re.findall(r'route=~"([^"]*)"', expression)
    }
    assert patterns
    for pattern in patterns:
        matcher = re.compile(pattern.replace("\\\\", "\\"))
        assert matcher.fullmatch("/v1/tables/{table}/deltas") and matcher.fullmatch("/v1/deltas")
        assert not matcher.fullmatch("/v1/tables/{table}/rows")


def test_every_alert_is_documented() -> None:
    rules = yaml.safe_load(ALERTS.read_text())["groups"][0]["rules"]
    table = (ROOT / DOCUMENT).read_text().split("## Alerts")[1].split("\n## ")[0]
    assert re.findall(r"^\| `(\w+)`", table, re.MULTILINE) == [rule["alert"] for rule in rules]
    for rule in rules:
        assert rule["annotations"]["summary"] and rule["labels"]["severity"] in ("page", "ticket")


def test_the_example_names_files_that_are_there() -> None:
    compose = yaml.safe_load((ROOT / "examples" / "compose.yaml").read_text())
    assert {"freshet", "postgres", "prometheus", "grafana"} == compose["services"].keys()
    mounts = [mount for service in compose["services"].values() for mount in service.get("volumes", ())]
    for source, *_ in (mount.split(":") for mount in mounts):
        assert source in compose["volumes"] or (ROOT / "examples" / source).exists(), source
    for service in compose["services"].values():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ())), "only this machine"
    given = compose["services"]["freshet"]["environment"]
    settings = Settings.from_environment({**given, "FRESHET_HOST": "0.0.0.0"})
    assert (settings.log_format, settings.open_to_anyone) == ("json", "yes")
    assert settings.url.startswith("postgresql+psycopg://freshet:freshet@postgres/")
    assert "[connect,postgresql,telemetry]" in (ROOT / "Dockerfile").read_text()


def test_what_is_provisioned_fits_together() -> None:
    dashboard = json.loads(DASHBOARD.read_text())
    source = yaml.safe_load(next(COMPOSE.rglob("datasources/*.yml")).read_text())["datasources"][0]
    provider = yaml.safe_load(next(COMPOSE.rglob("provisioning/dashboards/*.yml")).read_text())
    scrape = yaml.safe_load((COMPOSE / "prometheus" / "prometheus.yml").read_text())
    assert scrape["rule_files"] == [ALERTS.name]
    assert scrape["scrape_configs"][0]["static_configs"] == [{"targets": ["freshet:8000"]}]
    used = {panel["datasource"]["uid"] for panel in dashboard["panels"] if "datasource" in panel}
    assert used == {source["uid"]}
    home = Path(provider["providers"][0]["options"]["path"]) / DASHBOARD.name
    compose = yaml.safe_load((ROOT / "examples" / "compose.yaml").read_text())
    environment = compose["services"]["grafana"]["environment"]
    assert environment["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"] == str(home)
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(ids)) == len(ids)
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24, panel["title"]
        assert panel["type"] == "row" or panel["description"], panel["title"]


def test_the_line_of_the_log_that_is_shown_has_the_members_of_one() -> None:
    shown = next(json.loads(block.text) for block in blocks(DOCUMENT) if block.language == "json")
    members = {"time", "level", "logger", "message", "request", "method", "path", "route", "status"}
    assert shown.keys() == members | {"milliseconds", "code"}
