"""The analytics in the console: rates with what they are parts of, charts with tables, times."""

import re
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from mailqueue.console.analytics import pages
from tests import make
from tests.console.analytics import counting
from tests.console.visiting import Visiting, Visitor
from tests.templates.making import published

pytestmark = pytest.mark.anyio

ANALYTICS = "/console/projects/default/analytics"
HOSTILE = "<b>spring"
AGO = datetime.now(UTC) - timedelta(days=2)
LONG_AGO = AGO - timedelta(days=30)


def rows_of(html: str, label: str) -> list[list[str]]:
    """Return the rows of the table with a label, as texts of their cells."""
    table = html.partition(f'role="region" aria-label="{label}"')[2].partition("</table>")[0]
    assert table, f"no table {label}"
    rows = re.findall(r"<tr>(.*?)</tr>", table.partition("<tbody>")[2], re.DOTALL)
    return [
        [
            " ".join(re.sub(r"<[^>]*>", " ", cell).split())
            for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)
        ]
        for row in rows
    ]


async def test_each_rate_names_what_it_is_a_part_of_and_unknown_is_not_zero(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        project = await make.project_named(conn)
        empty = rows_of((await visitor.get(ANALYTICS)).text, "Rates")
        relay = await counting.account(conn, project, "relay", "smtp", reports=False)
        counts = {"sent": 1000, "delivered": 12, "hard_bounces": 4}
        await counting.counted(conn, project, AGO, counts=counts | {"accepted": 1010, "failed": 10})
        await counting.counted(
            conn, project, AGO, dimension="account", value=str(relay), counts=counts
        )
        unknown = (await visitor.get(ANALYTICS)).text
        await conn.execute("UPDATE mailqueue.stats_accounts SET tells_since = now()")
        known = (await visitor.get(ANALYTICS)).text

    assert empty[0] == ["Delivered 0 of 0 sent by accounts that report deliveries", "–"]
    assert rows_of(unknown, "Rates")[:2] == [
        ["Delivered 12 emails; the accounts that sent never report deliveries", "unknown"],
        ["Hard bounces 4 of 1,000 sent", "0.40 %"],
    ]
    assert rows_of(unknown, "Rates")[-1] == ["Failed or expired 10 of 1,010 accepted", "0.99 %"]
    assert rows_of(known, "Rates")[0] == [
        "Delivered 12 of 1,000 sent by accounts that report deliveries",
        "1.20 %",
    ]
    assert "Counted up to" in unknown


async def test_a_chart_has_a_table_of_its_numbers_and_of_the_time_before(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        project = await make.project_named(conn)
        await counting.counted(conn, project, AGO, sent=70, counts={"hard_bounces": 7})
        await counting.counted(conn, project, LONG_AGO, sent=50, counts={"hard_bounces": 10})
        alone = (await visitor.get(ANALYTICS)).text
        both = (await visitor.get(f"{ANALYTICS}?compare=before")).text

    assert [row[1:] for row in rows_of(alone, "Sent by day")].count(["70"]) == 1
    assert len(rows_of(alone, "Sent by day")) == 30
    lines = [row[1:] for row in rows_of(both, "Sent by day")]
    assert sum(int(row[0]) for row in lines) == 70
    assert sum(int(row[1]) for row in lines) == 50
    assert both.count('class="line hue') == 2
    assert "Hard bounces 7 of 70 sent" in rows_of(both, "Rates")[1]
    assert rows_of(both, "Rates")[1][1:] == ["10.00 %", "20.00 %", "-10.00 points"]
    assert ["Sent", "70", "50", "+40 %"] in rows_of(both, "All counts")
    assert "The time before" not in alone


async def test_counts_are_grouped_by_template_and_by_campaign_with_names_as_text(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        project = await make.project_named(conn)
        template = await published(conn, project, slug="news", name="News")
        for number in range(8):
            name = HOSTILE if number == 7 else f"campaign-{number}"
            await counting.counted(
                conn, project, AGO, dimension="campaign", value=name, sent=number + 1
            )
        await counting.counted(conn, project, AGO, dimension="campaign", sent=99)
        await counting.counted(
            conn, project, AGO, dimension="template", value=str(template.id), sent=5
        )
        by_campaign = (await visitor.get(f"{ANALYTICS}?group=campaign&compare=before")).text
        by_template = (await visitor.get(f"{ANALYTICS}?group=template")).text
        by_tag = (await visitor.get(f"{ANALYTICS}?group=tag")).text

    sums = rows_of(by_campaign, "Sums")
    assert sums[0] == ["&lt;b&gt;spring", "8", "0", ""]
    assert [row[1] for row in sums] == ["8", "7", "6", "5", "4", "3", "2", "1", "99"]
    assert sums[-1][0] == "all others"
    assert by_campaign.count('class="line hue') == 6
    assert "The chart has the first 6 of these" in by_campaign
    assert HOSTILE not in by_campaign
    assert rows_of(by_template, "Sums") == [["news", "5"]]
    assert "Nothing is counted in this time that has a tag." in by_tag


async def test_templates_and_providers_are_side_by_side_with_response_times(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        project = await make.project_named(conn)
        template = await published(conn, project, slug="news", name=HOSTILE)
        gone = UUID(int=7)
        account = await counting.account(conn, project, "eu", "ses", reports=True)
        none = [
            (await visitor.get(f"{ANALYTICS}/{tab}")).text for tab in ("templates", "providers")
        ]
        counts = {"sent": 200, "delivered": 150, "hard_bounces": 2, "complaints": 1}
        for dimension, value in (
            ("template", str(template.id)),
            ("provider", "ses"),
            ("account", str(account)),
        ):
            await counting.counted(
                conn, project, AGO, dimension=dimension, value=value, counts=counts
            )
        await counting.counted(conn, project, AGO, dimension="template", value=str(gone), sent=1)
        await counting.answered(conn, project, account, AGO, {50: 94, 126: 4, 5012: 2})
        templates = (await visitor.get(f"{ANALYTICS}/templates")).text
        providers = (await visitor.get(f"{ANALYTICS}/providers")).text

    assert "No email from a template is counted" in none[0]
    assert "Nothing was sent in this time." in none[1]
    assert rows_of(templates, "Templates") == [
        ["&lt;b&gt;spring news", "200", "75.00 %", "1.00 %", "0.50 %", "0.00 %", "0.00 %"],
        ["a template that was deleted", "1", "0.00 %", "0.00 %", "0.00 %", "0.00 %", "0.00 %"],
    ]
    assert f"/templates/{template.id}" in templates
    assert HOSTILE not in templates
    assert rows_of(providers, "Providers")[0][:3] == ["ses", "200", "75.00 %"]
    assert rows_of(providers, "Sender accounts") == [
        ["eu ses", "200", "75.00 %", "1.00 %", "0.50 %", "50 ms", "126 ms", "5.0 s"]
    ]


async def test_hours_of_the_week_are_those_of_the_time_zone_of_the_project(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        project = await make.project_named(conn)
        await conn.execute("UPDATE mailqueue.projects SET time_zone = 'Asia/Tokyo'")
        monday = AGO - timedelta(days=AGO.weekday())
        at = monday.replace(hour=22, minute=0)
        await counting.counted(conn, project, at, sent=12)
        await counting.counted(conn, project, at + timedelta(hours=1), sent=1)
        shown = (await visitor.get(f"{ANALYTICS}/hours")).text
        none = (await visitor.get(f"{ANALYTICS}/hours?metric=clicks")).text
        long = (await visitor.get(f"{ANALYTICS}/hours?period=year")).text

    rows = rows_of(shown, "Hours of the week")
    assert len(rows) == 24
    assert rows[7] == ["07", "0", "12", *["0"] * 5]
    assert rows[8] == ["08", "0", "1", *["0"] * 5]
    assert '<td class="number shade5">12</td>' in shown
    assert '<td class="number shade1">1</td>' in shown
    assert "Asia/Tokyo" in shown
    assert "Nothing of this is counted" in none
    assert "Time must be at most 200 days for hours." in long


async def test_a_time_with_too_many_counts_is_refused_instead_of_waited_for(
    console: Visiting, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with console.connection() as conn:
        await conn.execute(
            "INSERT INTO mailqueue.stats_quarters (project_id, is_test, dimension, value, value2,"
            " started_at, sent) SELECT p.id, false, 'domain', 'd' || d, '', g.at, 1"
            " FROM mailqueue.projects AS p, generate_series(1, 40) AS d, generate_series("
            " date_trunc('hour', now() - interval '25 days'), now(), interval '15 min') AS g(at)"
            " WHERE p.name = 'default'"
        )
        whole = await visitor.get(f"{ANALYTICS}?group=domain")
        monkeypatch.setattr(pages, "MAX_READING", timedelta(milliseconds=1))
        refused = await visitor.get(f"{ANALYTICS}?group=domain")

    assert len(rows_of(whole.text, "Sums")) == 21
    assert refused.status_code == 200
    assert "Time there are too many counts in it: use less time." in refused.text


async def test_mail_of_test_keys_is_apart_and_a_viewer_has_no_export(
    console: Visiting, visitor: Visitor
) -> None:
    async with console.connection() as conn:
        project = await make.project_named(conn)
        await counting.counted(conn, project, AGO, sent=3)
        await counting.counted(conn, project, AGO, sent=41, is_test=True)
        live = (await visitor.get(f"{ANALYTICS}?period=week")).text
        test = (await visitor.get(f"{ANALYTICS}?period=week&mode=test")).text
        export = re.search(r'href="([^"]*exports/new[^"]*)"', test)
        assert export is not None
        form = (await visitor.get(export[1].replace("&amp;", "&"))).text
    async with console.visitor() as other:
        await console.add_user("vic", "viewer", "default")
        await other.log_in("vic")
        seen = (await other.get(ANALYTICS)).text

    assert "<dt>Sent</dt><dd>3</dd>" in live
    assert "<dt>Sent</dt><dd>41</dd>" in test
    assert "mail of test keys" in test
    assert "period=week&amp;mode=test" in test, "other pages keep the time"
    assert '<option value="test" selected>' in form
    assert '<option value="days" selected>' in form
    assert "<dt>Sent</dt><dd>3</dd>" in seen
    assert "exports/new" not in seen
