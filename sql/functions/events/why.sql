-- Events of a mail as text, for mailqueue.why().

-- A reason may name the address before the reply.
CREATE OR REPLACE FUNCTION mailqueue.unless_known(p_text text, p_known text) RETURNS text
LANGUAGE sql IMMUTABLE
AS $$ SELECT CASE WHEN right(p_known, length(p_text)) = p_text THEN NULL ELSE p_text END $$;
COMMENT ON FUNCTION mailqueue.unless_known(text, text) IS 'A text; NULL if another text ends in it.';

-- p_known: what the sentence has said already, and is not repeated.
CREATE OR REPLACE FUNCTION mailqueue.event_words(p_email uuid, p_known text DEFAULT NULL) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    WITH told AS (
        SELECT lower(v.recipient_email) AS address, v.type, v.occurred_at,
               mailqueue.unless_known(v.detail, p_known) AS detail, v.source, v.project_id
          FROM mailqueue.email_events AS v
         WHERE v.email_id = p_email
           AND v.type IN ('delivered', 'deferred', 'hard_bounce', 'soft_bounce', 'complaint', 'unsubscribed', 'opened',
                          'clicked', 'failed')
           AND (v.type <> 'failed' OR v.source IS NOT NULL) AND coalesce(v.data ->> 'is_machine', 'false') <> 'true'
    ), by_address AS (
        SELECT t.address, t.project_id,
               array_to_string(ARRAY[
                   'delivered at ' || mailqueue.shown(min(t.occurred_at) FILTER (WHERE t.type = 'delivered')),
                   'put off at '
                   || mailqueue.shown(max(t.occurred_at) FILTER (WHERE t.type = 'deferred' AND NOT EXISTS (
                       SELECT FROM told AS o
                        WHERE o.address IS NOT DISTINCT FROM t.address
                          AND o.type IN ('delivered', 'hard_bounce', 'soft_bounce')))),
                   'refused by the provider at ' || mailqueue.shown(min(t.occurred_at) FILTER (WHERE t.type = 'failed'))
                       || coalesce(': '
                                   || (array_agg(t.detail ORDER BY t.occurred_at) FILTER (WHERE t.type = 'failed'))[1],
                                   ''),
                   'bounced for good at ' || mailqueue.shown(min(t.occurred_at) FILTER (WHERE t.type = 'hard_bounce'))
                       || coalesce(': '
                                   || (array_agg(t.detail
                                                 ORDER BY t.occurred_at) FILTER (WHERE t.type = 'hard_bounce'))[1],
                                   ''),
                   'bounced for now at ' || mailqueue.shown(max(t.occurred_at) FILTER (WHERE t.type = 'soft_bounce'))
                       || coalesce(': '
                                   || (array_agg(t.detail
                                                 ORDER BY t.occurred_at DESC) FILTER (WHERE t.type = 'soft_bounce'))[1],
                                   ''),
                   'complained about at ' || mailqueue.shown(min(t.occurred_at) FILTER (WHERE t.type = 'complaint')),
                   'opened at ' || mailqueue.shown(min(t.occurred_at) FILTER (WHERE t.type = 'opened')),
                   'clicked at ' || mailqueue.shown(min(t.occurred_at) FILTER (WHERE t.type = 'clicked')),
                   'unsubscribed from at '
                   || mailqueue.shown(min(t.occurred_at) FILTER (WHERE t.type = 'unsubscribed'))],
                               ', ') AS words,
               (array_agg(t.detail ORDER BY t.occurred_at) FILTER (WHERE t.type = 'hard_bounce'))[1] AS bounce
          FROM told AS t GROUP BY t.address, t.project_id
    ), counted AS (
        SELECT b.*, count(*) OVER () AS addresses, row_number() OVER (ORDER BY b.address) AS place FROM by_address AS b
         WHERE b.words <> ''
    )
    SELECT string_agg(CASE WHEN c.addresses > 1 THEN coalesce(c.address, 'a recipient') || ' ' ELSE '' END || c.words
                      || coalesce(' (' || mailqueue.suppression_words(c.project_id, c.address, NULL, p_email,
                                                                      coalesce(c.bounce, p_known)) || ')', ''), '; '
                      ORDER BY c.place)
           || CASE WHEN max(c.addresses) > 3 THEN format(' and %s more recipients', max(c.addresses) - 3) ELSE '' END
      FROM counted AS c WHERE c.place <= 3
$$;
COMMENT ON FUNCTION mailqueue.event_words(uuid, text) IS
    'Events of a mail after it was sent, by recipient, as text; NULL if there are none.';

-- p_reason NULL: any reason, and NULL if the address is not suppressed. p_email and p_known have been said already.
CREATE OR REPLACE FUNCTION mailqueue.suppression_words(p_project uuid, p_address text, p_reason text,
    p_email uuid DEFAULT NULL, p_known text DEFAULT NULL) RETURNS text
LANGUAGE sql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT coalesce((
        SELECT format('%s has been suppressed%s since %s: %s%s%s', s.address,
                      CASE WHEN s.category IN ('', '*') THEN '' ELSE ' for ' || s.category || ' mail' END,
                      mailqueue.shown(s.created_at), s.reason,
                      coalesce(', ' || mailqueue.unless_known(s.detail, p_known), ''),
                      coalesce(', because of mail ' || nullif(s.email_id, p_email), ''))
          FROM mailqueue.suppressions AS s
         WHERE s.project_id = p_project AND s.address = mailqueue.address_key(p_address) AND s.expires_at > now()
         ORDER BY s.reason IS DISTINCT FROM p_reason, s.category LIMIT 1),
        CASE WHEN p_reason IS NOT NULL THEN 'it is not suppressed any more' END)
$$;
COMMENT ON FUNCTION mailqueue.suppression_words(uuid, text, text, uuid, text) IS
    'Since when and why an address is suppressed, as text.';
