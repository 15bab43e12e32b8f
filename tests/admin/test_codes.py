"""One-time codes and recovery codes: RFC 6238, and pyotp as the app on a user's device."""

import re
from uuid import UUID, uuid4

import pyotp
import pytest

from mailqueue.admin.users.second_factor.codes import (
    RECOVERY_CODES,
    SECRET_BYTES,
    matching_step,
    new_recovery_codes,
    new_secret,
    provisioning_uri,
    recovery_hash,
    secret_text,
)
from mailqueue.console.second_factor.pages import qr_code

RFC_SECRET = b"12345678901234567890"
NOW = 1_700_000_010  # 20 seconds into a time step
USER = UUID(int=7)


@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (59, "287082"),
        (1111111109, "081804"),
        (1111111111, "050471"),
        (1234567890, "005924"),
        (2000000000, "279037"),
        (20000000000, "353130"),
    ],
)
def test_the_codes_are_those_of_rfc_6238(seconds: int, code: str) -> None:
    """Appendix B has eight digits; six are their end (RFC 4226, section 5.3)."""
    assert matching_step(RFC_SECRET, code, now=seconds) == seconds // 30


@pytest.mark.parametrize(
    ("steps", "counts"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)]
)
def test_a_code_counts_one_step_early_and_late(steps: int, counts: bool) -> None:
    secret = new_secret()
    app = pyotp.TOTP(secret_text(secret).reveal().replace(" ", ""))
    code = app.at(NOW + 30 * steps)

    step = NOW // 30 + steps
    assert matching_step(secret, code, now=NOW) == (step if counts else None)
    assert matching_step(secret, f" {code[:3]} {code[3:]}\n", now=NOW) == (step if counts else None)


@pytest.mark.parametrize(
    "typed",
    ["", "0", "00000", "0000000", "abcdef", "١٢٣٤٥٦", "-1+2e3", "1" * 10_000, "\0" * 6, "²²²²²²"],
)
def test_what_is_no_code_of_six_digits_is_wrong(typed: str) -> None:
    assert matching_step(RFC_SECRET, typed, now=59) is None


def test_no_code_is_right_before_1970() -> None:
    assert matching_step(RFC_SECRET, "755224", now=0) == 0  # RFC 4226, appendix D
    assert matching_step(RFC_SECRET, "287082", now=0) == 1


@pytest.mark.parametrize("name", ["ann", "Ann: of the shop", "Ünal & ?secret=x#", "a@b.example"])
def test_an_app_reads_name_issuer_and_secret(name: str) -> None:
    secret = new_secret()
    app = pyotp.parse_uri(provisioning_uri(secret, name=name, issuer="mail.example.com").reveal())

    assert isinstance(app, pyotp.TOTP)
    assert (app.name, app.issuer) == (name, "mail.example.com")
    assert (app.digits, app.interval) == (6, 30)
    assert app.secret == secret_text(secret).reveal().replace(" ", "")
    assert matching_step(secret, app.at(NOW), now=NOW) == NOW // 30


def test_a_secret_is_new_each_time_and_long_enough() -> None:
    made = {new_secret() for _ in range(50)}

    assert len(made) == 50
    assert {len(each) for each in made} == {SECRET_BYTES} == {20}
    assert "***" in repr(secret_text(made.pop()))


def test_recovery_codes_are_random_and_typed_in_any_way() -> None:
    codes = [each.reveal() for each in new_recovery_codes()]
    first = codes[0]
    wanted = recovery_hash(USER, first)

    assert len(set(codes)) == len(codes) == RECOVERY_CODES
    assert all(re.fullmatch(r"([a-z2-7]{4}-){3}[a-z2-7]{4}", each) for each in codes)
    assert wanted is not None
    assert recovery_hash(USER, f" {first.upper().replace('-', ' ')} ") == wanted
    assert recovery_hash(uuid4(), first) != wanted, "it is of one user"
    assert recovery_hash(USER, codes[1]) != wanted
    for typed in ("", "123456", first[:-1], first + "a", "é" * 16, "a" * 10_000):
        assert recovery_hash(USER, typed) is None


def test_the_picture_of_a_secret_is_bare_svg() -> None:
    uri = provisioning_uri(new_secret(), name="n" * 100, issuer="mail.example.com")
    picture = qr_code(uri).decode()

    assert picture.startswith("<svg ")
    assert set(re.findall(r"<(\w+)", picture)) == {"svg", "path"}
    assert not re.search(r"style|script|href|class|\son", picture)
    assert uri.reveal() not in picture
