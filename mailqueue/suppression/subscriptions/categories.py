"""The categories that a project shows in its preference centre."""

import re
from collections.abc import Mapping

from mailqueue.contract.suppression import Category
from mailqueue.core.errors import Conflict, InvalidField, NotFound
from mailqueue.db.fetch import Conn
from mailqueue.projects.ids import project_id_of
from mailqueue.suppression.acceptable import text_of
from mailqueue.suppression.subscriptions import store

MAX_LANGUAGES = 50
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?")
_MAX_CHARACTERS = {"name": 100, "description": 300}


async def list_(conn: Conn, project: str) -> list[Category]:
    """Return the categories in display order.

    Raises:
        NotFound: there is no such project.
    """
    return await store.list_categories(conn, await project_id_of(conn, project))


async def get(conn: Conn, project: str, *, slug: str) -> Category:
    """Return one category.

    Raises:
        NotFound: there is no category with this slug.
    """
    found = await store.list_categories(conn, await project_id_of(conn, project), slug=slug)
    if not found:
        raise NotFound("category", slug[:100])
    return found[0]


async def add(
    conn: Conn, project: str, *, slug: str, fields: Mapping[str, object], by: str
) -> Category:
    """Add a category with the given fields: name, description, translations, is_required, place.

    Raises:
        Conflict: a category with this slug exists.
        InvalidField: a field is invalid.
    """
    project_id = await project_id_of(conn, project)
    checked = _checked(fields)
    made = await store.put_category(conn, project_id, slug, fields=checked, must_be_new=True, by=by)
    if made is None:
        raise Conflict(f"category {slug}")
    return made


async def change(
    conn: Conn, project: str, *, slug: str, fields: Mapping[str, object], by: str
) -> Category:
    """Change the given fields of a category.

    Raises:
        NotFound: there is no category with this slug.
        InvalidField: a field is invalid.
    """
    project_id = await project_id_of(conn, project)
    if not await store.list_categories(conn, project_id, slug=slug):
        raise NotFound("category", slug[:100])
    made = await store.put_category(
        conn, project_id, slug, fields=_checked(fields), must_be_new=False, by=by
    )
    assert made is not None, "only what must be new is refused by nothing"
    return made


async def remove(conn: Conn, project: str, *, slug: str, by: str) -> None:
    """Remove a category from the preference centre; recipients who unsubscribed stay unsubscribed.

    Raises:
        NotFound: there is no category with this slug.
    """
    if not await store.remove_category(conn, await project_id_of(conn, project), slug, by=by):
        raise NotFound("category", slug[:100])


def translations_of(fields: object) -> dict[str, dict[str, str]]:
    """Return names and descriptions by language. Pure.

    Raises:
        InvalidField: the value is not {"de": {"name": …, "description": …}}.
    """
    if not isinstance(fields, Mapping) or len(fields) > MAX_LANGUAGES:
        raise InvalidField(
            "translations", f"must be an object with up to {MAX_LANGUAGES} languages"
        )
    return {str(tag): _words(tag, words) for tag, words in fields.items()}


def _words(tag: object, words: object) -> dict[str, str]:
    if not isinstance(tag, str) or not _LANGUAGE.fullmatch(tag):
        raise InvalidField(
            "translations", f"a language must be like de or pt-BR, got {str(tag)[:40]!r}"
        )
    if not isinstance(words, Mapping) or not set(words) <= set(_MAX_CHARACTERS):
        raise InvalidField("translations", f"{tag}: name and description are needed")
    found = {}
    for field, most in _MAX_CHARACTERS.items():
        text = text_of("translations", words.get(field))
        if text is not None and len(text) > most:
            raise InvalidField("translations", f"{tag}: {field} may have at most {most} characters")
        if text is not None:
            found[field] = text
    return found


def _checked(fields: Mapping[str, object]) -> dict[str, object]:
    checked = dict(fields)
    for field in ("name", "description"):
        if field in checked:
            checked[field] = text_of(field, checked[field])
    if "translations" in checked:
        checked["translations"] = translations_of(checked["translations"] or {})
    return checked
