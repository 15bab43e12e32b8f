"""`mailqueue email list`: emails found by recipient, status, account, tag and time, by pages."""

from uuid import UUID

from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn
from tests import make
from tests.cli.support.invoked import Cli


async def three(conn: Conn) -> list[UUID]:
    """Make mail to Ann, to Bob with a tag, and to Cal in another project, oldest first."""
    await make.sender_account(conn, name="relay")
    await make.project(conn, "shop")
    first = await make.queued_email(
        conn, recipient_email="ann@example.com", created_at="2030-05-01T12:00:00Z"
    )
    second = await make.queued_email(conn, recipient_email="bob@example.com", tags=["otp"])
    third = await make.queued_email(conn, project="shop", recipient_email="cal@example.com")
    return [first, second, third]


def ids(cli: Cli, *words: str) -> list[str]:
    return [one["id"] for one in cli.json("email", "list", *words)["data"]]


def test_emails_are_found_by_each_filter(on_fresh_db: Cli) -> None:
    ann, bob, cal = map(str, on_fresh_db.sql(three))
    assert on_fresh_db("email", "hold", bob).exit_code == 0

    assert ids(on_fresh_db) == [bob, ann]
    assert ids(on_fresh_db, "--to", "Ann@Example.com") == [ann]
    assert ids(on_fresh_db, "--status", "held") == [bob]
    assert ids(on_fresh_db, "--status", "queued") == [ann]
    assert ids(on_fresh_db, "--tag", "otp", "--to", "bob@example.com") == [bob]
    assert ids(on_fresh_db, "--tag", "otp", "--to", "ann@example.com") == []
    assert ids(on_fresh_db, "--project", "shop") == [cal]
    assert ids(on_fresh_db, "--sender", "relay") == []
    assert ids(on_fresh_db, "--contains", "NN@exam") == [ann]
    assert ids(on_fresh_db, "--contains", "nn@exam", "--tag", "otp") == []
    assert ids(on_fresh_db, "--template", "none") == ids(on_fresh_db, "--provider", "ses") == []


def test_emails_are_found_by_custom_data(on_fresh_db: Cli) -> None:
    async def made(conn: Conn) -> list[UUID]:
        datas = ({"order": 81}, {"order": "81", "shop": "s-1"}, {"order": 82})
        return [await make.queued_email(conn, custom_data=Jsonb(data)) for data in datas]

    number, text, _ = map(str, on_fresh_db.sql(made))

    assert ids(on_fresh_db, "--custom-data", "order=81") == [text, number]
    assert ids(on_fresh_db, "--custom-data", '{"order": 81}') == [number]
    assert ids(on_fresh_db, "--custom-data", '{"order": "81", "shop": "s-1"}') == [text]
    assert ids(on_fresh_db, "--custom-data", "order=83") == []
    refused = on_fresh_db("email", "list", "--custom-data", "order")
    assert refused.exit_code == 2
    assert "must be KEY=VALUE or a JSON object, got 'order'" in refused.output


def test_times_are_ages_or_timestamps_with_an_offset(on_fresh_db: Cli) -> None:
    _, bob, _ = on_fresh_db.sql(three)
    old = "UPDATE mailqueue.email_queue SET created_at = now() - interval '3 days' WHERE id = %s"
    on_fresh_db.sql(lambda conn: conn.execute(old, (bob,)))

    assert ids(on_fresh_db, "--until", "2d") == [str(bob)]
    assert str(bob) not in ids(on_fresh_db, "--since", "2d")
    assert str(bob) in ids(on_fresh_db, "--since", "2020-05-01T00:00:00+02:00")
    for faulty in ("yesterday", "20300501", "2030-05-01", "2030-05-01T08:00"):
        refused = on_fresh_db("email", "list", "--since", faulty)
        assert refused.exit_code == 2
        assert "must be an age such as 4h or 2d, or a timestamp such as" in refused.output


def test_a_list_is_continued_behind_its_cursor(on_fresh_db: Cli) -> None:
    async def seven(conn: Conn) -> list[UUID]:
        return [await make.queued_email(conn) for _ in range(7)]

    made = [str(one) for one in on_fresh_db.sql(seven)]
    found, cursor = list[str](), list[str]()
    for _ in range(4):
        page = on_fresh_db.json("email", "list", "--limit", "2", *cursor)
        found += [one["id"] for one in page["data"]]
        cursor = ["--cursor", page["next_cursor"]]
        if page["next_cursor"] is None:
            break

    assert found == made[::-1]
    shown = on_fresh_db("email", "list", "--limit", "2")
    [hint] = [line for line in shown.stderr.splitlines() if "--cursor" in line]
    following = on_fresh_db("email", "list", "--limit", "2", "--cursor", hint.split()[-1])
    assert [one in following.stdout for one in made] == [False] * 3 + [True] * 2 + [False] * 2
    refused = on_fresh_db("email", "list", "--cursor", "x")
    assert (refused.exit_code, "cursor" in refused.output) == (1, True)


def test_the_table_names_recipient_status_and_id(on_fresh_db: Cli) -> None:
    ann, *_ = on_fresh_db.sql(three)

    shown = on_fresh_db("email", "list", "--to", "ann@example.com")
    nobody = on_fresh_db("email", "list", "--to", "dan@example.com")

    heading, line = shown.stdout.splitlines()
    assert heading.split() == ["ACCEPTED", "STATUS", "TO", "SUBJECT", "SENDER", "ID"]
    assert all(word in line for word in ("pending", "ann@example.com", "Hello", str(ann)))
    assert nobody.stdout == "No email of project default matches.\n"


def test_an_unknown_project_is_named(on_fresh_db: Cli) -> None:
    refused = on_fresh_db("email", "list", "--project", "none")

    assert (refused.exit_code, refused.stderr) == (1, "error: no project none\n")


def test_an_address_in_place_of_an_id_names_the_option_for_addresses(on_shared_db: Cli) -> None:
    refused = on_shared_db("event", "list", "--email", "ann@example.com")

    assert refused.exit_code == 2
    assert "for an address, give --address ann@example.com" in refused.stderr
