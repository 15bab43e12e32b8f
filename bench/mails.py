"""The mails of the benchmarks: of a chosen size, each with its own text."""

from collections.abc import Iterator
from dataclasses import dataclass

from psycopg.types.json import Jsonb

from mailqueue.db.fetch import Conn

SENDER = "sender@example.com"
_ROW = (
    "<tr><td class=item>Item {n:04d}</td><td class=what>A plain description of what was "
    'ordered</td><td><a href="https://shop.example.com/items/{n:04d}">show</a></td></tr>\n'
)
_LINE = "Item {n:04d}: a plain description of what was ordered, one line of it.\n"
VARIABLES = 10  # of a mail from a template
TEXT_SHARE = 6  # a sixth of a mail is its text part


@dataclass(frozen=True, slots=True)
class Body:
    """The subject and bodies of one mail."""

    subject: str
    html: str
    text: str


def body(number: int, size: int) -> Body:
    """Write the mail of this number, `size` bytes of html and text together."""
    text = "".join(_LINE.format(n=n) for n in range(1 + size // TEXT_SHARE // len(_LINE)))
    rows = "".join(_ROW.format(n=n) for n in range(1 + size // len(_ROW)))
    text = f"Order {number}\n\n{text}"[: size // TEXT_SHARE]
    html = f"<html><body><h1>Order {number}</h1>\n<table>\n{rows}"[: size - len(text) - 16]
    return Body(f"Your order {number}", f"{html}\n</body></html>\n", text + "\n")


def bodies(count: int, size: int) -> Iterator[tuple[str, Body]]:
    """Write mails, each with its recipient."""
    template = body(0, size)
    for n in range(count):
        html = template.html.replace("Order 0<", f"Order {n}<", 1)
        text = template.text.replace("Order 0\n", f"Order {n}\n", 1)
        yield f"person{n}@example.com", Body(f"Your order {n}", html, text)


async def fill(conn: Conn, count: int, *, size: int, shared: bool = False) -> None:
    """Queue mails for the default project: each with a body of its own, or all with one."""
    if shared:
        await _fill_shared(conn, count, size=size)
        return
    columns = "recipient_email, subject, html_body, text_body"
    async with (
        conn.cursor() as cursor,
        cursor.copy(f"COPY mailqueue.email_queue ({columns}) FROM STDIN") as copy,
    ):
        for address, mail in bodies(count, size):
            await copy.write_row((address, mail.subject, mail.html, mail.text))


async def _fill_shared(conn: Conn, count: int, *, size: int) -> None:
    mail = body(0, size)
    await conn.execute(
        """
        SELECT count(*) FROM mailqueue.enqueue_batch('default', (
            SELECT jsonb_agg(jsonb_build_object('recipient', 'person' || n || '@example.com',
                'subject', %s::text, 'html', %s::text, 'text', %s::text))
              FROM generate_series(1, %s) AS n))
        """,
        (mail.subject, mail.html, mail.text, count),
    )


async def fill_templated(conn: Conn, count: int, *, size: int) -> None:
    """Queue mails that are rendered from one template, each with ten variables of its own."""
    mail = body(0, size)
    rows = mail.html.split("</tr>\n")
    for n in range(VARIABLES):
        rows[1 + n] = rows[1 + n].replace("A plain", f"{{{{ v{n} }}}} plain")
    words = {
        "language": "en",
        "subject": "Your order {{ v0 }}",
        "html_body": "{% if v1 %}" + "</tr>\n".join(rows) + "{% endif %}",
        "text_body": mail.text.replace("Order 0", "Order {{ v0 }}"),
    }
    made = "SELECT mailqueue.add_template(NULL, %s)"
    version = "SELECT mailqueue.add_template_version(%s, %s)"
    template = await _value(conn, made, Jsonb({"slug": "bench"}))
    draft = await _value(conn, version, template, Jsonb({"texts": [words]}))
    await _value(conn, "SELECT mailqueue.publish_template(%s)", draft)
    await fill_from_template(conn, count)


async def fill_from_template(conn: Conn, count: int) -> None:
    """Queue mails from the existing template."""
    await conn.execute(
        """
        SELECT count(*) FROM mailqueue.enqueue_batch('default', (
            SELECT jsonb_agg(jsonb_build_object('recipient', 'person' || n || '@example.com',
                'template', 'bench', 'variables', (
                    SELECT jsonb_object_agg('v' || v, 'value ' || v || ' of ' || n)
                      FROM generate_series(0, %s) AS v)))
              FROM generate_series(1, %s) AS n))
        """,
        (VARIABLES - 1, count),
    )


async def _value(conn: Conn, query: str, *params: object) -> object:
    row = await (await conn.execute(query.encode(), params)).fetchone()
    assert row is not None
    return row[0]


async def add_account(
    conn: Conn, port: int, *, daily_limit: int | None = None, is_tls: bool = False
) -> int:
    """Add a paused sender account that leads to the sink to the default project."""
    cursor = await conn.execute(
        """
        INSERT INTO mailqueue.sender_accounts
            (project_id, name, email, smtp_host, smtp_port, smtp_tls, is_private_ok, status,
             max_connections, daily_limit)
        SELECT id, %(name)s, %(email)s, '127.0.0.1', %(port)s, %(tls)s, true, 'paused', 4,
               %(daily_limit)s
          FROM mailqueue.projects WHERE name = 'default'
        RETURNING id
        """,
        {
            "name": "bench",
            "email": SENDER,
            "port": port,
            "tls": "implicit" if is_tls else "none",
            "daily_limit": daily_limit,
        },
    )
    row = await cursor.fetchone()
    assert row is not None
    account: int = row[0]
    return account


async def resume(conn: Conn, account: int) -> None:
    """Let the account send."""
    await conn.execute(
        "UPDATE mailqueue.sender_accounts SET status = 'active' WHERE id = %s", (account,)
    )
