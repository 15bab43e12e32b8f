"""The statements of sql/queries/suppression.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneValue

# Written by python -m tests.rules.constants --write

FIND_SUPPRESSION_PROJECT = MaybeRow.named("find_suppression_project")
"""sql/queries/suppression.sql:3: The id of the project of that name."""
COPY_SUPPRESSION_LINES = NoRows.named("copy_suppression_lines")
"""sql/queries/suppression.sql:7: COPY lines of a list; take_suppression_lines() makes suppressions
of them in the same transaction.
"""
TAKE_SUPPRESSION_LINES = ManyRows.named("take_suppression_lines")
"""sql/queries/suppression.sql:11: The number of lines copied with an id that were added, renewed
and already there.
"""
TAKE_SUPPRESSIONS = ManyRows.named("take_suppressions")
"""sql/queries/suppression.sql:17: The same, for each line."""
LIST_SUPPRESSIONS = ManyRows.named("list_suppressions")
"""sql/queries/suppression.sql:23: Suppressions in force after one, newest first."""
FIND_SUPPRESSIONS = ManyRows.named("find_suppressions")
"""sql/queries/suppression.sql:30: Suppressions in force of an address in any spelling; those of all
mail first.
"""
FIND_SUPPRESSED_SPELLINGS = ManyRows.named("find_suppressed_spellings")
"""sql/queries/suppression.sql:41: The suppressed addresses of that hash, '' for one that is stored
by hash only; none: it is not suppressed.
"""
LIST_PAST_SUPPRESSIONS = ManyRows.named("list_past_suppressions")
"""sql/queries/suppression.sql:49: Past suppressions of addresses or a hash, latest first."""
LIST_SUPPRESSIONS_BY_HASH = ManyRows.named("list_suppressions_by_hash")
"""sql/queries/suppression.sql:70: Suppressions in force of a hash, with the address or without."""
FIND_STOPPING_CATEGORIES = OneValue.named("find_stopping_categories")
"""sql/queries/suppression.sql:80: Categories of suppressions that apply to mail of a category."""
HASH_ADDRESSES = ManyRows.named("hash_addresses")
"""sql/queries/suppression.sql:84: Hashes of addresses in a project, suppressed or not, in order; ''
once its key is deleted.
"""
REMOVE_SUPPRESSIONS = OneValue.named("remove_suppressions")
"""sql/queries/suppression.sql:90: Remove suppressions of an address or a hash, in a category or
all; the number removed. Raises 22023 naming the field.
"""
FIND_RECIPIENT_OF_LINK = MaybeRow.named("find_recipient_of_link")
"""sql/queries/suppression.sql:96: Recipient of a mail and the data of its pages; none once the mail
was archived.
"""
LIST_SUBSCRIPTIONS = ManyRows.named("list_subscriptions")
"""sql/queries/suppression.sql:101: Subscription state of a person in every category of the project,
in marketing, in one more, and in all together (*).
"""
FIND_GLOBAL_SUPPRESSION = MaybeRow.named("find_global_suppression")
"""sql/queries/suppression.sql:121: Why a person receives no mail at all, for a reason other than a
choice.
"""
CHANGE_SUBSCRIPTIONS = ManyRows.named("change_subscriptions")
"""sql/queries/suppression.sql:128: Record a person's choices for categories; returns what changed.
"""
LIST_CATEGORIES = ManyRows.named("list_categories")
"""sql/queries/suppression.sql:135: The categories of a project as shown, or the one of that slug.
"""
PUT_CATEGORY = MaybeRow.named("put_category")
"""sql/queries/suppression.sql:142: Add or change a category; none if it must be new and exists.
Raises 22023 naming the field.
"""
REMOVE_CATEGORY = OneValue.named("remove_category")
"""sql/queries/suppression.sql:147: Hide a category; false if there is none."""
