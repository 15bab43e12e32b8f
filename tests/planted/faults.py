"""Faults that a change could bring, each as one text of one file, with the tests that notice it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlantedFault:
    """A text of a file that is replaced by a faulty one; every test of `noticed_by` fails then.

    Names of tests have no parameters: one case of each is enough.
    """

    name: str
    file: str
    right: str
    wrong: str
    noticed_by: tuple[str, ...]


FAULTS = (
    PlantedFault(
        "attempt-logged-twice",
        "sql/functions/settle/sent.sql",
        "mailqueue.attempt_data(g.custom_data) FROM gone AS g\n",
        "mailqueue.attempt_data(g.custom_data) FROM gone AS g, generate_series(1, 2)\n",
        (
            "tests/mail/send/test_settle.py"
            "::test_a_sent_mail_leaves_the_queue_for_history_with_its_proof",
        ),
    ),
    PlantedFault(
        "limit-off-by-one",
        "sql/functions/limits/headroom.sql",
        "coalesce(g.daily_limit - u.sent - u.reserved, 2000000000) AS day_left",
        "coalesce(g.daily_limit + 1 - u.sent - u.reserved, 2000000000) AS day_left",
        ("tests/mail/limits/test_accounts.py::test_a_daily_limit_is_reached_and_never_passed",),
    ),
    PlantedFault(
        "fence-lost",
        "sql/functions/settle/settle.sql",
        "WHERE q.id = i.id AND q.claim_no = i.claim_no AND o.id = q.id\n",
        "WHERE q.id = i.id AND o.id = q.id\n",
        ("tests/mail/claim/test_fence.py::test_a_late_worker_cannot_finish_a_row_it_lost",),
    ),
    PlantedFault(
        "template-of-another-project-found",
        "sql/queries/templates.sql",
        "WHERE (t.project_id = %(project_id)s OR t.project_id IS NULL)\n",
        "WHERE (t.project_id = %(project_id)s OR true)\n",
        (
            "tests/api/projects/test_tenants_apart.py"
            "::test_nor_with_the_databases_line_switched_off",
        ),
    ),
    PlantedFault(
        "value-of-a-bare-attribute-not-escaped",
        "mailqueue/rendering/contexts/values.py",
        "return (text if place.quote else _UNQUOTED.sub(_reference, text)), place\n",
        "return text, place\n",
        ("tests/rendering/contexts/test_places.py::test_a_value_is_escaped_for_its_place",),
    ),
    PlantedFault(
        "suppression-not-looked-at-before-sending",
        "sql/functions/claim/mark.sql",
        "WHEN w.reason IS NOT NULL THEN 'suppressed'\n",
        "WHEN w.reason = '' THEN 'suppressed'\n",
        (
            "tests/suppression/test_before_sending.py"
            "::test_a_mail_whose_recipient_was_suppressed_meanwhile_is_not_sent",
        ),
    ),
    PlantedFault(
        "expired-mail-sent",
        "sql/functions/claim/mark.sql",
        "WHEN q.expires_at <= clock_timestamp() THEN 'expired'\n",
        "WHEN q.expires_at <= q.created_at - interval '1 day' THEN 'expired'\n",
        ("tests/mail/send/test_mark.py::test_mail_that_expired_meanwhile_is_not_sent",),
    ),
    PlantedFault(
        "password-in-an-error",
        "mailqueue/smtp/client/transcript.py",
        "without(line, self._hidden))\n",
        "line)\n",
        (
            "tests/smtp/client/test_transcript.py"
            "::test_a_server_that_repeats_the_password_does_not_show_it",
        ),
    ),
    PlantedFault(
        "idempotency-key-ignored",
        "mailqueue/api/http/idempotency.py",
        "if given is None or once in (Once.NEVER, Once.ITSELF):\n",
        "if given is None or once is not Once.APART:\n",
        (
            "tests/api/http/test_idempotency.py::test_the_second_answer_is_the_first",
            "tests/api/http/test_idempotency.py::test_another_request_under_the_key_is_refused",
        ),
    ),
    PlantedFault(
        "webhook-signed-without-its-id",
        "mailqueue/webhooks/signing.py",
        'signed = f"{message_id}.{at}.".encode() + body\n',
        'signed = f"{at}.".encode() + body\n',
        (
            "tests/webhooks/test_signing.py::test_a_known_answer",
            "tests/webhooks/test_signing.py"
            "::test_the_published_verifiers_accept_either_of_two_secrets",
        ),
    ),
    PlantedFault(
        "retry-beyond-the-last-attempt",
        "sql/functions/settle/settle.sql",
        "(q.attempts >= q.max_attempts OR w.wait IS NULL)",
        "(q.attempts > q.max_attempts OR w.wait IS NULL)",
        ("tests/mail/send/test_settle.py::test_a_retry_without_attempts_left_has_failed",),
    ),
    PlantedFault(
        "secret-of-a-webhook-kept-under-its-key",
        "mailqueue/api/http/idempotency.py",
        'body=_without(bytes(getattr(response, "body", b"")), endpoint.hidden),\n',
        'body=bytes(getattr(response, "body", b"")),\n',
        ("tests/api/http/test_idempotency.py::test_secrets_are_shown_once_and_not_kept",),
    ),
)
"""The first is planted in each deep run, the others with -m soak."""
