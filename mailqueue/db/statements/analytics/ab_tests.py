"""The statements of sql/queries/analytics/ab_tests.sql."""

from mailqueue.db.sql import ManyRows, MaybeRow, NoRows, OneRow, OneValue

# Written by python -m tests.rules.constants --write

CREATE_AB_TEST = OneValue.named("create_ab_test")
"""sql/queries/analytics/ab_tests.sql:3: Create a test; its id."""
ADD_AB_TEST_RECIPIENTS = ManyRows.named("add_ab_test_recipients")
"""sql/queries/analytics/ab_tests.sql:7: Send a test to recipients; what became of each."""
LIST_AB_TESTS = ManyRows.named("list_ab_tests")
"""sql/queries/analytics/ab_tests.sql:12: Tests of a project or of all, newest first."""
FIND_AB_TEST = MaybeRow.named("find_ab_test")
"""sql/queries/analytics/ab_tests.sql:26: One test with its variants and their counts, of a project
if one is given.
"""
DECIDE_AB_TEST = OneValue.named("decide_ab_test")
"""sql/queries/analytics/ab_tests.sql:42: Make a variant the winner; false if the test is decided or
over.
"""
CANCEL_AB_TEST = OneValue.named("cancel_ab_test")
"""sql/queries/analytics/ab_tests.sql:46: Cancel a test; false if it is over or cancelled already.
"""
TAKE_AB_TEST = OneRow.named("take_ab_test")
"""sql/queries/analytics/ab_tests.sql:50: What is to be done about a test, whose row stays locked.
"""
RECORD_AB_TEST = NoRows.named("record_ab_test")
"""sql/queries/analytics/ab_tests.sql:55: Store the answer of an evaluation."""
CONTINUE_AB_TEST = OneValue.named("continue_ab_test")
"""sql/queries/analytics/ab_tests.sql:61: Accept mail to the next recipients that waited; what is
left.
"""
