"""The table of all pages, from which routes, the menu and their tests are derived."""

from mailqueue.portal.channels import pages as channels_pages
from mailqueue.portal.frame.page import PortalPage
from mailqueue.portal.inboxes import changing as inboxes_changing
from mailqueue.portal.inboxes import pages as inboxes_pages
from mailqueue.portal.login import account
from mailqueue.portal.login import pages as login_pages
from mailqueue.portal.notifications import pages as notifications_pages
from mailqueue.portal.rules import pages as rules_pages

PAGES: tuple[PortalPage, ...] = (
    *login_pages.PAGES,
    *inboxes_pages.PAGES,
    *inboxes_changing.PAGES,
    *channels_pages.PAGES,
    *rules_pages.PAGES,
    *notifications_pages.PAGES,
    *account.PAGES,
)
"""In the order of the menu, which has the pages with a title there."""

MENU: tuple[tuple[str, str], ...] = tuple((page.menu, page.path) for page in PAGES if page.menu)
