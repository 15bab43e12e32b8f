"""The statements of sql/queries/tracking.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneValue

# Written by python -m tests.rules.constants --write

LIST_TRACKING_KEYS = ManyRows.named("list_tracking_keys")
"""sql/queries/tracking.sql:3: The keys of a project, the one that creates tokens first."""
LIST_REVOKED_TRACKING_KEYS = ManyRows.named("list_revoked_tracking_keys")
"""sql/queries/tracking.sql:11: The revoked keys of a project."""
FIND_TRACKING_PROJECT = MaybeRow.named("find_tracking_project")
"""sql/queries/tracking.sql:18: The project of a key that was not revoked."""
ADD_TRACKING_KEY = OneValue.named("add_tracking_key")
"""sql/queries/tracking.sql:25: Store the key by which a project creates tokens; false if it has one
already, or the id exists.
"""
RETIRE_TRACKING_KEY = NoRows.named("retire_tracking_key")
"""sql/queries/tracking.sql:35: Stop creating tokens with a project's key; existing tokens remain
valid.
"""
REVOKE_TRACKING_KEY = OneValue.named("revoke_tracking_key")
"""sql/queries/tracking.sql:42: Revoke a retired key of a project: its tokens open nothing from now
on. The number of keys revoked.
"""
NOTE_TRACKING_KEY = NoRows.named("note_tracking_key")
"""sql/queries/tracking.sql:54: Write an audit row for a change of a project's keys."""
READ_TRACKING_PROJECTS = ManyRows.named("read_tracking_projects")
"""sql/queries/tracking.sql:59: Postal address and link domain of these projects."""
KEEP_TRACKED_LINKS = NoRows.named("keep_tracked_links")
"""sql/queries/tracking.sql:65: Store link targets, before mail with these links is sent; one that
an erasure changed is restored. In order: concurrent transactions insert the same rows.
"""
FIND_TRACKED_LINKS = ManyRows.named("find_tracked_links")
"""sql/queries/tracking.sql:75: Targets of these links of a project."""
LOOK_AT_CLICKS = ManyRows.named("look_at_clicks")
"""sql/queries/tracking.sql:81: When these mails were sent, and which of their links were clicked
within an interval.
"""
JUDGE_CLICKS = NoRows.named("judge_clicks")
"""sql/queries/tracking.sql:86: Mark clicks in these mails within an interval as made by a program.
"""
NOTE_TRACKING_GAPS = NoRows.named("note_tracking_gaps")
"""sql/queries/tracking.sql:90: Count mail that was sent without something it should contain."""
FIND_TRACKING_DOMAIN = MaybeRow.named("find_tracking_domain")
"""sql/queries/tracking.sql:94: A project by its name, with the domain of its links."""
NOTE_TRACKING_DOMAIN = MaybeRow.named("note_tracking_domain")
"""sql/queries/tracking.sql:101: Store whether a tracking domain leads to this installation; returns
since when it is confirmed.
"""
LIST_CONFIRMED_DOMAINS = ManyRows.named("list_confirmed_domains")
"""sql/queries/tracking.sql:105: Tracking domains of all projects whose DNS leads here."""
LIST_TRACKING_KEYS_SHOWN = ManyRows.named("list_tracking_keys_shown")
"""sql/queries/tracking.sql:109: When the keys of a project's tokens were created, retired and
revoked, newest first.
"""
SWEEP_TRACKED_LINKS = OneValue.named("sweep_tracked_links")
"""sql/queries/tracking.sql:116: Delete a batch of link targets that no mail has used for long;
returns their number.
"""
