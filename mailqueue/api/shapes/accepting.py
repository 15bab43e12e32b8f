"""Accepts what clients of other APIs send as POST /v1/send accepts its mail: the same rules."""

from collections.abc import Sequence

from mailqueue.api import mail
from mailqueue.api.call import Call
from mailqueue.api.model import Sent
from mailqueue.api.sending_model import SendRequest, TemplateRequest
from mailqueue.api.sending_prepared import shelved_files
from mailqueue.api.sending_templates import chosen_for
from mailqueue.core.errors import InputError, InvalidField
from mailqueue.mail.enqueue import NewEmail
from mailqueue.templates.accepting import Chosen

Wanted = SendRequest | TemplateRequest
Judged = Sent | InvalidField
"""What became of one mail of several: accepted, or why not."""


class OneRefused(InputError):
    """One of several mails was refused, and so nothing was accepted; `index` from 0."""

    def __init__(self, index: int, fault: InvalidField) -> None:
        self.index = index
        self.fault = fault
        super().__init__(f"{index}: {fault}")


async def readied(call: Call, wanted: Wanted) -> Wanted:
    """Give a mail with its template looked at, and its large files kept where they are to lie.

    Raises:
        InvalidField: there is no such template, its variables will not do, or a file will not.
    """
    (ready,) = await readied_all(call, [wanted])
    if isinstance(ready, InvalidField):
        raise ready
    return ready


async def readied_all(
    call: Call, wanted: Sequence[Wanted | InvalidField]
) -> list[Wanted | InvalidField]:
    """Give mails as `readied` does, each refused by itself."""
    known: dict[tuple[str, str | None], Chosen | InvalidField] = {}
    ready: list[Wanted | InvalidField] = []
    for one in wanted:
        if isinstance(one, InvalidField):
            ready.append(one)
            continue
        try:
            if isinstance(one, SendRequest):
                ready.append(await shelved_files(call, one))
                continue
            await _check(call, one, known)
            ready.append(await shelved_files(call, one))
        except InvalidField as exc:
            ready.append(exc)
    return ready


async def _check(
    call: Call, wanted: TemplateRequest, known: dict[tuple[str, str | None], Chosen | InvalidField]
) -> None:
    named = (wanted.template, wanted.language)
    if named not in known:
        try:
            known[named] = await chosen_for(call, *named)
        except InvalidField as exc:
            known[named] = exc
    chosen = known[named]
    if isinstance(chosen, InvalidField):
        raise chosen
    chosen.check(wanted.variables)


async def accepted(call: Call, wanted: Wanted) -> Sent:
    """Accept one mail, together with those of other requests that wait.

    Raises:
        InvalidField: the rules of mail refuse it.
    """
    return await call.runtime.intake.send(call.caller, wanted, size=call.size)


async def accepted_all(
    call: Call, wanted: Sequence[Wanted | InvalidField], *, is_strict: bool
) -> list[Judged]:
    """Accept mails in one transaction, in order; those refused already stay refused.

    Raises:
        OneRefused: `is_strict`, and one of them was; nothing is accepted.
    """
    judged: dict[int, Judged] = {}
    emails: dict[int, NewEmail] = {}
    for index, one in enumerate(wanted):
        try:
            if isinstance(one, InvalidField):
                raise one
            emails[index] = mail.new_email(call.caller, one)
        except InvalidField as exc:
            if is_strict:
                raise OneRefused(index, exc) from None
            judged[index] = exc
    if emails:
        async with call.connection() as conn:
            found = await mail.accept(conn, call.caller.project, list(emails.values()))
            for index, result in zip(emails, found, strict=True):
                if is_strict and isinstance(result, InvalidField):
                    raise OneRefused(index, result)
                judged[index] = result
    return [judged[index] for index in range(len(wanted))]
