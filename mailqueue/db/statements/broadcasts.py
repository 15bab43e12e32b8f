"""The statements of sql/queries/broadcasts.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, OneRow

# Written by python -m tests.rules.constants --write

LIST_BROADCASTS = ManyRows.named("list_broadcasts")
"""sql/queries/broadcasts.sql:3: Broadcasts older than one, newest first, or newer than one, oldest
first, those of some ids, or the one of an id, with its texts: those of SendGrid's API, or those
of Resend's.
"""
PAGE_SINGLE_SENDS = OneRow.named("page_single_sends")
"""sql/queries/broadcasts.sql:31: How many single sends are sought, whether the one that a page
begins behind is among them, and the ids of the page, the newest first, with one more where
another page follows.
"""
LIST_SINGLE_SEND_CATEGORIES = ManyRows.named("list_single_send_categories")
"""sql/queries/broadcasts.sql:55: Categories of the newest single sends, by name."""
ADD_BROADCAST = MaybeRow.named("add_broadcast")
"""sql/queries/broadcasts.sql:69: Id of the draft that was added; none: the project has as many as
it may have.
"""
CHANGE_BROADCAST = MaybeRow.named("change_broadcast")
"""sql/queries/broadcasts.sql:76: Id of the draft that was changed; none: it is no draft, or was
changed after a time.
"""
BEGIN_BROADCAST = MaybeRow.named("begin_broadcast")
"""sql/queries/broadcasts.sql:84: Id of the draft that a schedule sends from now on; none: it is no
draft.
"""
TAKE_BACK_BROADCAST = MaybeRow.named("take_back_broadcast")
"""sql/queries/broadcasts.sql:91: Id of the broadcast that is a draft again."""
REMOVE_BROADCAST = MaybeRow.named("remove_broadcast")
"""sql/queries/broadcasts.sql:98: Id of the draft that was removed; none: it is no draft."""
LIST_BROADCAST_RECIPIENTS = ManyRows.named("list_broadcast_recipients")
"""sql/queries/broadcasts.sql:104: Mail of a broadcast to which something happened, newest first:
how often by people, and what was clicked.
"""
LIST_BROADCAST_LINKS = ManyRows.named("list_broadcast_links")
"""sql/queries/broadcasts.sql:131: Links of a broadcast that people clicked, by the address, with a
number made from it.
"""
COUNT_BROADCASTS = ManyRows.named("count_broadcasts")
"""sql/queries/broadcasts.sql:143: How much mail broadcasts have, and how often what happened to it:
opens and clicks by people.
"""
