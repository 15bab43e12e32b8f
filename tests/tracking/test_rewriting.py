"""Which links are tracked, and that the rest of a message is unchanged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailqueue.tracking.rewriting import is_amp, rewritten, web_address, with_at_end

BASE = "https://mail.example.com"


def led(html: str) -> str:
    return rewritten(html, lambda url: f"{BASE}/t/c/{len(url)}", base=BASE)


@pytest.mark.parametrize(
    "html",
    [
        '<a href="mailto:ann@example.com">x</a>',
        '<a href="tel:+441865000000">x</a>',
        '<a href="sms:123">x</a>',
        '<a href="#top">x</a>',
        '<a href="/relative">x</a>',
        '<a href="//example.com/x">x</a>',
        '<a href="javascript:alert(1)">x</a>',
        '<a href="data:text/html,x">x</a>',
        '<a href="cid:1@example.com">x</a>',
        '<a href="">x</a>',
        "<a href>x</a>",
        '<a name="x">x</a>',
        '<a href="https://">x</a>',
        '<a href="https://[::1">x</a>',
        '<a href="https://example.com:99999/">x</a>',
        '<a href="https://ann:secret@example.com/">x</a>',
        '<a href="https://example.com/{{ name }}">x</a>',
        f'<a href="{BASE}/t/u/abc">x</a>',
        f'<a href="{BASE}/pref/abc">x</a>',
        '<a href="https://example.com/unsubscribe?u=1">x</a>',
        '<a href="https://example.com/opt-out">x</a>',
        f'<a href="https://example.com/{"x" * 8200}">x</a>',
        '<img src="https://example.com/x.png">',
        '<link href="https://example.com/x.css">',
        '<form action="https://example.com/x"></form>',
        '<!--[if mso]><a href="https://example.com/x">x</a><![endif]-->',
        '<script>"<a href=https://example.com>"</script>',
        '<style>/* <a href="https://example.com"> */</style>',
        "<p>https://example.com/ in words</p>",
    ],
)
def test_what_is_no_web_page_or_is_to_be_left_alone_stays(html: str) -> None:
    assert led(html) == html


@pytest.mark.parametrize(
    ("html", "length"),
    [
        ('<a href="https://example.com/">x</a>', 20),
        ("<A HREF=https://example.com/>x</A>", 20),
        ("<a href='HTTPS://example.com/'>x</a>", 20),
        ('<a href="http://example.com/">x</a>', 19),
        ('<a href=" https://exam\nple.com/ ">x</a>', 20),
        ('<a href="https&#58;//example.com/">x</a>', 20),
        ('<a href="https://example.com/?a=1&amp;b=2">x</a>', 28),
        ('<map><area href="https://example.com/"></map>', 20),
        ('<a href="https://bücher.example/straße">x</a>', 29),
    ],
)
def test_links_to_web_pages_lead_by_way_of_us(html: str, length: int) -> None:
    assert f'="{BASE}/t/c/{length}"' in led(html)


def test_single_links_can_be_left_out_and_the_option_does_not_go_out() -> None:
    html = (
        '<a data-track="off" href="https://example.com/">x</a>'
        "<a href='https://example.com/' data-track=OFF>x</a>"
        '<a href="https://example.com/" data-track="on">x</a>'
    )

    assert led(html) == (
        '<a href="https://example.com/">x</a><a href="https://example.com/">x</a>'
        f'<a href="{BASE}/t/c/20">x</a>'
    )


def test_everything_else_stays_as_it_was_written() -> None:
    html = (
        "<!DOCTYPE html>\n<HTML><head><style>a{b:c}</style></head><BODY bgcolor=#fff >\n"
        "<p>Hi &nbsp;&copy é <!-- [if mso]> x <![endif] --><br/><td\nwidth = 1>{% raw %}"
        '<a HREF=mailto:x@example.com CLASS=x>é</a></unknown><p title="a&amp;b">\n</body></html>\n'
    )

    assert led(html) == html


@given(st.text(max_size=200) | st.text("<>/!-abody href=\"'https:.", max_size=200))
def test_no_html_is_too_strange(html: str) -> None:
    led(html)
    assert "PUT" in with_at_end(html, "PUT")


@pytest.mark.parametrize(
    ("html", "made"),
    [
        ("<p>x", "<p>xPUT"),
        ("<body>x</body>", "<body>xPUT</body>"),
        ("<body>x</BODY >\n</html>\n", "<body>xPUT</BODY >\n</html>\n"),
        ("x</html>", "xPUT</html>"),
        ("<!-- </body> -->x", "<!-- </body> -->xPUT"),
        ("<body>x</body><!-- </body> -->", "<body>x</body><!-- </body> -->PUT"),
        ("x</body><!-- y -->", "xPUT</body><!-- y -->"),
        ("<script>'</body>'</script>x", "<script>'</body>'</script>xPUT"),
        ("", "PUT"),
    ],
)
def test_what_is_put_at_the_end_stands_within_the_body(html: str, made: str) -> None:
    assert with_at_end(html, "PUT") == made


def test_only_documents_that_say_so_are_amp() -> None:
    assert is_amp("<html ⚡4email>")
    assert not is_amp("<p>amp4email</p>")


@pytest.mark.parametrize(
    "href", [None, 7, "ftp://example.com", "https:example.com", "https://\x7f"]
)
def test_only_web_addresses_are_web_addresses(href: object) -> None:
    assert web_address(href) is None


class Counted(str):
    """A text that counts how many of its characters are read."""

    __slots__ = ("looked_at",)
    looked_at: int

    def find(self, sub: str, start: int = 0, end: int | None = None) -> int:  # type: ignore[override]
        found = str.find(self, sub, start, len(self) if end is None else end)
        self.looked_at += (len(self) if end is None else end if found < 0 else found) - start
        return found

    def __getitem__(self, place: object) -> str:
        found = str.__getitem__(self, place)  # type: ignore[index]
        self.looked_at += len(found)
        return found


@pytest.mark.parametrize(
    "end", ["</body>x", "</body>", "</body><!--", "--></html>", "</script></html>"]
)
def test_a_document_of_nothing_but_ends_is_gone_through_once(end: str) -> None:
    """Isolate: such a mail does not delay others."""
    html = Counted(end * 900)
    html.looked_at = 0

    with_at_end(html, "!")

    assert html.looked_at < 5 * len(html)
