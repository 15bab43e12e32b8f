"""Answers to challenges that are not right, for logins and confirmations alike."""

import json
from dataclasses import dataclass

from tests.console.passkeys.authenticator import PRESENT, Authenticator, content, text
from tests.console.passkeys.using import LAPSED, LOG_IN, URL, answered, asked
from tests.console.visiting import Visiting, Visitor

FORGET = "DELETE FROM mailqueue.console_attempts"


@dataclass(frozen=True, slots=True)
class Trying:
    """A browser that answers challenges, and is refused."""

    console: Visiting
    visitor: Visitor
    path: str

    async def status(self, answer: str) -> int:
        """Return the status of an answer; attempts before it are forgotten."""
        async with self.console.connection() as conn:
            await conn.execute(FORGET)
        return (await answered(self.visitor, self.path, answer)).status_code

    async def signed(self, passkey: Authenticator, **client: str) -> int:
        """Return the status of an answer to a new challenge."""
        return await self.status(passkey.sign(await asked(self.visitor, self.path), **client))


async def refusals(
    trying: Trying, mine: Authenticator, others: Authenticator, elsewhere: Visitor
) -> dict[str, int]:
    """Return the statuses of answers that are not right, by what is wrong with them."""
    evil = "https://evil.example.com"
    right = mine.but(count=9)
    found = {
        "another origin": await trying.signed(right.but(origin=evil)),
        "another port": await trying.signed(right.but(origin=f"{URL}:8443")),
        "another host": await trying.signed(right.but(rp_id="evil.example.com")),
        "another type": await trying.signed(right, type="webauthn.create"),
        "no verification": await trying.signed(right.but(flags=PRESENT)),
        "no one present": await trying.signed(right.but(flags=4)),
        "another key": await trying.signed(right.but(key=others.key)),
        "an unknown id": await trying.signed(right.but(credential_id=bytes(32))),
        "another user": await trying.signed(right.but(user_handle=others.user_handle)),
    }
    options = await asked(trying.visitor, trying.path)
    async with trying.console.connection() as conn:
        await conn.execute(LAPSED)
    found["too late"] = await trying.status(right.sign(options))
    found["taken before"] = await trying.status(right.sign(options))
    theirs = await asked(elsewhere, LOG_IN)
    await asked(trying.visitor, trying.path)
    found["of another session"] = await trying.status(right.sign(theirs))
    for what, broken in broken_answers(right.sign(await asked(trying.visitor, trying.path))):
        await asked(trying.visitor, trying.path)
        found[what] = await trying.status(broken)
    return found


def broken_answers(answer: str) -> list[tuple[str, str]]:
    read = json.loads(answer)
    response = read["response"]

    def but(**changes: str | None) -> str:
        return json.dumps(read | {"response": response | changes})

    signature = bytearray(content(response["signature"]))
    signature[-1] ^= 1
    return [
        ("nothing", ""),
        ("not JSON", "{"),
        ("a number", "1"),
        ("deep", "[" * 10_000),
        ("too long", json.dumps(read | {"more": "x" * 20_000})),
        ("not base64", but(signature="\u20ac*")),
        ("half a user", but(userHandle="a")),
        ("no data", but(authenticatorData="")),
        ("no client data", but(clientDataJSON=text(b"{}"))),
        ("no signature", but(signature=None)),
        ("a changed signature", but(signature=text(bytes(signature)))),
        ("data that goes on", but(authenticatorData=response["authenticatorData"] + "AAAA")),
        ("two ids", json.dumps(read | {"id": "AAAA"})),
        ("a long id", json.dumps(read | {"id": text(bytes(2000)), "rawId": text(bytes(2000))})),
    ]
