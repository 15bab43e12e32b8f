"""Isolate: while a large message is built or encoded, the mail of others goes on."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from itertools import pairwise
from typing import Any
from uuid import UUID, uuid4

import pytest

from mailqueue.mail.message.build import build_message
from mailqueue.mail.model import Ending, LoadedEmail, Mark, Marks, MarkVerdict
from mailqueue.mail.send import large, prepare
from mailqueue.mail.send.large import LARGE_BYTES, LargeBuilds
from mailqueue.mime.files import MessageFile
from mailqueue.ports.transport import SendAttempt
from mailqueue.queue import turns
from mailqueue.queue.in_progress import EXIT_BUILD_TOO_LONG
from tests.mail.claims import claimed, loaded
from tests.mail.send.scripted import RecordedContext, ScriptedServer, sender_to, until

pytestmark = pytest.mark.anyio

LONG = "<p>Hello</p>\n" * (LARGE_BYTES // 13 + 1)
FILE = MessageFile("a.bin", "application/octet-stream", bytes(LARGE_BYTES))
LARGE = {
    "html": lambda: loaded(html_body=LONG),
    "text": lambda: loaded(text_body=LONG),
    "file": lambda: loaded()._replace(files=(FILE,)),
}


@contextmanager
def held_builds(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[threading.Event, list[str]]]:
    """Hold the building of large messages until the event is set; note the thread of each."""
    genuine, may_build, threads = build_message, threading.Event(), list[str]()

    def build(mail: LoadedEmail, *given: Any, **named: Any) -> Any:
        threads.append(threading.current_thread().name)
        if large.size_of(mail) >= large.LARGE_BYTES:
            assert may_build.wait(60)
        return genuine(mail, *given, **named)

    monkeypatch.setattr(prepare, "build_message", build)
    try:
        yield may_build, threads
    finally:
        may_build.set()


@pytest.mark.parametrize("kind", LARGE)
async def test_others_are_sent_while_a_large_message_is_built(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded, slow, quick = RecordedContext(), ScriptedServer(), ScriptedServer()
    with held_builds(monkeypatch) as (may_build, threads):
        async with sender_to(slow, recorded) as one, sender_to(quick, recorded) as other:
            mail = LARGE[kind]()
            one.add([mail])
            await until(lambda: len(threads) == 1)
            other.add([loaded() for _ in range(5)])
            await until(lambda: len(recorded.settled) == 5)
            assert mail.claim.id not in {one.id for one in recorded.settled}
            may_build.set()
            await until(lambda: len(recorded.settled) == 6)

    assert recorded.endings() == [Ending.SENT] * 6
    assert threads[0].startswith("build")
    assert set(threads[1:]) == {threading.main_thread().name}


async def test_others_have_their_turn_between_messages_of_a_group(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "MAX_TURN_SECONDS", -1.0)
    recorded, built, seen = RecordedContext(), list[object](), [0]

    def build(*given: Any, **named: Any) -> Any:
        built.append(build_message(*given, **named))
        return built[-1]

    async def look() -> None:
        while True:
            seen.append(len(built))
            await asyncio.sleep(0)

    monkeypatch.setattr(prepare, "build_message", build)
    looking = asyncio.create_task(look())
    async with sender_to(ScriptedServer(), recorded) as line:
        line.add([loaded(text_body="x" * large.SHORT_BYTES) for _ in range(10)])
        await until(lambda: len(recorded.settled) == 10)
    looking.cancel()

    assert max(after - before for before, after in pairwise(seen)) == 1


async def test_small_messages_need_no_thread() -> None:
    recorded = RecordedContext()
    async with sender_to(ScriptedServer(), recorded) as line:
        line.add([loaded() for _ in range(3)])
        await until(lambda: len(recorded.settled) == 3)
        assert line._context.large_builds._threads is None


def large_of(project_id: UUID) -> LoadedEmail:
    return loaded(email=claimed(project_id=project_id), html_body=LONG)


async def test_large_messages_of_one_project_are_built_one_at_a_time_and_leave_one_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recorded, many, other = RecordedContext(), uuid4(), uuid4()
    built = list[UUID]()
    with held_builds(monkeypatch) as (may_build, threads):
        held: Any = vars(prepare)["build_message"]

        def build(mail: LoadedEmail, *given: Any, **named: Any) -> Any:
            built.append(mail.claim.project_id)
            return held(mail, *given, **named)

        monkeypatch.setattr(prepare, "build_message", build)
        async with AsyncExitStack() as stack:
            context = recorded.context()
            for project_id in (many, many, other):
                line = await stack.enter_async_context(sender_to(ScriptedServer(), recorded))
                line._context = context
                line.add([large_of(project_id)])
            waiting = context.large_builds._turns._waiting
            await until(lambda: many in waiting and len(threads) == 2)
            assert built == [many, other]
            may_build.set()
            await until(lambda: len(recorded.settled) == 3)

    assert len(set(threads)) == 2
    assert built == [many, other, many]


async def test_a_large_message_is_the_same_wherever_it_is_built() -> None:
    mail = loaded(html_body=LONG)._replace(files=(FILE,))
    recorded = RecordedContext()
    async with sender_to(ScriptedServer(), recorded) as line:
        context, account = recorded.context(), line.account
        [here] = prepare.build_attempts([mail], account=account, context=context)
        apart = await prepare._built(mail, account=account, context=context)

    assert isinstance(here, SendAttempt)
    assert isinstance(apart, SendAttempt)
    date = here.message.index(b"Date:")
    assert apart._replace(message=b"") == here._replace(message=b"")
    assert apart.message[:date] == here.message[:date]
    assert apart.message[date + 40 :] == here.message[date + 40 :]


async def test_a_recipient_suppressed_meanwhile_is_left_out_of_a_large_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The message is built again, in the thread as well."""
    recorded = RecordedContext()
    mail = loaded(("cc", "bob@example.org"), html_body=LONG)

    def mark(*_: Any) -> "asyncio.Future[Marks]":
        done: asyncio.Future[Marks] = asyncio.get_running_loop().create_future()
        stopped = Mark(mail.claim.id, MarkVerdict.GO, None, ("bob@example.org",))
        done.set_result(Marks({mail.claim.id: stopped}))
        return done

    monkeypatch.setattr(recorded.settler, "mark", mark)
    with held_builds(monkeypatch) as (may_build, threads):
        may_build.set()
        async with sender_to(ScriptedServer(), recorded) as line:
            [attempt] = await prepare.prepare(
                [mail], line.slots, account=line.account, context=recorded.context()
            )
    assert attempt.envelope.recipients == ("ann@example.org",)
    assert [name.startswith("build") for name in threads] == [True, True]


class NamedTemplate:
    """Says in which thread it is rendered."""

    names_links = False

    def __init__(self, fault: Exception | None = None) -> None:
        self.thread = ""
        self._fault = fault

    def render(self, _: Any) -> Any:
        self.thread = threading.current_thread().name
        if self._fault is not None:
            raise self._fault
        return type("Said", (), {"subject": "S", "html": "<p>said</p>", "text": None})


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (None, None),
        (ValueError("no name"), "no name"),
        (KeyError("odd"), "KeyError while composing"),
    ],
)
async def test_templates_are_rendered_in_one_thread_only(
    fault: Exception | None, reason: str | None
) -> None:
    recorded, template = RecordedContext(), NamedTemplate(fault)
    email = claimed(custom_data={"variables": {}})
    mail = loaded(email=email, template_version_id=email.id)._replace(
        files=(FILE,),
        template=template,  # type: ignore[arg-type]
    )
    async with sender_to(ScriptedServer(), recorded) as line:
        line.add([mail])
        await until(lambda: len(recorded.settled) == 1)

    assert template.thread == threading.main_thread().name
    assert [(one.ending, one.reason) for one in recorded.settled] == [
        (Ending.SENT if reason is None else Ending.FAILED, reason)
    ]


async def test_a_build_without_an_end_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread can be ended; the email is handled alone then, where the event loop is watched."""
    codes, may_end = list[int](), threading.Event()

    def leave(code: int) -> None:
        codes.append(code)
        may_end.set()

    monkeypatch.setattr(large, "HUNG_SECONDS", 0.05)
    monkeypatch.setattr("os._exit", leave)

    assert (
        await LargeBuilds().run(lambda: may_end.wait(60), project_id=uuid4(), email_id=uuid4())
        is True
    )
    assert codes == [EXIT_BUILD_TOO_LONG]
