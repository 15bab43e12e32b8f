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

-- A fingerprint is a hash of a whole request: who has the rest of it, such as the content that other recipients
-- received, can confirm an address by it. Another one takes its place, which no request has. The answer of a batch may
-- have ids of mails alone.
CREATE OR REPLACE FUNCTION mailqueue.erase_fingerprints(p_project uuid, p_ids uuid[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_id CONSTANT text := '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
    v_recent text[] := ARRAY(SELECT i::text FROM unnest(p_ids) AS i
                              WHERE i >= mailqueue.first_uuid(now() - interval '25 h'));  -- answers are kept for 24
BEGIN
    UPDATE mailqueue.idempotency_keys AS k SET fingerprint = sha256(uuid_send(gen_random_uuid()))
      FROM (SELECT q.id, q.idempotency_key, q.is_test FROM mailqueue.email_queue AS q WHERE q.id = ANY (p_ids)
            UNION ALL
            SELECT h.id, h.idempotency_key, h.is_test FROM mailqueue.email_history AS h WHERE h.id = ANY (p_ids)) AS m
     WHERE k.project_id = p_project AND k.key = mailqueue.kept_key(m.idempotency_key, m.is_test)
       AND k.email_id = m.id;                                -- other mail may have the key now
    IF v_recent <> '{}' THEN
        UPDATE mailqueue.idempotent_answers AS a SET fingerprint = sha256(uuid_send(gen_random_uuid()))
         WHERE a.project_id = p_project
           AND EXISTS (SELECT FROM regexp_matches(encode(a.body, 'escape'), c_id, 'g') AS m
                        WHERE m[1] = ANY (v_recent));
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.erase_fingerprints(uuid, uuid[]) IS
    'Replace the fingerprints of the requests by which mails were accepted: a repeated request is rejected.';

-- A message to a list names persons in its content. Its key has the id of its batch, by which no index finds it: it is
-- replaced as the keys are searched, which is before list_sends are.
CREATE OR REPLACE FUNCTION mailqueue.erase_list_fingerprints(p_project uuid, p_pattern text, p_from bigint,
    p_until bigint) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    p record;
BEGIN
    SELECT * INTO p FROM mailqueue.mention_patterns(p_pattern);
    EXECUTE format('UPDATE mailqueue.idempotency_keys AS k SET fingerprint = sha256(uuid_send(gen_random_uuid()))
          FROM (SELECT o.ctid, o.email_id FROM mailqueue.idempotency_keys AS o
                 WHERE o.ctid >= format(''(%%s,0)'', $5)::tid AND o.ctid < format(''(%%s,0)'', $6)::tid
                   AND o.project_id = $3
                   AND o.email_id IN (SELECT s.batch_id FROM mailqueue.list_sends AS s WHERE s.project_id = $3)
                OFFSET 0) AS found
          JOIN mailqueue.list_sends AS t ON t.batch_id = found.email_id AND t.project_id = $3
         WHERE k.ctid = found.ctid AND (%s)', mailqueue.mention_condition('mailqueue.list_sends'::regclass))
      USING p.whole, NULL::text, p_project, NULL::text, p_from, p_until, p.core, p.encoded;
END $$;
COMMENT ON FUNCTION mailqueue.erase_list_fingerprints(uuid, text, bigint, bigint) IS
    'Replace the fingerprints of messages to lists that name a person, in some pages of idempotency_keys.';

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
    UPDATE mailqueue.idempotency_keys AS k SET fingerprint = sha256(uuid_send(gen_random_uuid()))
     WHERE k.project_id = e.project_id AND k.key = ANY (v_keys) AND k.fingerprint <> mailqueue.request_fingerprint()
       -- Other mail, which is not archived, may have the key now.
       AND NOT EXISTS (SELECT FROM mailqueue.email_queue AS q WHERE q.id = k.email_id)
       AND NOT EXISTS (SELECT FROM mailqueue.email_history AS h WHERE h.id = k.email_id);
END $$;
COMMENT ON FUNCTION mailqueue.erase_keys(uuid, text[]) IS
    'Delete idempotency keys of archived mail to a person that contain the address, and replace the fingerprints of '
    'others.';
