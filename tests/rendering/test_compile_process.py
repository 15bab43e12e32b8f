"""Templates are compiled and tested in a separate process."""

import asyncio
import os
from typing import Any
from uuid import uuid4

import pytest

from mailqueue.process.signals import OF_THE_LOG
from mailqueue.rendering.faults import Exceeded, TemplateFault
from mailqueue.rendering.process.host import PROCESSES, CompileProcess

pytestmark = pytest.mark.anyio

# Each is one that plain Jinja2 gave a gigabyte or seconds to, also while only compiling.
BOMBS = (
    '{{ "A" * 500000000 }}',
    '{{ "%1000000000d" % 1 }}',
    "{{ 9 ** 9 ** 9 }}",
    "{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}",
    "{% macro a(n) %}{{ a(n) }}{{ a(n) }}{% endmacro %}{{ a(1) }}",
    "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "{{ " + "not " * 50_000 + "1 }}",
    "{% if a %}" * 2000 + "{% endif %}" * 2000,
    "{{ a }}" * 60_000,
    "{% set x = x ~ x %}" * 5000,
)


def asked(html: str, **said: Any) -> dict[str, Any]:
    known: dict[str, Any] = {
        "subject": "s",
        "html": html,
        "text": None,
        "parts": {},
        "schema": None,
    }
    return known | {"variables": {"x": "xx"}, "category": "marketing"} | said


async def test_bombs_are_refused_while_compiling_or_rendering_and_the_next_job_is_done() -> None:
    compile_process = CompileProcess()

    for bomb in BOMBS:
        with pytest.raises(TemplateFault):
            await compile_process.call("preview", asked(bomb))

    assert (await compile_process.call("preview", asked("<p>{{ x }}</p>")))["html"] == "<p>xx</p>"
    await compile_process.close()


async def test_a_job_that_kills_its_process_is_refused_and_the_next_has_a_new_one() -> None:
    """A schema so large that no bound prevents its memory."""
    compile_process = CompileProcess()

    with pytest.raises(Exceeded, match="more time or memory"):
        await compile_process.call("there is no such job", {})

    assert (await compile_process.call("preview", asked("fine")))["html"] == "fine"
    await compile_process.close()


async def test_a_cancelled_caller_leaves_the_compile_process_usable() -> None:
    compile_process = CompileProcess()
    waiting = asyncio.create_task(compile_process.call("preview", asked("x")))
    await asyncio.sleep(0)
    waiting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert (await compile_process.call("preview", asked("fine")))["html"] == "fine"
    await compile_process.close()


async def test_a_project_has_half_of_the_processes_and_another_starts_only_when_one_is_busy() -> (
    None
):
    """Isolate: of three jobs of one project and one of another, two run at the same time."""
    compile_process, many, other = CompileProcess(), uuid4(), uuid4()
    for _ in range(2):
        await compile_process.call("preview", asked("x"), project_id=many)
    assert len(compile_process._idle) == 1

    jobs = [
        asyncio.create_task(compile_process.call("preview", asked("x"), project_id=project))
        for project in (many, many, many, other)
    ]
    await asyncio.sleep(0)
    used = compile_process._turns._taken
    assert (used[many], used[other]) == (PROCESSES // 2, 1)
    assert [(await job)["html"] for job in jobs] == ["x"] * 4

    assert len(compile_process._idle) == PROCESSES // 2 + 1
    await compile_process.close()
    assert compile_process._idle == []


async def test_a_job_that_kills_its_process_leaves_that_of_another_project() -> None:
    compile_process, one, other = CompileProcess(), uuid4(), uuid4()

    stays = asyncio.create_task(compile_process.call("preview", asked("fine"), project_id=other))
    with pytest.raises(Exceeded):
        await compile_process.call("there is no such job", {}, project_id=one)
    assert (await stays)["html"] == "fine"
    found = await compile_process.call("preview", asked("again"), project_id=one)
    assert found["html"] == "again"
    await compile_process.close()


async def test_nothing_of_the_environment_goes_into_the_chamber(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MAILQUEUE_MASTER_KEY", "canary")
    compile_process = CompileProcess()
    await compile_process.call("preview", asked("x"))
    [child] = compile_process._idle
    process = child.process
    assert process is not None

    with open(f"/proc/{process.pid}/environ", "rb") as file:  # noqa: ASYNC230
        assert b"canary" not in file.read()
    assert os.getpgid(process.pid) != os.getpgid(0)
    await compile_process.close()


async def test_a_draft_keeps_the_parts_it_names_and_no_others() -> None:
    compile_process = CompileProcess()
    parts = {
        "base": "<html>{% block body %}{% endblock %}{% include 'foot' %}</html>",
        "foot": "{{.company}}",
        "other": "{% for",
    }
    html = "{% extends 'base' %}{% block body %}{{ name }}{% endblock %}"

    found = await compile_process.call("draft", asked(html, subject="Hi {{ name }}", parts=parts))

    assert found == {"parts": {"base": parts["base"], "foot": parts["foot"]}, "needs": ["name"]}
    with pytest.raises(TemplateFault, match="html: there is no layout or partial nowhere"):
        await compile_process.call("draft", asked("{% include 'nowhere' %}", parts=parts))
    with pytest.raises(TemplateFault, match="other, line 1"):
        await compile_process.call("draft", asked("{% include 'other' %}", parts=parts))
    await compile_process.close()


@pytest.mark.parametrize("value", [10**30, [], "\ud800"])
async def test_values_that_no_json_has_are_refused(value: Any) -> None:
    if isinstance(value, list):
        for _ in range(1000):
            value = [value]
    compile_process = CompileProcess()

    with pytest.raises(TemplateFault, match="cannot be written as JSON"):
        await compile_process.call("preview", asked("x", variables={"x": value}))


async def test_signals_for_the_log_of_a_whole_service_end_no_process() -> None:
    compile_process = CompileProcess()
    await compile_process.call("preview", asked("<p>{{ x }}</p>"))
    [child] = compile_process._idle
    process = child.process
    assert process is not None
    for number in OF_THE_LOG:
        process.send_signal(number)

    assert (await compile_process.call("preview", asked("<p>{{ x }}</p>")))["html"] == "<p>xx</p>"
    assert process.poll() is None
    await compile_process.close()
