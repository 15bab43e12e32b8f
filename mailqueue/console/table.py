"""The table of all pages, from which routes, rights and their tests are derived; the navigation."""

from mailqueue.administration.users.model import Right
from mailqueue.console.audit import pages as audit_pages
from mailqueue.console.dashboard import pages as dashboard_pages
from mailqueue.console.domains import acting as domains_acting
from mailqueue.console.domains import pages as domains_pages
from mailqueue.console.emails import acting, message
from mailqueue.console.emails import pages as emails_pages
from mailqueue.console.frame.navigation import Section
from mailqueue.console.frame.page import ConsolePage
from mailqueue.console.incidents import pages as incidents_pages
from mailqueue.console.infrastructure import acting as infrastructure_acting
from mailqueue.console.infrastructure import pages as infrastructure_pages
from mailqueue.console.keys import changing as keys_changing
from mailqueue.console.keys import pages as keys_pages
from mailqueue.console.login import coding, confirming, issuer
from mailqueue.console.login import pages as login_pages
from mailqueue.console.pauses import pages as pauses_pages
from mailqueue.console.projects import changing as projects_changing
from mailqueue.console.projects import overview
from mailqueue.console.projects import pages as projects_pages
from mailqueue.console.recipients import acting as recipients_acting
from mailqueue.console.recipients import exporting as recipients_exporting
from mailqueue.console.recipients import pages as recipients_pages
from mailqueue.console.search import pages as search_pages
from mailqueue.console.second_factor import pages as second_factor_pages
from mailqueue.console.senders import pages as senders_pages
from mailqueue.console.settings import pages as settings_pages
from mailqueue.console.setup import pages as setup_pages
from mailqueue.console.suppression import adding as suppression_adding
from mailqueue.console.suppression import pages as suppression_pages
from mailqueue.console.templates import acting as templates_acting
from mailqueue.console.templates import owner as templates_owner
from mailqueue.console.templates import pages as templates_pages
from mailqueue.console.templates import preview as templates_preview
from mailqueue.console.templates import writing as templates_writing
from mailqueue.console.users import changing, members
from mailqueue.console.users import pages as users_pages
from mailqueue.console.webhooks import changing as webhooks_changing
from mailqueue.console.webhooks import delivering as webhooks_delivering
from mailqueue.console.webhooks import pages as webhooks_pages

PAGES: tuple[ConsolePage, ...] = (
    *login_pages.PAGES,
    *issuer.PAGES,
    *coding.PAGES,
    *confirming.PAGES,
    *second_factor_pages.PAGES,
    *users_pages.PAGES,
    *changing.PAGES,
    *members.PAGES,
    *dashboard_pages.PAGES,
    *infrastructure_pages.PAGES,
    *infrastructure_acting.PAGES,
    *pauses_pages.PAGES,
    *incidents_pages.PAGES,
    *projects_pages.PAGES,
    *overview.PAGES,
    *projects_changing.PAGES,
    *settings_pages.PAGES,
    *senders_pages.PAGES,
    *domains_acting.PAGES,  # `new` comes before a domain
    *domains_pages.PAGES,
    *setup_pages.PAGES,
    *emails_pages.PAGES,
    *message.PAGES,
    *acting.PAGES,
    *recipients_pages.PAGES,
    *recipients_acting.PAGES,
    *recipients_exporting.PAGES,
    *suppression_pages.PAGES,
    *suppression_adding.PAGES,
    *search_pages.PAGES,
    *templates_writing.PAGES,  # `new` comes before the id of a template
    *templates_acting.PAGES,
    *templates_preview.PAGES,
    *templates_pages.PAGES,
    *audit_pages.PAGES,
    *keys_changing.PAGES,  # `new` comes before the id of a key
    *keys_pages.PAGES,
    *webhooks_changing.PAGES,  # `new` comes before the id of a webhook
    *webhooks_delivering.PAGES,
    *webhooks_pages.PAGES,
)

NAVIGATION: tuple[Section, ...] = (
    Section("Dashboard", dashboard_pages.DASHBOARD, Right.READ, needs_all=True),
    Section("Infrastructure", infrastructure_pages.PATH, Right.READ, needs_all=True),
    Section("Projects", projects_pages.PROJECTS, Right.READ),
    Section("Templates", templates_owner.PLATFORM, Right.ADMINISTER),
    Section("Users", users_pages.USERS, Right.ADMINISTER),
    Section("Audit log", audit_pages.PATH, Right.ADMINISTER),
    Section("Overview", "overview", Right.READ, of_project=True),
    Section("Activity", "activity", Right.READ, of_project=True),
    Section("Emails", "emails", Right.READ, of_project=True, group="Mail"),
    Section("Incidents", "incidents", Right.READ, of_project=True, group="Mail"),
    Section("Pauses", "pauses", Right.READ, of_project=True, group="Mail"),
    Section("Suppressions", "suppressions", Right.READ, of_project=True, group="Mail"),
    Section("Templates", "templates", Right.READ, of_project=True, group="Mail"),
    Section("First steps", "setup", Right.CONFIGURE, of_project=True, group="Sending"),
    Section("Sender accounts", "senders", Right.READ, of_project=True, group="Sending"),
    Section("Domains", "domains", Right.READ, of_project=True, group="Sending"),
    Section("API keys", "keys", Right.MANAGE_KEYS, of_project=True, group="Programs"),
    Section("Webhooks", "webhooks", Right.READ, of_project=True, group="Programs"),
    Section("Members", "members", Right.MANAGE_MEMBERS, of_project=True, group="Project"),
    Section("Audit log", "audit", Right.READ_AUDIT, of_project=True, group="Project"),
    Section("Settings", "settings", Right.READ, of_project=True, group="Project"),
)
