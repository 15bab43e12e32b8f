"""Automatic replies, receipts and personal mail are not read as bounces."""

import pytest

from mailqueue.inbound.bounces.model import BounceKind, Fate
from mailqueue.inbound.bounces.reading import read_bounce

SUBJECTS = """
Out of Office: Re: Hello
Automatic reply: Your order
Auto-Reply: Hello
AUTO: Ann is out of the office (returning 05/01/2026)
Re: Out of office
[Out of Office] Hello
I am currently on vacation
I'm away until Monday
Ann is out of the office
Vacation reply
On leave until Monday, annual leave
Thank you for contacting us
Thank you for your email
We have received your message
Your message has been received
Abwesenheitsnotiz: Hallo
Abwesenheit bis 5. Januar
Automatische Antwort: Hallo
Nicht im Büro
Ich bin im Urlaub
Eingangsbestätigung
Réponse automatique : Bonjour
Absence du bureau
Absent jusqu'au 5 janvier
Accusé de réception
Respuesta automática: Hola
Fuera de la oficina
Ausencia
Resposta automática: Olá
Fora do escritório
Risposta automatica: Ciao
Fuori sede
Assenza dall'ufficio
Automatisch antwoord: Hallo
Afwezig
Autosvar: Hej
Automatiskt svar
Fravær
Automaattinen vastaus: Hei
Odpowiedź automatyczna: Dzień dobry
Automatická odpověď: Dobrý den
Automatikus válasz: Szia
Otomatik Yanıt: Merhaba
Автоответ: Привет
Автоматический ответ
Αυτόματη απάντηση: Γεια
自動応答: こんにちは
不在通知
自动回复: 你好
자동 응답: 안녕하세요
""".strip().split("\n")
BODY = "Mail to me could not be delivered, user unknown. <ann@example.com>: 550 5.1.1 mailbox full."


def mail(subject: str = "Hello", body: str = BODY, **head: str) -> bytes:
    fields = {"From": "Ann <ann@example.com>", "To": "shop@example.org", "Subject": subject}
    lines = {**fields, **{name.replace("_", "-"): value for name, value in head.items()}}
    return ("".join(f"{name}: {value}\n" for name, value in lines.items()) + f"\n{body}\n").encode()


@pytest.mark.parametrize("subject", SUBJECTS)
def test_absence_notes_in_many_languages(subject: str) -> None:
    found = read_bounce(mail(subject, Return_Path="<>"), is_null_sender=True)

    assert (found.kind, found.recipients) == (BounceKind.AUTOREPLY, ())


@pytest.mark.parametrize(
    "head",
    [
        {"Auto_Submitted": "auto-replied"},
        {"Auto_Submitted": "auto-replied; owner-email=ann@example.com"},
        {"Auto_Submitted": "Auto-Notified"},
        {"Precedence": "auto_reply"},
        {"X_Autoreply": "yes"},
        {"X_Autorespond": "Hello"},
        {"X_Auto_Response_Suppress": "All", "Auto_Submitted": "auto-replied"},
        {"X_Mailer": "vacation 1.2.7.1"},
        {"X_Boxbe_Notice": "1"},
        {"X_Spamarrest_Noauth": "1"},
    ],
    ids=range(10),
)
def test_answers_by_their_fields(head: dict[str, str]) -> None:
    found = read_bounce(mail(Return_Path="<>", **head), is_null_sender=True)

    assert (found.kind, found.recipients) == (BounceKind.AUTOREPLY, ())


@pytest.mark.parametrize(
    "subject",
    [
        "Please confirm your message to ann@example.com",
        "Message awaiting your confirmation",
        "Your message to list awaits moderator approval: awaiting approval",
        "Sender verification required",
    ],
)
def test_challenges_and_moderation_are_answers(subject: str) -> None:
    found = read_bounce(mail(subject, Return_Path="<>"), is_null_sender=True)

    assert (found.kind, found.recipients) == (BounceKind.AUTOREPLY, ())


@pytest.mark.parametrize(
    "raw",
    [
        mail("Re: Undelivered Mail Returned to Sender", f"What does this mean?\n> {BODY}"),
        mail("Fwd: failure notice", f"See below.\n\n{BODY}"),
        mail("Hello", "Is user unknown the same as mailbox full?"),
        mail("Delivery of your parcel", "Your parcel could not be delivered. Nobody was home."),
        mail("Our newsletter: failed deliveries", "<bob@example.com>: how to read 550 5.1.1"),
        mail(
            "Weekly report", "120 delivered, 3 returned", From="Postmaster <postmaster@x.example>"
        ),
        mail("Invoice", "", From="noreply@example.com"),
        mail("", ""),
        b"",
        b"hello",
    ],
    ids=range(10),
)
def test_mail_of_people_is_no_bounce(raw: bytes) -> None:
    found = read_bounce(raw)

    assert (found.kind, found.recipients) == (BounceKind.OTHER, ())


def test_a_receipt_is_no_bounce() -> None:
    raw = b"""From: Ann <ann@example.com>
Subject: Not read: Your order
Content-Type: multipart/report; report-type=disposition-notification; boundary="b"

--b
Content-Type: text/plain

Your message was deleted without being read. It could not be delivered to my eyes.

--b
Content-Type: message/disposition-notification

Final-Recipient: rfc822;ann@example.com
Original-Message-ID: <m1@example.org>
Disposition: automatic-action/MDN-sent-automatically; deleted

--b--
"""
    found = read_bounce(raw, is_null_sender=True)

    assert (found.kind, found.recipients) == (BounceKind.RECEIPT, ())


def test_servers_mark_their_reports_as_answers_and_they_are_bounces_all_the_same() -> None:
    text = (
        "This is the mail system at host mx.\n\n<ann@example.com>: host mx said: 550 User unknown"
    )
    raw = mail(
        "Undelivered Mail Returned to Sender",
        text,
        From="MAILER-DAEMON@mx.example.net (Mail Delivery System)",
        Auto_Submitted="auto-replied",
        Return_Path="<>",
    )

    found = read_bounce(raw)

    assert found.kind is BounceKind.TEXT
    assert [one.recipient for one in found.recipients] == ["ann@example.com"]


def test_mail_that_was_refused_by_a_receipt_is_refused() -> None:
    raw = (
        b"From: Mail Delivery Subsystem <postmaster@example.com>\nReturn-Path: <>\n"
        b"Subject: Automatically rejected mail\nAuto-Submitted: auto-replied (rejected)\n"
        b"Content-Type: multipart/report; report-type=disposition-notification; boundary=b\n\n"
        b"--b\n\nYour message to <ann@example.com> was automatically rejected:\nQuota exceeded\n"
        b"--b\nContent-Type: message/disposition-notification\n\nDisposition: x; deleted\n--b--\n"
    )

    [told] = read_bounce(raw).recipients

    assert (told.recipient, told.reason.fate) == ("ann@example.com", Fate.SOFT)
