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
    "lane_id": "(SELECT min(id) FROM mailqueue.lanes WHERE project_id = {project})",
    "limit_id": "(SELECT max(id) FROM mailqueue.limits WHERE project_id = {project})",
    "sender_account_id": "(SELECT min(id) FROM mailqueue.sender_accounts"
    " WHERE project_id = {project})",
    "project_id": "{project}",
}
TOGETHER: Mapping[str, Mapping[str, str]] = {
    "archives": {
        "month": "date_trunc('month', now())",
        "kind": "'send_logs'",
        "store": "'file:///tmp/none'",
        "path": "'none/{n}'",
    },
    "attachments": {"octets": r"'\x00'"},
    "audit_seals": {"kind": "'row'", "event_id": "{n}"},
    "bounce_list": {"email": "'ann@example.com'"},
    "dkim_keys": {
        "domain": "'example.com'",
        "algorithm": "'rsa-sha256'",
        "status": "'active'",
        "private_key": r"'\x00'",
        "public_key": "'none'",
    },
    "console_users": {"role": "'viewer'"},
    "data_keys": {"wrapped": r"'\x00'"},
    "limit_windows": {"seconds": "3600", "slot": "extract(epoch FROM now())::bigint / 60"},
    "inbound_endpoints": {"token_hash": "sha256('{n}')"},
    "retry_ladders": {"steps": "'{{1 min}}'"},
    "routing_rules": {
        "accounts": "ARRAY(SELECT id FROM mailqueue.sender_accounts WHERE project_id = {project})",
        "domain": "'example.com'",
    },
    "subscription_categories": {"slug": "'transactional'"},
    "suppressions": {"address": "'bob@example.com'"},
    "tracked_links": {"link": "decode(lpad('{n}', 24, '0'), 'hex')", "url": "'http://example.com'"},
    "unsubscribe_list": {"email": "'ann@example.com'"},
}
"""Columns of a plain row that no default or type tells."""
PLAIN: Mapping[str, str] = {
    "text": "'word{n}'",
    "name": "'word{n}'",
    "timestamptz": "now()",
    "date": "current_date",
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
