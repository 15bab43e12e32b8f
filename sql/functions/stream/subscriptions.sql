-- From which event on a subscriber gets a type: none from before it subscribed, all that it subscribed to before a
-- change of its types. {"email.sent": 41, "*": 90}: email.sent after the event of number 41, other types after 90.

-- Types: '{}' stands for all, NULL for none.
CREATE OR REPLACE FUNCTION mailqueue.subscribed_after(p_after jsonb, p_old text[], p_new text[]) RETURNS jsonb
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT jsonb_strip_nulls(coalesce(jsonb_object_agg(t.type, CASE
               WHEN p_old = '{}' OR t.type = ANY (p_old) THEN coalesce(p_after -> t.type, p_after -> '*')
               ELSE to_jsonb(mailqueue.last_event_number()) END), '{}'))
      FROM unnest(CASE WHEN p_new <> '{}' THEN p_new
                       WHEN p_old <> '{}' THEN p_old || '*'::text
                       ELSE ARRAY(SELECT jsonb_object_keys(p_after)) || '*'::text END) AS t(type)
     WHERE p_new IS NOT NULL
$$;
COMMENT ON FUNCTION mailqueue.subscribed_after(jsonb, text[], text[]) IS
    'The events after which a subscriber gets each type once its types change, by type; *: others.';

-- Inlined into the calling statement.
CREATE OR REPLACE FUNCTION mailqueue.is_subscribed(p_after jsonb, p_type text, p_number bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT p_number > coalesce(p_after ->> p_type, p_after ->> '*', '0')::bigint $$;
COMMENT ON FUNCTION mailqueue.is_subscribed(jsonb, text, bigint) IS
    'Whether an event of the stream came after its type was subscribed to.';
