"""The mails with which persons set a password. Pure."""

from collections.abc import Mapping
from datetime import UTC, datetime
from html import escape
from types import MappingProxyType

from mailqueue.mail.accept.enqueue import NewEmail

_OPTIONS: Mapping[str, object] = MappingProxyType(
    {
        # A link that is rewritten, or fetched by a scanner of somebody else, is a link given away.
        "track_opens": False,
        "track_clicks": False,
        "unsubscribe": False,
        "tags": ["inbox-login"],
    }
)


def invitation_mail(email: str, project: str, url: str, until: datetime) -> NewEmail:
    """Return the mail that invites a person."""
    end = until.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return _mail(
        email,
        subject=f"Your notifications of new mail from {project}",
        begin=f"{project} can notify you of new mail in your inboxes. Choose a password here to "
        "connect inboxes and channels:",
        url=url,
        button="Choose a password",
        end=f"The link works once, until {end}. If you do not want this, do nothing.",
    )


def reset_mail(email: str, project: str, url: str) -> NewEmail:
    """Return the mail with which a person sets a new password."""
    return _mail(
        email,
        subject=f"A new password for your notifications from {project}",
        begin=f"Somebody, probably you, asked for a new password for {email}. Choose it here:",
        url=url,
        button="Choose a new password",
        end="The link works once, within an hour. If it was not you, do nothing: your password "
        "stays as it is.",
    )


def _mail(email: str, *, subject: str, begin: str, url: str, button: str, end: str) -> NewEmail:
    html = (
        f'<!doctype html><html lang="en"><body><p>{escape(begin)}</p>'
        f'<p><a href="{escape(url)}">{escape(button)}</a></p><p>{escape(end)}</p></body></html>'
    )
    text = f"{begin}\n\n{url}\n\n{end}\n"
    return NewEmail(email, subject, html, text, _OPTIONS)
