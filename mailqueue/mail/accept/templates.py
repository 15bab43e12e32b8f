"""Validate mail that names a template before it is queued: SQL checks only names and types."""

from collections.abc import Sequence

from mailqueue.core.errors import InvalidField
from mailqueue.db.fetch import Conn
from mailqueue.mail.accept.enqueue import NewEmail
from mailqueue.projects.ids import project_id_of
from mailqueue.templates.accepting import ChosenVersion, choose
from mailqueue.templates.cache import TemplateCache


async def faults_of(
    conn: Conn, template_cache: TemplateCache, emails: Sequence[NewEmail], *, project: str
) -> list[InvalidField | None]:
    """Return the fault in the template or variables of each mail; None where there is none.

    Raises:
        NotFound: there is no such project.
    """
    chosen: dict[tuple[object, object], ChosenVersion | InvalidField] = {}
    faults: list[InvalidField | None] = []
    for email in emails:
        template, language = email.options.get("template"), email.options.get("language")
        if not isinstance(template, str):
            faults.append(None)
            continue
        key = (template, language)
        if key not in chosen:
            chosen[key] = await _chosen(conn, template_cache, template, language, project=project)
        faults.append(_fault(chosen[key], email.options.get("variables", {})))
    return faults


async def _chosen(
    conn: Conn, template_cache: TemplateCache, template: str, language: object, *, project: str
) -> ChosenVersion | InvalidField:
    project_id = await project_id_of(conn, project)
    tag = language if isinstance(language, str) else None
    try:
        return await choose(conn, template_cache, project_id, template=template, language=tag)
    except InvalidField as exc:
        return exc


def _fault(chosen: ChosenVersion | InvalidField, variables: object) -> InvalidField | None:
    if isinstance(chosen, InvalidField):
        return chosen
    if not isinstance(variables, dict):
        return InvalidField("variables", "an object of names and values is needed")
    try:
        chosen.check(variables)
    except InvalidField as exc:
        return exc
    return None
