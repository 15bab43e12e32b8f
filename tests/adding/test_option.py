"""An option that every interface accepts is added in five files beside tests and docs."""

from pathlib import Path

from tests.adding.copied import Copy

HERE = Path(__file__).parent / "option"
MAX_FILES = 5
ROW = """\
    MailOption(
        "topic",
        _S,
        "--topic",
        help="Topic of the email, such as receipts.",
        api_help="What it is about, such as `receipts`: at most 100 characters.",
        headers=("topic",),
        compat={Api.RESEND: "topic_id"},
        is_kept=True,
        max_characters=100,
    ),
"""
MIGRATION = """\
-- {file}
-- Adds:    the topic of an email
-- Running workers: go on; those of the version before leave it out of history
-- Locks:   email_queue and email_history for a moment

ALTER TABLE mailqueue.email_queue   ADD COLUMN topic text;
ALTER TABLE mailqueue.email_history ADD COLUMN topic text;
COMMENT ON COLUMN mailqueue.email_queue.topic IS 'What the email is about, such as receipts.';
COMMENT ON COLUMN mailqueue.email_history.topic IS 'What the email is about, such as receipts.';

-- Months that are on their way out can be attached again only while they are like the others.
DO $$
DECLARE
    v_table regclass;
BEGIN
    FOR v_table IN
        SELECT c.oid FROM pg_catalog.pg_class AS c
         WHERE c.relnamespace = 'mailqueue'::regnamespace AND NOT c.relispartition
           AND c.relkind = 'r' AND c.relname ~ '^email_history_[0-9]{{4}}_[0-9]{{2}}$'
    LOOP
        EXECUTE format('ALTER TABLE %s ADD COLUMN topic text', v_table);
    END LOOP;
END $$;
"""
SHOWN = '''\
    topic: str | None
    """What it is about, such as `receipts`."""
'''


def test_an_option_is_added_in_five_files(copy: Copy) -> None:
    file = f"{copy.next_migration():04}_topic.sql"

    copy.insert("mailqueue/core/mail_options.py", ROW, before='MailOption("from_name"')
    copy.add(f"sql/migrations/{file}", MIGRATION.format(file=file))
    copy.insert("mailqueue/producer/model.py", "    topic: str | None\n", before="campaign_id: str")
    copy.insert("mailqueue/contract/emails.py", SHOWN, before="custom_data: Any")
    copy.add("tests/whole/test_topic.py", (HERE / "topic.py").read_text("utf-8"))
    copy.insert(
        "docs/sending.md", "| `topic` | at most 100 characters | none |\n", before="| `tags`"
    )
    row = "| `X-Mailqueue-Topic` | the topic |\n"
    copy.insert("docs/clients/smtp.md", row, before="| `X-Mailqueue-Tags`")
    rights = "max_retries, next_retry_at"
    copy.replace("tests/rules/privileges.txt", f"{rights})", f"{rights}, topic)")
    copy.run("-m", "tests.api.http.golden", "--write")

    assert len(copy.changed) <= MAX_FILES, copy.changed
    copy.pytest(
        *("tests/whole/test_topic.py", "tests/rules/test_mail_options.py"),
        *("tests/rules/test_privileges.py", "tests/rules/test_schema.py"),
        *("tests/docs/test_tables.py", "tests/api/http/test_golden.py"),
    )
