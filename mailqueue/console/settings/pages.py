"""The settings of a project: every one with its meaning, unit and default; those changed marked."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from itertools import groupby

from starlette.responses import Response

from mailqueue.admin import settings
from mailqueue.admin.users.model import Right
from mailqueue.console.frame.context import DoneBefore, PageContext
from mailqueue.console.frame.navigation import MenuEntry
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.frame.rendering import project_path
from mailqueue.core.errors import InvalidField
from mailqueue.projects import manage as projects_manage
from mailqueue.projects.model import Project
from mailqueue.projects.settings.model import (
    ProjectSetting,
    ProjectSettingKind,
    SettingGroup,
)
from mailqueue.projects.settings.registry import PROJECT_SETTING_BY_NAME, PROJECT_SETTINGS
from mailqueue.templates.pictures import keeping
from mailqueue.web.rendering import sentence

PATH = "/console/projects/{project}/settings"
CHANGE = f"{PATH}/change"
DONE = {
    "changed": "The settings were changed. They take effect at once.",
    "same": "No setting differs; nothing was changed.",
    "before": "This was done before, and was not done again.",
}
_IN_FORM = tuple(each for each in PROJECT_SETTINGS if each.kind is not ProjectSettingKind.DOCUMENT)
"""The settings that are fields; documents have pages of their own."""
_MEANWHILE = (
    "Somebody changed this project meanwhile. The fields show what you typed; compare them."
)


@dataclass(frozen=True, slots=True)
class SettingField:
    """A setting as its form shows it."""

    setting: ProjectSetting
    is_changed: bool
    """Whether it has another value than that of a reset."""
    now: str
    """Its value now, as text."""


async def show_settings(context: PageContext) -> Response:
    """Show every setting."""
    return await _shown(context)


async def change_settings(context: PageContext) -> Response:
    """Change the settings that were typed differently; all or none."""
    form = context.form
    try:
        async with context.acting_once(on_installation=True) as conn:
            project = await projects_manage.find_by_id(conn, context.seen.id)
            if form.get("version") != version_of(project):
                raise ChangedMeanwhile
            changes = changed_settings(project, form)
            if changes:
                await projects_manage.change(
                    conn, project.name, changes=changes, by=context.user.by
                )
    except DoneBefore:
        return _done(context, "before")
    except ChangedMeanwhile:
        return await _shown(context, form, status=HTTPStatus.CONFLICT, note=_MEANWHILE)
    except InvalidField as exc:
        return await _shown(
            context,
            form,
            {exc.field: sentence(exc.why)},
            status=HTTPStatus.UNPROCESSABLE_ENTITY,
            note="Nothing was changed.",
        )
    return _done(context, "changed" if changes else "same")


def changed_settings(project: Project, form: Mapping[str, str]) -> dict[str, object]:
    """Return the values of a form that differ from those of a project. Pure.

    Raises:
        InvalidField: the value of a setting cannot be read.
    """
    changes: dict[str, object] = {}
    for each in _IN_FORM:
        typed = form.get(each.name, "").replace("\r\n", "\n").strip()
        if each.kind is ProjectSettingKind.FLAG:
            typed = "on" if typed == "on" else "off"
        if typed != each.text_of(getattr(project, each.name)).strip():
            changes[each.name] = each.value_of(typed)
    return changes


def version_of(project: Project) -> str:
    """Return what changes with every change of a project. Pure."""
    return project.updated_at.isoformat()


class ChangedMeanwhile(Exception):
    """What a form changes is not what it was made for."""


async def _shown(
    context: PageContext,
    typed: Mapping[str, str] | None = None,
    faults: Mapping[str, str] | None = None,
    *,
    status: int = HTTPStatus.OK,
    note: str = "",
) -> Response:
    async with context.connection() as conn:
        project = await projects_manage.find_by_id(conn, context.seen.id)
        retention = await settings.retention_of(conn, project.id)
        pictures = await keeping.list_all(conn, project.id)
    fields = [_field(each, project) for each in _IN_FORM]
    order = list(SettingGroup)
    fields.sort(key=lambda field: order.index(field.setting.group))
    return context.page(
        "settings/settings.html",
        status=status,
        groups=[
            (str(group), list(members))
            for group, members in groupby(fields, key=lambda field: field.setting.group)
        ],
        typed=typed or {field.setting.name: field.now for field in fields},
        faults=faults or {},
        note=note,
        version=version_of(project),
        retention=retention,
        pictures=pictures,
        own_texts=PROJECT_SETTING_BY_NAME["page_texts"],
        languages=sorted(project.page_texts or {}),
        may_change=context.may(Right.ADMINISTER),
        done=DONE.get(context.query("done"), ""),
    )


def _field(setting: ProjectSetting, project: Project) -> SettingField:
    value = getattr(project, setting.name)
    default = setting.default
    if setting.name == "burst" and default is None:
        is_changed = False  # a project without a burst of its own shows that of its rate
    else:
        is_changed = setting.text_of(value) != setting.text_of(default)
    return SettingField(setting, is_changed, setting.text_of(value))


def _done(context: PageContext, done: str) -> Response:
    return context.redirect(project_path(context.seen.name, "settings", done=done))


PAGES = (
    ConsolePage("GET", PATH, Right.READ, show_settings, menu=MenuEntry("Settings", "Project")),
    ConsolePage("GET", CHANGE, Right.ADMINISTER, show_settings),
    ConsolePage("POST", CHANGE, Right.ADMINISTER, change_settings),
)
