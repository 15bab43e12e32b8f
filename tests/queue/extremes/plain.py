"""Plain rows of every table, and which tables are filled in which way."""

from collections.abc import Mapping

OF_NOBODY = {
    "book_checks",
    "lane_classes",
    "lane_gather",
    "lock_rows",
    "providers",
    "refusals",
    "retained_kinds",
    "schema_migrations",
    "schema_objects",
    "server_identity",
    "system_settings",
    "time_zone_offsets",
    "time_zone_releases",
    "time_zones",
    "trace_export",
    "usage_counts",
}
"""Tables of the installation itself, whose rows concern the mail of all."""
ALONE = (
    "bounce_list",
    "data_keys",
    "dkim_keys",
    "email_contents",
    "email_queue",
    "email_recipients",
    "lanes",
    "limit_counters",
    "limit_days",
    "limit_windows",
    "limits",
    "pauses",
    "project_usage",
    "project_usage_changes",
    "projects",
    "retry_ladders",
    "routing_rules",
    "sender_accounts",
    "subscription_categories",
    "subscription_preferences",
    "suppressions",
    "template_texts",
    "template_versions",
    "templates",
    "tracking_keys",
    "unsubscribe_list",
)
"""Tables that the path of a mail reads: each of their rows is in a project of its own."""
OF_LIMITS = "limit_id IN (SELECT id FROM mailqueue.limits WHERE project_id = {project})"
WHOSE: Mapping[str, str] = {
    "projects": "id = {project}",
    "limit_counters": OF_LIMITS,
    "limit_days": OF_LIMITS,
}
"""The rows of a project, where it is not said by `project_id`."""
REFERENCES: Mapping[str, str] = {
    "email_id": "(SELECT id FROM mailqueue.email_queue WHERE project_id = {project} LIMIT 1)",
    "contact_id": "(SELECT id FROM mailqueue.contacts WHERE project_id = {project} LIMIT 1)",
    "inbox_id": "(SELECT min(id) FROM mailqueue.inbox_state WHERE project_id = {project})",
    "lane_id": "(SELECT min(id) FROM mailqueue.lanes WHERE project_id = {project})",
    "limit_id": "(SELECT max(id) FROM mailqueue.limits WHERE project_id = {project})",
    "schedule_id": "(SELECT id FROM mailqueue.schedules WHERE project_id = {project} LIMIT 1)",
    "run_id": "(SELECT id FROM mailqueue.schedule_runs WHERE project_id = {project} LIMIT 1)",
    "sender_account_id": "(SELECT min(id) FROM mailqueue.sender_accounts"
    " WHERE project_id = {project})",
    "sequence_id": "(SELECT id FROM mailqueue.sequences WHERE project_id = {project} LIMIT 1)",
    "enrollment_id": "(SELECT id FROM mailqueue.sequence_enrollments"
    " WHERE project_id = {project} LIMIT 1)",
    "list_id": "(SELECT id FROM mailqueue.contact_lists WHERE project_id = {project} LIMIT 1)",
    "project_id": "{project}",
    "ab_test_id": "(SELECT id FROM mailqueue.ab_tests WHERE project_id = {project} LIMIT 1)",
    "send_id": "(SELECT id FROM mailqueue.list_sends WHERE project_id = {project} LIMIT 1)",
}
TOGETHER: Mapping[str, Mapping[str, str]] = {
    "archives": {
        "month": "date_trunc('month', now())",
        "kind": "'send_logs'",
        "store": "'file://{folder}/none'",
        "path": "'none/{n}'",
    },
    "attachments": {"octets": r"'\x00'"},
    "audit_seals": {"kind": "'row'", "event_id": "{n}"},
    "bounce_list": {"email": "'ann@example.com'"},
    "bulk_operations": {"verb": "'hold'", "filter": """'{{"subject": "Hello"}}'"""},
    "exports": {"kind": "'emails'", "format": "'csv'"},
    "imports": {"kind": "'contacts'", "encoding": "'utf-8'"},
    "ab_test_variants": {
        "number": "1",
        "share": "50",
        "contents": """'[{{"subject": "Hello", "text": "Hello"}}]'""",
    },
    "list_sends": {
        "list_id": "gen_random_uuid()",
        "list_name": "'news'",
        "contents": """'[{{"subject": "Hello", "text": "Hello"}}]'""",
    },
    "list_send_contacts": {"contact_id": "gen_random_uuid()"},
    "dkim_keys": {
        "domain": "'example.com'",
        "algorithm": "'rsa-sha256'",
        "status": "'active'",
        "private_key": r"'\x00'",
        "public_key": "'none'",
    },
    "birthday_rules": {
        "local_time": "'09:00'",
        "leap_day": "'march_1'",
        "template": "'welcome'",
    },
    "broadcasts": {"content": "'{{}}'", "schedule_id": "gen_random_uuid()", "begun_at": "now()"},
    "console_users": {"role": "'viewer'"},
    "data_keys": {"wrapped": r"'\x00'"},
    "event_rules": {"template": "'welcome'", "recipient": "'$.email'", "key": "'order'"},
    "limit_windows": {"seconds": "3600", "slot": "extract(epoch FROM now())::bigint / 60"},
    "inbox_actions": {"result": "'cancelled'"},
    "inbound_endpoints": {"token_hash": "sha256('{n}')"},
    "channel_consents": {"channel_id": "gen_random_uuid()"},
    "inbox_consents": {"state_hash": "sha256('{n}')"},
    "notification_channels": {"sealed_token": r"'\x00'", "slack_channel_id": "'C{n}'"},
    "outbox_message": {"content_type": "'application/json'"},
    "outbox_state": {"target": "gen_random_uuid()::text"},
    "retry_ladders": {"steps": "'{{1 min}}'"},
    "template_pictures": {"media_type": "'image/png'", "width": "1", "height": "1"},
    "routing_rules": {
        "accounts": "ARRAY(SELECT id FROM mailqueue.sender_accounts WHERE project_id = {project})",
        "domain": "'example.com'",
    },
    "schedules": {
        "once_at": "now()",
        "next_run_at": "now()",
        "next_local": "now() AT TIME ZONE 'UTC'",
        "message": """'{{"subject": "Hello", "text": "Hello"}}'""",
        "recipients": """'[{{"email": "ann@example.com"}}]'""",
    },
    "schedule_runs": {
        "message": """'{{"subject": "Hello", "text": "Hello"}}'""",
        "recipients": """'[{{"email": "ann@example.com"}}]'""",
    },
    "enrollment_steps": {"result": "'skipped'"},
    "sequence_enrollments": {"number": "{n}", "step": "'one'"},
    "sequence_versions": {"version": "{n}", "steps": "'[]'", "published_at": "now()"},
    "subscription_categories": {"slug": "'transactional'"},
    "suppressions": {"address": "'bob@example.com'"},
    "timed_events": {"template": "'welcome'", "time_zone": "'UTC'", "recipient": "'x@example.com'"},
    "tracked_links": {"link": "decode(lpad('{n}', 24, '0'), 'hex')", "url": "'http://example.com'"},
    "unsubscribe_list": {"email": "'ann@example.com'"},
}
"""Columns of a plain row that no default or type tells."""
PLAIN: Mapping[str, str] = {
    "text": "'word{n}'",
    "name": "'word{n}'",
    "timestamptz": "now()",
    "timestamp": "now()::timestamp",
    "date": "current_date",
    "time": "'12:00'",
    "int2": "1",
    "int4": "{n} + 1000",
    "int8": "{n} + 1000",
    "numeric": "1",
    "float8": "1",
    "bool": "false",
    "uuid": "gen_random_uuid()",
    "bytea": "decode(md5('{n}'), 'hex')",
    "jsonb": "'{{}}'",
    "json": "'{{}}'",
    "inet": "'192.0.2.1'",
    "interval": "'1 day'",
    "xid8": "'1'",
}
NEEDED = """
    SELECT a.attname::text, t.typname::text,
           (SELECT min(substring(pg_get_constraintdef(k.oid) FROM '''[a-z_-]+''(?=::text)'))
              FROM pg_constraint AS k
             WHERE k.conrelid = a.attrelid AND k.contype = 'c' AND k.conkey = ARRAY[a.attnum]
               AND t.typname = 'text')
    FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid
    WHERE a.attrelid = ('mailqueue.' || %s)::regclass AND a.attnum > 0 AND NOT a.attisdropped
      AND NOT a.atthasdef AND a.attidentity = '' AND a.attgenerated = ''
      AND (a.attnotnull OR a.attname = 'project_id')
"""
INSERTS: Mapping[str, str] = {
    "notifications": r"""
    WITH u AS (
        INSERT INTO mailqueue.inbox_users (project_id, email)
        SELECT %s, 'person' || n || '@example.com' FROM generate_series(1, %s) AS n
        RETURNING id, project_id
    ), m AS (
        INSERT INTO mailqueue.mailboxes (project_id, user_id, provider, email_address, host, port,
            tls, username, sealed_password, folders, scan_seconds)
        SELECT project_id, id, 'imap', 'ann@example.com', 'imap.example.com', 993, 'implicit',
               'ann', '\x00', '{INBOX}', 86400 FROM u
        RETURNING id, user_id
    ), c AS (
        INSERT INTO mailqueue.notification_channels (project_id, user_id, channel_type,
            sealed_token, slack_channel_id)
        SELECT project_id, id, 'slack', '\x00', 'C01' FROM u RETURNING id, project_id, user_id
    )
    INSERT INTO mailqueue.notifications (project_id, user_id, email_account_id,
        notification_channel_id, email_received_at)
    SELECT c.project_id, c.user_id, m.id, c.id, now() FROM c JOIN m ON m.user_id = c.user_id
    RETURNING tableoid::text, ctid::text
""",
    "canaries": """
    WITH a AS (
        INSERT INTO mailqueue.sender_accounts (project_id, name, email, smtp_host, smtp_port,
            smtp_tls, is_private_ok)
        SELECT %s, 'canary-' || n, 'canary@example.com', '127.0.0.1',
               (SELECT max(smtp_port) FROM mailqueue.sender_accounts WHERE name = 'relay'),
               'none', true
          FROM generate_series(1, %s) AS n
        RETURNING id, project_id
    )
    INSERT INTO mailqueue.canaries (project_id, sender_account_id, recipient, every)
    SELECT project_id, id, 'ops@example.com', '1 day' FROM a RETURNING tableoid::text, ctid::text
    """,
}
"""Rows of a project with what they refer to: notifications with a person, an inbox and a channel
each, canaries with a sender account, which send once: what neighbours do has to end."""
