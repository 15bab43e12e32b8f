"""The table of all pages, from which routes, rights and their tests are derived."""

from mailqueue.console.emails import acting, message
from mailqueue.console.emails import pages as emails_pages
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.login import pages as login_pages
from mailqueue.console.login import users
from mailqueue.console.projects import pages as projects_pages
from mailqueue.console.recipients import pages as recipients_pages

PAGES: tuple[ConsolePage, ...] = (
    *login_pages.PAGES,
    *users.PAGES,
    *projects_pages.PAGES,
    *emails_pages.PAGES,
    *message.PAGES,
    *acting.PAGES,
    *recipients_pages.PAGES,
)
