"""Cache of compiled template versions."""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from mailqueue.db.fetch import Conn
from mailqueue.rendering.compiled import CompiledTemplate, Compiler, Rendered, TemplateSource
from mailqueue.rendering.contexts.links import LATER
from mailqueue.rendering.faults import Exceeded
from mailqueue.rendering.schema import Schema
from mailqueue.telemetry.log import get_logger
from mailqueue.templates import store
from mailqueue.templates.model import VersionSource

log = get_logger(__name__)

MAX_KEPT = 256
MAX_CHARACTERS = 8 * 1024 * 1024
"""Size of the cache, in characters of source; compiled they take several times as much."""
MAX_STRIKES = 5
"""Consecutive mails of a version that exceed the limits, after which further mails fail
unrendered.
"""
RESTED = 500
"""Mails that then fail unrendered before one is rendered again."""

TemplateKey = tuple[UUID, str]


class CachedVersion:
    """One version in one language, compiled when its first mail is rendered."""

    __slots__ = (
        "_compiled_template",
        "_compiler",
        "_resting",
        "_schema",
        "_source",
        "_strikes",
        "_why",
        "characters",
        "names_links",
        "used",
    )

    def __init__(self, compiler: Compiler, source: VersionSource) -> None:
        self._compiler = compiler
        self._source = source
        self._compiled_template: CompiledTemplate | None = None
        self._schema: Schema | None = None
        self._strikes = 0
        self._resting = 0
        self._why = ""
        self.used = 0
        """Units of work of its last render; compiling it counts with its first."""
        texts = (source.html or "", source.text or "", *source.parts.values())
        self.characters = sum(map(len, texts))
        # Whether the template contains unsubscribe links of its own.
        self.names_links = any(name in text for name in LATER for text in (source.subject, *texts))

    def render(self, variables: Mapping[str, Any]) -> Rendered:
        """Return the rendered content of one mail; another thread may render at the same time.

        Raises:
            TemplateFault: it cannot be rendered with these variables.
            Exceeded: this mail, or too many mails of this version before it, exceeded the limits.
        """
        with self._compiler.turn:
            return self._rendered(variables)

    def _rendered(self, variables: Mapping[str, Any]) -> Rendered:
        self.used = 0
        if self._resting > 0:
            self._resting -= 1
            raise Exceeded(f"not tried, as {MAX_STRIKES} mails before it failed: {self._why}")
        if self._compiled_template is None:
            self.used = self.characters  # about half a microsecond for each
            self._compiled_template = self._compiler.compiled(_source(self._source))
        try:
            rendered = self._compiled_template.render(variables)
        except Exceeded as exc:
            self._why = str(exc)
            self._strikes += 1
            log.warning(
                "template.exceeded",
                version=str(self._source.version_id),
                language=self._source.language,
                why=self._why,
                in_a_row=self._strikes,
            )
            if self._strikes >= MAX_STRIKES:
                self._resting = RESTED
                self._strikes = MAX_STRIKES - 1
            raise
        finally:
            self.used += self._compiled_template.used
        self._strikes = 0
        return rendered

    @property
    def is_compiled(self) -> bool:
        """Return whether its next render need not compile it."""
        return self._compiled_template is not None

    def check(self, variables: Mapping[str, Any]) -> None:
        """Validate variables against the version's schema.

        Raises:
            TemplateFault: naming the first invalid variable.
        """
        # Nothing but the schema: compiling the texts may take a second.
        if self._schema is None and self._source.schema is not None:
            self._schema = Schema(self._source.schema)
        if self._schema is not None:
            self._schema.check(variables)


class TemplateCache:
    """Compiled template versions of one process. They never change, so entries never expire."""

    def __init__(self, max_count: int = MAX_KEPT, max_characters: int = MAX_CHARACTERS) -> None:
        self._compiler = Compiler()
        self._max_count = max_count
        self._max_characters = max_characters
        self._kept: OrderedDict[TemplateKey, CachedVersion] = OrderedDict()
        self._characters = 0

    async def fetch(
        self, conn: Conn, wanted_keys: Iterable[TemplateKey]
    ) -> dict[TemplateKey, CachedVersion]:
        """Return these versions in these languages; deleted ones are left out."""
        keys = set(wanted_keys)
        missing = [key for key in keys if key not in self._kept]
        found = {key: self._kept[key] for key in keys if key in self._kept}
        if missing:
            for source in await store.read_sources(conn, missing):
                key = (source.version_id, source.language)
                self._kept[key] = found[key] = CachedVersion(self._compiler, source)
                self._characters += found[key].characters
        for key in found:
            self._kept.move_to_end(key)
        while len(self._kept) > self._max_count or self._characters > self._max_characters:
            _, oldest = self._kept.popitem(last=False)
            self._characters -= oldest.characters
        return found


def _source(source: VersionSource) -> TemplateSource:
    return TemplateSource(
        subject=source.subject,
        html=source.html,
        text=source.text,
        parts=source.parts,
        schema=source.schema,
    )
