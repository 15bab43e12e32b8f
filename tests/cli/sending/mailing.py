"""A CSV file of recipients and a template, and the mails queued from them."""

from pathlib import Path
from typing import Any

from click.testing import Result

from tests import make
from tests.cli.support.invoked import Cli

HTML = "<p>Dear {{ name }}, you live in {{ city }}.\n"
PEOPLE = "email,name,city\nann@example.com,Ann,Rome\nbob@example.com,Bob & Co,Köln\n"


class Folder:
    """A folder with a CSV file and a template, and the command that reads them."""

    def __init__(self, cli: Cli, path: Path) -> None:
        self.cli = cli
        self.csv = path / "people.csv"
        self.html = path / "hello.html"
        self.html.write_text(HTML, "utf-8")

    def words(self, people: str | bytes, *options: str, file: str | None = None) -> tuple[str, ...]:
        if file is None:
            self.csv.write_bytes(people.encode() if isinstance(people, str) else people)
        given = () if "--subject" in options else ("--subject", "Hello {{ name }}")
        html = () if "--text-template-file" in options else ("--template-file", str(self.html))
        return ("enqueue", file or str(self.csv), *html, *given, *options)

    def enqueue(self, people: str | bytes, *options: str) -> Result:
        return self.cli(*self.words(people, *options))

    def document(self, people: str | bytes, *options: str, exit_code: int = 0) -> Any:
        return self.cli.json(*self.words(people, *options), exit_code=exit_code)

    def mails(self) -> list[tuple[Any, ...]]:
        return self.cli.sql(
            lambda conn: make.rows(
                conn,
                "SELECT recipient_email, recipient_name, subject, html_body, text_body"
                " FROM mailqueue.emails ORDER BY id",
            )
        )

    def count(self) -> int:
        return len(self.mails())
