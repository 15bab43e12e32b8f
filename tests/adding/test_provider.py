"""A provider is added in four files beside tests and documentation, and passes every contract."""

from pathlib import Path

from tests.adding.copied import Copy

HERE = Path(__file__).parent / "provider"
MAX_FILES = 4
ROW = """\
    SPARKPOST = (
        "sparkpost",
        ProviderFacts(
            "SparkPost",
            "https://developers.sparkpost.com/api/transmissions/",
            settings={"ip_pool": _TEXT, **_OF_ALL_APIS},
            presets={
                "sparkpost": SmtpPreset("smtp.sparkpostmail.com", username="SMTP_Injection")
            },
        ),
    )
"""
SERVICE = "from mailqueue.adapters.sending.sparkpost import Sparkpost\n"
READER = "from mailqueue.adapters.inbound import sparkpost\n"
ADAPTERS = """\
    Provider.SPARKPOST: Adapters(_by_key(Sparkpost), _alone(sparkpost.Sparkpost)),
"""


def test_a_provider_is_added_in_four_files(copy: Copy) -> None:
    copy.insert("mailqueue/core/providers.py", ROW, before="SMTP = (")
    copy.add("mailqueue/adapters/sending/sparkpost.py", text("sending.py"))
    copy.add("mailqueue/adapters/inbound/sparkpost.py", text("inbound.py"))
    copy.insert("mailqueue/adapters/providers.py", ADAPTERS, before="Provider.SMTP: Adapters(")
    table = "from mailqueue.adapters.sending.tokens import gmail"
    copy.insert("mailqueue/adapters/providers.py", READER + SERVICE, before=table)
    with_tests(copy)
    with_documentation(copy)

    assert len(copy.changed) <= MAX_FILES, copy.changed
    copy.pytest(
        "-k",
        "sparkpost or (test_worker and every_provider) or provider",
        *("tests/adapters/sending/test_contract.py", "tests/adapters/sending/test_worker.py"),
        *("tests/adapters/inbound/test_sparkpost_events.py", "tests/adapters/test_providers.py"),
        "tests/docs/test_tables.py",
    )
    listed = copy.run("-m", "mailqueue", "sender", "add", "--help")
    assert "sparkpost" in listed


def text(name: str) -> str:
    return (HERE / name).read_text("utf-8")


def with_tests(copy: Copy) -> None:
    """Add the provider to the contract suite."""
    copy.add("tests/adapters/sending/sparkpost.py", text("documented.py"))
    copy.add("tests/adapters/inbound/test_sparkpost_events.py", text("events.py"))
    suite = "tests/adapters/sending/providers.py"
    file = copy.root / suite
    known = file.read_text("utf-8").replace("SMTP2GO, GMAIL)", "SMTP2GO, GMAIL, SPARKPOST)")
    file.write_text(known, "utf-8")
    copy.insert(
        suite,
        "from tests.adapters.sending.sparkpost import SPARKPOST, check\n"
        "from tests.adapters.sending.strict import CHECK_BY_PROVIDER\n",
        before="def _access",
    )
    copy.insert(suite, 'CHECK_BY_PROVIDER["sparkpost"] = check\n', before="PROVIDERS = (")
    strict = copy.root / "tests/adapters/sending/strict.py"
    loose = strict.read_text("utf-8").replace(
        "CHECK_BY_PROVIDER: Mapping[", "CHECK_BY_PROVIDER: dict["
    )
    strict.write_text(loose, "utf-8")


def with_documentation(copy: Copy) -> None:
    """Add a row to each table of providers."""
    providers = copy.root / "docs/providers.md"
    pages = providers.read_text("utf-8")
    for start in ("## Settings of each provider", "## How mail is sent", "## Limits of messages"):
        head, rest = pages.split(start, 1)
        rest = rest.replace("\n| `gmail` |", "\n| `sparkpost` | `ip_pool` | | | |\n| `gmail` |", 1)
        pages = head + start + rest
    providers.write_text(pages, "utf-8")
    copy.insert("docs/operating.md", "| `sparkpost` | | |\n", before="| `gmail` | smtp.gmail")
