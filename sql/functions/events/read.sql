-- Parsers for values of events. Pure; none of them raises an error.

CREATE OR REPLACE FUNCTION mailqueue.parse_uuid(p_text text) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT CASE WHEN p_text ~ '^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$' THEN p_text::uuid END $$;
COMMENT ON FUNCTION mailqueue.parse_uuid(text) IS 'Parse a uuid; NULL if the text is not one.';

-- Our own Message-IDs begin with the id of their mail.
CREATE OR REPLACE FUNCTION mailqueue.uuid_in_message_id(p_text text) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT mailqueue.parse_uuid(substring(p_text FROM '^\s*<?([0-9a-fA-F-]{32,36})@')) $$;
COMMENT ON FUNCTION mailqueue.uuid_in_message_id(text) IS
    'Id of the mail named by one of our Message-IDs; NULL for others.';

-- Seconds since 1970, or ISO 8601.
CREATE OR REPLACE FUNCTION mailqueue.parse_timestamp(p_text text) RETURNS timestamptz
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF p_text ~ '^[0-9]{1,11}(\.[0-9]{1,9})?$' THEN
        RETURN to_timestamp(p_text::double precision);
    ELSIF p_text ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]{1,9})?)?'
                   ' ?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?$' THEN
        RETURN (replace(p_text, ',', '.')
                || CASE WHEN p_text ~ '(Z|[+-][0-9]{2}(:?[0-9]{2})?)$' THEN '' ELSE 'Z' END)::timestamptz;
    END IF;
    RETURN NULL;
EXCEPTION
    WHEN data_exception THEN
        RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.parse_timestamp(text) IS
    'Parse a timestamp, in UTC without an offset; NULL if the text is not one.';

-- Refusals about our reputation and not about the recipient, as in smtp/client/classify.py. A plain "user unknown"
-- takes precedence over a code that many servers use for anything (X.7.0, X.7.1), unless another phrase matches as
-- well; addresses are removed first.
CREATE OR REPLACE FUNCTION mailqueue.is_about_us(p_code text, p_detail text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN c.code IN ('5.7.0', '5.7.1') AND w.is_unknown THEN w.is_policy OR w.is_sender
                WHEN c.code IS NOT NULL
                     THEN c.code ~ '^[45]\.7\.'
                     AND c.code NOT IN ('5.7.13', '5.7.17', '5.7.18', '4.7.13', '4.7.17', '4.7.18')
                ELSE w.is_policy END
      FROM (SELECT coalesce(substring(p_code FROM '\y([245]\.[0-9]{1,3}\.[0-9]{1,3})\y'),
                            substring(p_detail FROM '\y[245][0-9]{2}[ -]+([245]\.[0-9]{1,3}\.[0-9]{1,3})\y')) AS code,
                   regexp_replace(lower(left(p_detail, 1000)), '[^\s<>]{1,64}@[^\s<>]{1,255}|\ynot listed in\y', ' ',
                                  'g') AS said) AS c,
   LATERAL (SELECT coalesce(c.said ~ '(spam|block(ed|list)|blacklist|reputation|policy|\y(dmarc|spf|rate|listed)\y)',
                            false) AS is_policy,
                   coalesce(c.said ~ '(sender|mail from|from address|return[- ]path|relay|verif|helo|denied)',
                            false) AS is_sender,
                   coalesce(c.said ~ '(user unknown|unknown (user|recipient|mailbox)'
                                     '|no such (user|recipient|mailbox)|invalid recipient)'
                            OR c.said ~ '\y(user|recipient|mailbox|account)\y[^.;]{0,80}'
                                        ' (does not exist|doesn''t exist|not found)\y',
                            false) AS is_unknown) AS w
$$;
COMMENT ON FUNCTION mailqueue.is_about_us(text, text) IS
    'Whether a bounce is about our reputation or a policy, and not about the address.';

CREATE OR REPLACE FUNCTION mailqueue.event_key(p_account integer, p_source text, p_event text) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT encode(substring(sha256(convert_to(coalesce(p_account, 0) || ' ' || coalesce(p_source, '') || ' ' || p_event,
                                              'UTF8')) FOR 16),
                  'hex')::uuid
$$;
COMMENT ON FUNCTION mailqueue.event_key(integer, text, text) IS 'Permanent key of an event, to detect repetition.';

CREATE OR REPLACE FUNCTION mailqueue.suppression_rank(p_reason text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT array_position(ARRAY['paused', 'soft_bounce_threshold', 'hard_bounce', 'unsubscribed', 'complaint',
                                'manual'],
                          p_reason)
$$;
COMMENT ON FUNCTION mailqueue.suppression_rank(text) IS
    'Rank of a reason: if events give several for one address, the highest applies.';

CREATE OR REPLACE FUNCTION mailqueue.parse_network(p_text text) RETURNS inet
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    RETURN p_text::inet;
EXCEPTION
    WHEN data_exception THEN
        RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.parse_network(text) IS 'Parse an address or network; NULL if the text is not one.';
