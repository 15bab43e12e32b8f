"""The table of all pages, from which routes, rights, menu and their tests are derived."""

from mailqueue.console.ab_tests import acting as ab_tests_acting
from mailqueue.console.ab_tests import pages as ab_tests_pages
from mailqueue.console.analytics import pages as analytics_pages
from mailqueue.console.audit import pages as audit_pages
from mailqueue.console.bridge import pages as bridge_pages
from mailqueue.console.bridge import replaying as bridge_replaying
from mailqueue.console.campaigns import pages as campaigns_pages
from mailqueue.console.contacts import changing as contacts_changing
from mailqueue.console.contacts import lists as contacts_lists
from mailqueue.console.contacts import members as contacts_members
from mailqueue.console.contacts import pages as contacts_pages
from mailqueue.console.dashboard import pages as dashboard_pages
from mailqueue.console.domains import acting as domains_acting
from mailqueue.console.domains import pages as domains_pages
from mailqueue.console.emails import acting, message, suggesting
from mailqueue.console.emails import pages as emails_pages
from mailqueue.console.event_rules import changing as event_rules_changing
from mailqueue.console.event_rules import pages as event_rules_pages
from mailqueue.console.event_rules import trying as event_rules_trying
from mailqueue.console.exports import pages as exports_pages
from mailqueue.console.frame.navigation import Section
from mailqueue.console.frame.page import ConsolePage, sections_of
from mailqueue.console.imports import cancelling as imports_cancelling
from mailqueue.console.imports import pages as imports_pages
from mailqueue.console.incidents import pages as incidents_pages
from mailqueue.console.infrastructure import acting as infrastructure_acting
from mailqueue.console.infrastructure import pages as infrastructure_pages
from mailqueue.console.keys import changing as keys_changing
from mailqueue.console.keys import pages as keys_pages
from mailqueue.console.login import coding, confirming, forgotten, issuer
from mailqueue.console.login import pages as login_pages
from mailqueue.console.passkeys import entering as passkeys_entering
from mailqueue.console.passkeys import pages as passkeys_pages
from mailqueue.console.pauses import pages as pauses_pages
from mailqueue.console.platform import pages as platform_pages
from mailqueue.console.projects import changing as projects_changing
from mailqueue.console.projects import overview
from mailqueue.console.projects import pages as projects_pages
from mailqueue.console.publishing import changing as publishing_changing
from mailqueue.console.publishing import pages as publishing_pages
from mailqueue.console.recipients import acting as recipients_acting
from mailqueue.console.recipients import exporting as recipients_exporting
from mailqueue.console.recipients import pages as recipients_pages
from mailqueue.console.routing import pages as routing_pages
from mailqueue.console.schedules import acting as schedules_acting
from mailqueue.console.schedules import calendar as schedules_calendar
from mailqueue.console.schedules import pages as schedules_pages
from mailqueue.console.search import pages as search_pages
from mailqueue.console.second_factor import pages as second_factor_pages
from mailqueue.console.senders import acting as senders_acting
from mailqueue.console.senders import changing as senders_changing
from mailqueue.console.senders import pages as senders_pages
from mailqueue.console.sequences import acting as sequences_acting
from mailqueue.console.sequences import pages as sequences_pages
from mailqueue.console.settings import pages as settings_pages
from mailqueue.console.settings import texts as settings_texts
from mailqueue.console.setup import pages as setup_pages
from mailqueue.console.suppression import adding as suppression_adding
from mailqueue.console.suppression import pages as suppression_pages
from mailqueue.console.templates import acting as templates_acting
from mailqueue.console.templates import comparing as templates_comparing
from mailqueue.console.templates import details as templates_details
from mailqueue.console.templates import pages as templates_pages
from mailqueue.console.templates import parts as templates_parts
from mailqueue.console.templates import pictures as templates_pictures
from mailqueue.console.templates import preview as templates_preview
from mailqueue.console.templates import trying as templates_trying
from mailqueue.console.templates import writing as templates_writing
from mailqueue.console.timed_events import pages as timed_events_pages
from mailqueue.console.users import changing, members
from mailqueue.console.users import pages as users_pages
from mailqueue.console.watch import changing as watch_changing
from mailqueue.console.watch import notifications as watch_notifications
from mailqueue.console.watch import pages as watch_pages
from mailqueue.console.webhooks import changing as webhooks_changing
from mailqueue.console.webhooks import delivering as webhooks_delivering
from mailqueue.console.webhooks import pages as webhooks_pages

PAGES: tuple[ConsolePage, ...] = (
    *login_pages.PAGES,
    *issuer.PAGES,
    *coding.PAGES,
    *forgotten.PAGES,
    *confirming.PAGES,
    *second_factor_pages.PAGES,
    *passkeys_entering.PAGES,
    *passkeys_pages.PAGES,
    *search_pages.PAGES,
    *overview.PAGES,
    *dashboard_pages.PAGES,
    *infrastructure_pages.PAGES,
    *infrastructure_acting.PAGES,
    *projects_pages.PAGES,
    *projects_changing.PAGES,
    *emails_pages.PAGES,
    *suggesting.PAGES,
    *message.PAGES,
    *acting.PAGES,
    *recipients_pages.PAGES,
    *recipients_acting.PAGES,
    *recipients_exporting.PAGES,
    *campaigns_pages.PAGES,
    *analytics_pages.PAGES,
    *ab_tests_pages.PAGES,
    *ab_tests_acting.PAGES,
    *incidents_pages.PAGES,
    *pauses_pages.PAGES,
    *suppression_pages.PAGES,
    *suppression_adding.PAGES,
    *contacts_pages.PAGES,
    *contacts_lists.PAGES,
    *contacts_changing.PAGES,
    *contacts_members.PAGES,
    *imports_pages.PAGES,
    *imports_cancelling.PAGES,
    *schedules_calendar.PAGES,
    *schedules_pages.PAGES,
    *schedules_acting.PAGES,
    *sequences_pages.PAGES,
    *sequences_acting.PAGES,
    *timed_events_pages.PAGES,
    *event_rules_pages.PAGES,
    *event_rules_changing.PAGES,
    *event_rules_trying.PAGES,
    *watch_pages.PAGES,
    *watch_changing.PAGES,
    *watch_notifications.PAGES,
    *templates_pages.PAGES,
    *templates_writing.PAGES,
    *templates_parts.PAGES,
    *templates_pictures.PAGES,
    *templates_acting.PAGES,
    *templates_details.PAGES,
    *templates_preview.PAGES,
    *templates_comparing.PAGES,
    *templates_trying.PAGES,
    *setup_pages.PAGES,
    *senders_pages.PAGES,
    *senders_changing.PAGES,
    *senders_acting.PAGES,
    *routing_pages.PAGES,
    *domains_pages.PAGES,
    *domains_acting.PAGES,
    *keys_pages.PAGES,
    *keys_changing.PAGES,
    *webhooks_pages.PAGES,
    *webhooks_changing.PAGES,
    *webhooks_delivering.PAGES,
    *publishing_pages.PAGES,
    *publishing_changing.PAGES,
    *bridge_pages.PAGES,
    *bridge_replaying.PAGES,
    *exports_pages.PAGES,
    *users_pages.PAGES,
    *changing.PAGES,
    *members.PAGES,
    *audit_pages.PAGES,
    *platform_pages.PAGES,
    *settings_pages.PAGES,
    *settings_texts.PAGES,
)
"""In the order of the menu, which has the pages with a `menu` of their own."""

NAVIGATION: tuple[Section, ...] = sections_of(PAGES)
