-- 1140_custom_smtp_servers.sql
-- Renames: inline_servers to custom_smtp_servers, its constraints and indexes, and the kind of worker for one mail
-- Drops:   functions by their former names
-- Running workers: stop workers of custom-smtp and the API of earlier versions before; other workers are not affected
-- Locks:   inline_servers for a moment
-- squawk-ignore-file ban-drop-function

-- squawk-ignore renaming-table
ALTER TABLE mailqueue.inline_servers RENAME TO custom_smtp_servers;
DO $$
DECLARE
    r record;
BEGIN
    FOR r IN SELECT c.conname AS name FROM pg_constraint AS c
              WHERE c.conrelid = 'mailqueue.custom_smtp_servers'::regclass AND starts_with(c.conname, 'inline_servers_')
    LOOP
        EXECUTE format('ALTER TABLE mailqueue.custom_smtp_servers RENAME CONSTRAINT %I TO %I', r.name,
                       replace(r.name, 'inline_servers_', 'custom_smtp_servers_'));
    END LOOP;
    -- Those of constraints have new names by now.
    FOR r IN SELECT c.relname AS name FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
              WHERE i.indrelid = 'mailqueue.custom_smtp_servers'::regclass AND starts_with(c.relname, 'inline_servers_')
    LOOP
        EXECUTE format('ALTER INDEX mailqueue.%I RENAME TO %I', r.name,
                       replace(r.name, 'inline_servers_', 'custom_smtp_servers_'));
    END LOOP;
END $$;
UPDATE mailqueue.workers SET kind = 'custom-smtp-mail' WHERE kind = 'inline';

DROP FUNCTION IF EXISTS mailqueue.begin_inline(text, jsonb, text, integer, text);
DROP FUNCTION IF EXISTS mailqueue.check_inline(jsonb);
DROP FUNCTION IF EXISTS mailqueue.claim_inline_servers(integer, integer, interval, boolean, integer, text[], integer[]);
DROP FUNCTION IF EXISTS mailqueue.due_inline(uuid[]);
DROP FUNCTION IF EXISTS mailqueue.give_back_inline_servers(uuid[]);
DROP FUNCTION IF EXISTS mailqueue.keep_inline_server(uuid, integer);
DROP FUNCTION IF EXISTS mailqueue.mark_inline(mailqueue.email_queue, text, integer, text);
DROP FUNCTION IF EXISTS mailqueue.queue_inline(text, jsonb, uuid, bytea);
DROP FUNCTION IF EXISTS mailqueue.queue_shared_inline(text, jsonb, jsonb, jsonb, boolean, text, uuid[], bytea[]);
DROP FUNCTION IF EXISTS mailqueue.ready_inline_servers(timestamptz);
DROP FUNCTION IF EXISTS mailqueue.release_inline_servers(integer, uuid[]);
DROP FUNCTION IF EXISTS mailqueue.renew_inline_servers(uuid[], bigint[], interval);
DROP FUNCTION IF EXISTS mailqueue.requeue_inline_servers(uuid, uuid[], text);
DROP FUNCTION IF EXISTS mailqueue.return_inline_servers(integer);
DROP FUNCTION IF EXISTS mailqueue.settle_inline(integer, uuid, bigint, text, text, interval, integer, integer, text,
    text, text, text, text, integer, boolean, text[], text[], text[], text[], boolean[], text);
DROP FUNCTION IF EXISTS mailqueue.settle_inline_servers(uuid[], bigint[], text[], text[], interval[], timestamptz[],
    text[], jsonb);
DROP FUNCTION IF EXISTS mailqueue.suspect_inline_servers(uuid[], bigint[], boolean, text);
DROP FUNCTION IF EXISTS mailqueue.sweep_inline_servers();
