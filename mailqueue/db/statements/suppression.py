"""The statements of sql/queries/suppression.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneValue

# Written by python -m tests.rules.constants --write

COPY_SUPPRESSION_LINES = NoRows.named("copy_suppression_lines")
"""sql/queries/suppression.sql:3: COPY lines of a list; take_suppression_lines() makes suppressions
of them in the same transaction.
"""
TAKE_SUPPRESSION_LINES = ManyRows.named("take_suppression_lines")
"""sql/queries/suppression.sql:7: The number of lines copied with an id that were added, renewed and
already there.
"""
TAKE_SUPPRESSIONS = ManyRows.named("take_suppressions")
"""sql/queries/suppression.sql:13: The same, for each line."""
LIST_SUPPRESSIONS = ManyRows.named("list_suppressions")
"""sql/queries/suppression.sql:19: Suppressions in force after one, newest first."""
FIND_SUPPRESSIONS = ManyRows.named("find_suppressions")
"""sql/queries/suppression.sql:26: Suppressions in force of an address in any spelling; those of all
mail first.
"""
FIND_SUPPRESSED_SPELLINGS = ManyRows.named("find_suppressed_spellings")
"""sql/queries/suppression.sql:37: The suppressed addresses of that hash, '' for one that is stored
by hash only; none: it is not suppressed.
"""
LIST_PAST_SUPPRESSIONS = ManyRows.named("list_past_suppressions")
"""sql/queries/suppression.sql:45: Past suppressions of addresses or a hash, latest first."""
LIST_SUPPRESSIONS_BY_HASH = ManyRows.named("list_suppressions_by_hash")
"""sql/queries/suppression.sql:66: Suppressions in force of a hash, with the address or without."""
FIND_STOPPING_CATEGORIES = OneValue.named("find_stopping_categories")
"""sql/queries/suppression.sql:76: Categories of suppressions that apply to mail of a category."""
HASH_ADDRESSES = ManyRows.named("hash_addresses")
"""sql/queries/suppression.sql:80: Hashes of addresses in a project, suppressed or not, in order; ''
once its key is deleted.
"""
REMOVE_SUPPRESSIONS = OneValue.named("remove_suppressions")
"""sql/queries/suppression.sql:86: Remove suppressions of an address or a hash, in a category or
all; the number removed. Raises 22023 naming the field.
"""
FIND_RECIPIENT_OF_LINK = MaybeRow.named("find_recipient_of_link")
"""sql/queries/suppression.sql:92: Recipient of a mail and the data of its pages; none once the mail
was archived.
"""
LIST_SUBSCRIPTIONS = ManyRows.named("list_subscriptions")
"""sql/queries/suppression.sql:97: Subscription state of a person in every category of the project,
in marketing, in one more, and in all together (*).
"""
FIND_GLOBAL_SUPPRESSION = MaybeRow.named("find_global_suppression")
"""sql/queries/suppression.sql:117: Why a person receives no mail at all, for a reason other than a
choice.
"""
CHANGE_SUBSCRIPTIONS = ManyRows.named("change_subscriptions")
"""sql/queries/suppression.sql:124: Record a person's choices for categories; returns what changed.
"""
LIST_CATEGORIES = ManyRows.named("list_categories")
"""sql/queries/suppression.sql:131: The categories of a project as shown, or the one of that slug.
"""
PUT_CATEGORY = MaybeRow.named("put_category")
"""sql/queries/suppression.sql:138: Add or change a category; none if it must be new and exists.
Raises 22023 naming the field.
"""
REMOVE_CATEGORY = OneValue.named("remove_category")
"""sql/queries/suppression.sql:143: Hide a category; false if there is none."""
