"""The statements of sql/queries/projects/rules.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, OneValue

# Written by python -m tests.rules.constants --write

LIST_PROJECT_RULES = ManyRows.named("list_project_rules")
"""sql/queries/projects/rules.sql:3: The rules of a kind, or of all kinds, by their subject; or
those about some subjects.
"""
PUT_PROJECT_RULE = MaybeRow.named("put_project_rule")
"""sql/queries/projects/rules.sql:11: Add a rule, or change the one of an id; none if another has
the subject. Raises 22023 naming the field.
"""
REMOVE_PROJECT_RULE = OneValue.named("remove_project_rule")
"""sql/queries/projects/rules.sql:16: Remove a rule; false if there is none."""
