"""A page of the console, with a form, is added in three files beside tests and docs."""

from pathlib import Path

from tests.adding.copied import Copy

MAX_FILES = 3
HERE = Path(__file__).parent / "page"
IMPORT = "from mailqueue.console.groups import pages as groups_pages\n"
ROW = "    *groups_pages.PAGES,\n"
ALLOWED = """\
    "/console/projects/{project}/groups": {*EVERY_ROLE},
    "/console/projects/{project}/groups/new": {"superadmin", "project_admin"},
"""


def test_a_page_with_a_form_is_added_in_three_files(copy: Copy) -> None:
    copy.add("mailqueue/console/groups/pages.py", (HERE / "pages.py").read_text())
    copy.add("mailqueue/console/groups/templates/list.html", (HERE / "list.html").read_text())
    copy.insert("mailqueue/console/table.py", IMPORT, before="from mailqueue.console.incidents ")
    copy.insert("mailqueue/console/table.py", ROW, before="*setup_pages.PAGES")
    copy.add("tests/console/groups/test_groups.py", (HERE / "visited.py").read_text())
    copy.insert(
        "tests/console/access/allowed.py", ALLOWED, before='"/console/projects/{project}/pauses":'
    )

    assert len(copy.changed) <= MAX_FILES, copy.changed
    access = "tests/console/access/test_access.py"
    copy.pytest(
        "tests/console/groups",
        f"{access}::test_every_page_with_a_right_stands_in_the_table_of_this_test",
        f"{access}::test_each_role_sees_its_pages_and_no_others[viewer]",
        "tests/rules/test_imports.py",
    )
