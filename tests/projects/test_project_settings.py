"""The registry of a project's settings has every setting, with the default that a reset gives."""

import pytest

from mailqueue.api.projects.schema import SETTING_BY_FIELD, ProjectSettings
from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.projects import manage as projects_manage
from mailqueue.projects.settings.registry import PROJECT_SETTING_BY_NAME, PROJECT_SETTINGS
from tests import make

pytestmark = pytest.mark.anyio


async def test_it_has_the_settings_of_the_database_and_of_the_api(conn: Conn) -> None:
    stored = await make.scalar(
        conn, "SELECT mailqueue.settings_of_project(p) FROM mailqueue.projects AS p LIMIT 1"
    )
    fields = set(ProjectSettings.model_fields) - {"retention"}

    assert len(PROJECT_SETTING_BY_NAME) == len(PROJECT_SETTINGS)
    assert set(PROJECT_SETTING_BY_NAME) == set(stored)
    assert set(PROJECT_SETTING_BY_NAME) == {SETTING_BY_FIELD.get(each, each) for each in fields}


async def test_a_reset_gives_the_default_and_every_default_can_be_typed(conn: Conn) -> None:
    made = await projects_manage.add(conn, "bare", by="ann")
    everything = {each.name: None for each in PROJECT_SETTINGS}
    bare = await projects_manage.change(conn, made.name, changes=everything, by="ann")
    shown = {each.name: getattr(bare, each.name) for each in PROJECT_SETTINGS}

    assert shown.pop("burst") == 200, "without a rate"
    assert shown == {name: PROJECT_SETTING_BY_NAME[name].default for name in shown}
    typed = {
        each.name: each.value_of(each.text_of(getattr(bare, each.name)))
        for each in PROJECT_SETTINGS
    }
    again = await projects_manage.change(conn, made.name, changes=typed, by="ann")
    assert {name: getattr(again, name) for name in shown} == shown


@pytest.mark.parametrize("text", ["much", "nan", "inf", "-inf", "1e999", "0x10", "1 2"])
def test_what_is_no_number_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidField, match=r"weight: must be a number"):
        PROJECT_SETTING_BY_NAME["weight"].value_of(text)


def test_values_are_read_as_they_are_written() -> None:
    values = {
        "rate_per_second": 2.5,
        "daily_limit": 500,
        "track_opens": True,
        "track_clicks": False,
        "allowed_from": ["example.com", "*.example.com"],
        "postal_address": "1 High Street\nOxford",
        "reply_to": None,
    }

    for name, value in values.items():
        setting = PROJECT_SETTING_BY_NAME[name]
        assert setting.value_of(setting.text_of(value)) == value, name
    assert PROJECT_SETTING_BY_NAME["rate_per_second"].text_of(500.0) == "500"
