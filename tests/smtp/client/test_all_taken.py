"""Four positive replies processed at once have the same effect as one by one."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from mailqueue.ports.transport import Envelope, SendAttempt
from mailqueue.smtp.client.envelope import EncodedEmail, Extensions, encode
from mailqueue.smtp.client.replies import Malformed, Reply, ReplyReader
from mailqueue.smtp.client.transaction import MailTransaction, NextStep, take_all

CODES = st.sampled_from(["250", "251", "252", "354", "421", "450", "550", "25", "2500", "999"])
MARKS = st.sampled_from([" ", "-", "", "\t"])
TEXTS = st.text(alphabet="aZ0. -\0\r\n\u00e9", max_size=12)
ENDS = st.sampled_from(["\r\n", "\r\n", "\r\n", "\n", "\r", ""])
LINES = st.tuples(CODES, MARKS, TEXTS, ENDS).map("".join)
YES = ["250 2.0.0 queued as 7\r\n", "250 ok\r\n", "250 ok\r\n", "354 go\r\n"]
NEAR_YES = st.tuples(*(st.one_of(st.just(line), LINES) for line in YES)).map("".join)


def transaction(*, handed_over: bool = False) -> MailTransaction:
    envelope = Envelope("shop@example.com", ("ann@example.org",))
    planned = encode(
        SendAttempt(UUID(int=1), envelope, b"To: ann\r\n\r\nhello\r\n"), Extensions(True)
    )
    assert isinstance(planned, EncodedEmail)
    made = MailTransaction(planned, grouped=True, started=0.0)
    if handed_over:
        for reply in (Reply(250, b""), Reply(250, b""), Reply(354, b"")):
            made.take(reply)
        made.handed_over = True
    return made


def states(*transactions: MailTransaction) -> list[object]:
    return [(one.step, one.then, one.stage, one.needs_reset) for one in transactions]


@given(st.one_of(NEAR_YES, st.lists(LINES, max_size=6).map("".join)))
def test_at_once_is_as_one_by_one(text: str) -> None:
    data = text.encode()
    at_once = transaction(handed_over=True), transaction()
    if not take_all(*at_once, data):
        assert states(*at_once) == states(transaction(handed_over=True), transaction())
        return
    turn, ahead = transaction(handed_over=True), transaction()
    reader = ReplyReader()
    replies = reader.feed(data)
    assert reader.is_between_replies
    assert len(replies) == 4
    for one, reply in zip((turn, ahead, ahead, ahead), replies, strict=True):
        assert not isinstance(reply, Malformed)
        one.take(reply)
    assert states(*at_once) == states(turn, ahead)
    assert at_once[0].verdict() == turn.verdict()
    assert ahead.then is NextStep.BODY


def test_what_nearly_every_mail_is_answered_is_taken_at_once() -> None:
    assert take_all(transaction(handed_over=True), transaction(), "".join(YES).encode())
