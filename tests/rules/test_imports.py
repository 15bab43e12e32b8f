"""Imports run downhill, each outside package has its home, and no import is hidden."""

import ast
import sys
from collections.abc import Iterable
from fnmatch import fnmatch
from graphlib import CycleError, TopologicalSorter

import pytest

from tests.rules.source import PACKAGE, Import, all_imports, files, imports_of, modules

FOUNDATION = {"core", "contract"}
EDGE = FOUNDATION | {"settings", "ports", "telemetry"}
DATABASE = EDGE | {"db"}
KERNEL = DATABASE | {"vault", "queue"}
JSON_WRITERS = ("core/json/", "core/paging.py", "adapters/", "rendering/", "api/http/docs/")
"""Where orjson is called directly: the writer, and what writes only values of its own making."""
FORMATS = {"smtp", "mime", "dkim", "rendering"}
PAGES = {"web"}
"""What all HTML pages share: imported by the console, the trap and the API's public pages."""
CAPABILITIES = (
    "projects",
    "admin",
    "suppression",
    "contacts",
    "imports",
    "senders",
    "domains",
    "templates",
    "schedules",
    "tracking",
    "events",
    "stream",
    "analytics",
    "mail",
    "submission",
    "inbound",
    "inbox",
    "bridge",
    "webhooks",
    "publishing",
    "traces",
    "timed_events",
    "sequences",
    "watch",
    "trap",
    "operations",
    "audit",
    "maintenance",
    "privacy",
)  # lower first

# What each package of mailqueue may import, besides itself.
ALLOWED: dict[str, set[str]] = {
    "core": set(),
    "contract": set(),
    "settings": FOUNDATION,
    "ports": FOUNDATION,
    "telemetry": FOUNDATION | {"settings"},
    "smtp": EDGE,
    "mime": EDGE,
    "dkim": EDGE,
    "rendering": EDGE,
    "web": {"core"},
    "db": EDGE,
    "vault": DATABASE,
    "embedded": DATABASE,
    "queue": DATABASE | {"vault"},
    **{
        name: KERNEL | FORMATS | set(CAPABILITIES[:place])
        for place, name in enumerate(CAPABILITIES)
    },
    "trap": KERNEL | FORMATS | PAGES | set(CAPABILITIES[: CAPABILITIES.index("trap")]),
    "adapters": EDGE | FORMATS,
    "producer": FOUNDATION,
    "client": FOUNDATION | {"producer"},
    "": FOUNDATION | {"producer"},  # what `import mailqueue` gives
}
_BELOW_THE_ENDS = set(ALLOWED)
ALLOWED |= {
    "portal": _BELOW_THE_ENDS,
    "api": _BELOW_THE_ENDS | {"portal"},
    "console": _BELOW_THE_ENDS,
    "testing": _BELOW_THE_ENDS,
    "wiring": _BELOW_THE_ENDS | {"api", "console"},
    "process": _BELOW_THE_ENDS | {"api", "console", "wiring"},
    "fleet": _BELOW_THE_ENDS | {"process"},
    "everything": _BELOW_THE_ENDS | {"api", "wiring", "process", "fleet"},
    "cli": _BELOW_THE_ENDS | {"api", "console", "wiring", "process", "fleet", "everything"},
    "__main__": {"cli"},
}

# The modules of ours in which each outside package may be used.
HOMES: dict[str, tuple[str, ...]] = {
    "aio_pika": ("adapters.rabbitmq.*",),
    "aiormq": ("adapters.rabbitmq.*",),
    "aiosmtplib": ("smtp.*",),
    "croniter": ("schedules.recurrence",),
    "click": ("cli.*",),
    "crawleruseragents": ("tracking.machines",),
    "css_inline": ("rendering.*",),
    "cryptography": (
        "admin.users.second_factor.codes",
        "admin.users.passwords",
        "adapters.sending.oauth",
        "adapters.inbound.*",
        "vault.*",
        "smtp.*",
        "trap.*",
        "dkim.*",
        "tracking.tokens",
        "webhooks.formats.key_pair",
    ),
    "dns": ("domains.resolver",),
    "flufl": ("inbound.*",),
    "h11": ("adapters.http.*",),
    "httpx2": ("client.*",),
    "idna": ("core.address",),
    "joserfc": ("adapters.oidc.*",),
    "jinja2": (
        "cli.*",
        "console.frame.rendering",
        "db.repeated",
        "portal.frame.rendering",
        "rendering.*",
        "trap.rendering",
        "web.rendering",
    ),
    "jsonschema_rs": ("rendering.*",),
    "markupsafe": ("api.public.*", "api.http.docs.reference", "rendering.*"),
    "obstore": ("adapters.filestores.*",),
    "orjson": ("*",),
    "pamqp": ("adapters.rabbitmq.*",),
    "prometheus_client": ("telemetry.metrics.*", "api.metrics.*", "api.http.request_metrics"),
    "psycopg": ("db.*", "*.store", "*.store.*", "producer.enqueueing"),
    "psycopg_pool": ("db.*",),
    "publicsuffixlist": ("domains.*",),
    "pydantic": ("settings.*", "api.*", "console.*", "portal.*", "web.*"),
    "pydantic_core": ("api.http.validation",),
    "pydantic_settings": (
        "settings.channels",
        "settings.environment",
        "settings.rabbitmq",
        "settings.traces",
        "settings.secret_files",
        "settings.variables",
    ),
    "python_multipart": ("web.forms",),
    "rich": ("cli.*",),
    "segno": ("console.second_factor.*",),
    "starlette": (
        "api.*",
        "console.*",
        "portal.*",
        "trap.pages*",
        "trap.rest",
        "trap.guard",
        "web.*",
    ),
    "structlog": ("telemetry.*",),
    "turbohtml": ("rendering.*", "tracking.*"),
    "tzdata": ("db.time_zones",),
    "ua_parser": ("tracking.*",),
    "uvicorn": ("api.*", "cli.*"),
    "uvloop": ("cli.*",),
    "webauthn": ("admin.users.passkeys.ceremony",),
    "yarl": ("adapters.rabbitmq.*",),
}


def uphill(found: Iterable[Import]) -> list[str]:
    """Return the imports that the table of layers does not allow."""
    return [
        f"{each.where} imports {each.imported}"
        for each in found
        if each.imported.startswith("mailqueue.")
        and _package(each.imported) != _package(each.module)
        and _package(each.imported) not in ALLOWED.get(_package(each.module), set())
    ]


def strays(found: Iterable[Import]) -> list[str]:
    """Return the imports of outside packages outside their homes."""
    return [
        f"{each.where} imports {each.imported}"
        for each in found
        if (outside := each.imported.split(".")[0]) not in {*sys.stdlib_module_names, "mailqueue"}
        and not any(fnmatch(_inside(each.module), home) for home in HOMES.get(outside, ()))
    ]


def foreign_stores(found: Iterable[Import]) -> list[str]:
    """Return the imports of another capability's store; its verbs are called instead."""
    return [
        f"{each.where} imports {each.imported}"
        for each in found
        if each.imported.startswith("mailqueue.")
        and "store" in each.imported.split(".")[2:]
        and _package(each.imported) != "queue"  # the kernel's store is its interface
        and _package(each.imported) != _package(each.module)
    ]


def hidden(found: Iterable[Import]) -> list[str]:
    """Return the imports of project modules inside functions, classes and conditions."""
    return [
        f"{each.where} imports {each.imported}"
        for each in found
        if not each.is_at_top and each.imported.startswith("mailqueue")
    ]


def circle(found: Iterable[Import]) -> list[str]:
    """Return the modules of one circle of imports, or nothing."""
    graph: dict[str, set[str]] = {}
    for each in found:
        if each.imported.startswith("mailqueue."):
            graph.setdefault(each.module, set()).add(each.imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as exc:
        return list(exc.args[1])
    return []


def _package(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def _inside(module: str) -> str:
    return module.removeprefix("mailqueue.")


def test_every_package_has_its_place_in_the_order() -> None:
    unplaced = {_package(name) for name in modules()} - set(ALLOWED) - {""}

    assert not unplaced, f"give these a place in ALLOWED: {sorted(unplaced)}"


def test_imports_run_downhill() -> None:
    assert uphill(all_imports()) == []


def test_outside_packages_stay_in_their_homes() -> None:
    assert strays(all_imports()) == []


def test_no_capability_reads_anothers_tables_by_its_store() -> None:
    assert foreign_stores(all_imports()) == []


def test_no_import_of_ours_is_hidden_in_a_function_or_condition() -> None:
    assert hidden(all_imports()) == []


def test_there_is_no_circle_of_imports() -> None:
    assert circle(all_imports()) == []


@pytest.mark.parametrize(
    ("rule", "module", "source"),
    [
        (uphill, "mailqueue.core.x", "from mailqueue.db.pool import connect"),
        (uphill, "mailqueue.core.x", "from mailqueue import db"),
        (uphill, "mailqueue.adapters.sending.x", "import mailqueue.mail.accept"),
        (uphill, "mailqueue.senders.x", "def f():\n    from mailqueue.mail import accept"),
        (strays, "mailqueue.mail.accept", "import psycopg"),
        (strays, "mailqueue.core.x", "from requests.sessions import Session"),
        (foreign_stores, "mailqueue.mail.x", "from mailqueue.senders.store import read"),
        (foreign_stores, "mailqueue.mail.x", "from mailqueue.senders import store"),
        (hidden, "mailqueue.mail.x", "def f():\n    from mailqueue.core import errors"),
        (hidden, "mailqueue.mail.x", "if 1:\n    from mailqueue.core import errors"),
    ],
)
def test_each_rule_finds_what_it_forbids(rule: object, module: str, source: str) -> None:
    known = frozenset({"mailqueue.db", "mailqueue.senders.store", "mailqueue.mail.accept"})

    found = list(imports_of(module, ast.parse(source), known))

    assert callable(rule)
    assert len(rule(found)) == 1


def test_a_circle_is_found() -> None:
    pairs = [("mailqueue.a.x", "mailqueue.a.y"), ("mailqueue.a.y", "mailqueue.a.x")]

    assert circle(Import(one, other, 1, is_at_top=True) for one, other in pairs)


def test_json_is_written_by_one_function_that_does_not_fail_on_accepted_values() -> None:
    found = [
        name
        for path in files(".py")
        if path.is_relative_to(PACKAGE)
        and not (name := path.relative_to(PACKAGE).as_posix()).startswith(JSON_WRITERS)
        and ("orjson.dumps" in (text := path.read_text("utf-8")) or "from orjson" in text)
    ]

    assert found == []
