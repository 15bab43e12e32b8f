"""The statements of sql/queries/senders/routes.sql."""

from mailqueue.db.sql import ManyRows, OneValue

# Written by python -m tests.rules.constants --write

ADD_ROUTE = OneValue.named("add_route")
"""sql/queries/senders/routes.sql:3: Add a rule, after all others or at a position; its id. Raises
22023 naming the field.
"""
REMOVE_ROUTE = OneValue.named("remove_route")
"""sql/queries/senders/routes.sql:8: Remove a rule; false if there was none."""
LIST_ROUTES = ManyRows.named("list_routes")
"""sql/queries/senders/routes.sql:12: The rules of a project, or of all, in order of evaluation."""
TEST_ROUTE = ManyRows.named("test_route")
"""sql/queries/senders/routes.sql:19: Accounts of such mail, in order, with what blocks them."""
