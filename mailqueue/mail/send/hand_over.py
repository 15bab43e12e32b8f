"""Hands the messages of one group to a channel, and settles each email by its verdict."""

from collections.abc import Callable, Sequence

from mailqueue.core.crashpoints import reach
from mailqueue.core.verdict import Accepted, Verdict
from mailqueue.mail.send.context import SendContext
from mailqueue.mail.send.outcomes import outcome_of, outcomes_of_fault
from mailqueue.mail.send.stall_detector import StallDetector
from mailqueue.ports.transport import Channel, SendAttempt
from mailqueue.telemetry.log import get_logger

log = get_logger(__name__)


async def hand_over(
    attempts: Sequence[SendAttempt],
    channel: Channel,
    *,
    replies: StallDetector,
    context: SendContext,
    on_verdict: Callable[[SendAttempt, Verdict], None],
) -> bool:
    """Send the attempts in order and settle each; return False after an error of the program.

    After an error the channel is closed, and emails without a verdict are of unknown outcome if the
    server may have received them. `on_verdict` is called right before an email is settled, unless
    it was accepted as usual.
    """
    unreported = {attempt.email_id: attempt for attempt in attempts}
    is_handed_over = False  # an unreported email may be
    try:
        with replies.waiting(unreported.values()) as reply:

            def may_finish() -> bool:
                nonlocal is_handed_over
                is_allowed = context.may_finish()
                is_handed_over |= is_allowed
                return is_allowed

            def report(attempt: SendAttempt, verdict: Verdict, took_ms: int) -> None:
                nonlocal is_handed_over
                is_handed_over = True  # until this returns: one request may carry several emails
                reply.received_at = replies.received_at = context.clock.seconds
                del unreported[attempt.email_id]
                outcome = None
                try:
                    reach("reply.read")
                    outcome = outcome_of(attempt, verdict, took_ms)
                    is_plain = isinstance(verdict, Accepted) and not verdict.refused
                    if not (is_plain and replies.are_usual):
                        on_verdict(attempt, verdict)
                except Exception as exc:  # of this email alone: the others have their own verdicts
                    log.exception("verdict.unreadable", email_id=str(attempt.email_id))
                    if outcome is None:
                        (outcome,) = outcomes_of_fault([attempt], exc, is_handed_over=True)
                context.settler.settle(outcome)
                is_handed_over = False

            await channel.send(attempts, report, may_finish=may_finish)
        if unreported:
            is_handed_over = True
            raise RuntimeError(f"the channel reported no verdict of {len(unreported)} emails")
    except Exception as exc:  # one bad row must not stop a worker
        log.exception("channel.failed", email_ids=[str(email_id) for email_id in unreported])
        left = list(unreported.values())
        for outcome in outcomes_of_fault(left, exc, is_handed_over=is_handed_over):
            context.settler.settle(outcome)
        await channel.close()
        return False
    return True
