"""What `deploy` has for Prometheus and Grafana, judged by promtool."""

import json
import re

import pytest

from tests.deploy.files import FOLDER, ROOT, RULES, dashboards, promtool

TESTS = ("alerts_test.yml", "days_test.yml")
GUIDE = ROOT / "docs" / "monitoring.md"


@pytest.mark.prometheus
def test_promtool_accepts_the_configuration_and_the_tests_of_the_alerts() -> None:
    promtool("check", "config", "prometheus.yml")
    promtool("test", "rules", *TESTS)


def test_every_alert_is_tested_and_has_a_section_in_the_guide() -> None:
    tested = "".join((FOLDER / each).read_text() for each in TESTS)
    headings = set(re.findall(r"^### (\w+)$", GUIDE.read_text(), re.MULTILINE))

    assert {rule["alert"] for rule in RULES} == headings
    for rule in RULES:
        name = rule["alert"]
        assert re.search(rf"alertname: {name}\n\s+exp_alerts:", tested), name
        assert rule["annotations"]["runbook"] == f"docs/monitoring.md#{name.lower()}"


def test_the_dashboard_is_what_the_program_makes() -> None:
    made = dashboards()

    assert json.loads(made.FILE.read_text()) == made.dashboard()
