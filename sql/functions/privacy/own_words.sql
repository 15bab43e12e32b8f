-- Words that callers chose for a person's mail, such as idempotency keys, and that contain the address.

-- In rows of the person's own mail, also where the address is part of a longer word, such as the key welcome-ann@….
CREATE OR REPLACE FUNCTION mailqueue.own_mentions(p_spellings text[]) RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT string_agg(replace(regexp_replace(s, '([].*+?^$(){}|\\/#&''!%=~`[-])', '\\\1', 'g'), '@',
                              '(?:@|%40|=40|\\u0040|=)'), '|')
      FROM unnest(p_spellings) AS s
$$;
COMMENT ON FUNCTION mailqueue.own_mentions(text[]) IS
    'Pattern of an address in any surroundings.';

CREATE OR REPLACE FUNCTION mailqueue.erase_keys(p_erasure uuid, p_keys text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    e mailqueue.erasures;
    v_keys text[] := ARRAY(SELECT mailqueue.kept_key(k, t.is_test) FROM unnest(p_keys) AS k,
                                  (VALUES (false), (true)) AS t(is_test));
BEGIN
    SELECT * INTO e FROM mailqueue.erasures AS x WHERE x.id = p_erasure;
    PERFORM mailqueue.check_tenant(e.project_id);
    DELETE FROM mailqueue.idempotency_keys AS k
     WHERE k.project_id = e.project_id AND k.key = ANY (v_keys) AND k.key ~* mailqueue.own_mentions(e.spellings);
END $$;
COMMENT ON FUNCTION mailqueue.erase_keys(uuid, text[]) IS
    'Delete idempotency keys of archived mail to a person, where they contain the address.';
