-- Rules for accepted mail, and the wording of errors. INSERT, COPY, enqueue() and enqueue_batch() all use them.

-- p_code, where programs decide by it: one of Refusal in mailqueue/core/errors.py.
CREATE OR REPLACE FUNCTION mailqueue.refuse(p_field text, p_why text, p_code text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    -- The text is shown in terminals and logs: characters that control those, or change the direction of text, are
    -- removed.
    c_unseen CONSTANT text := '[\u0001-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]';
    v_field text := regexp_replace(p_field, c_unseen, U&'\FFFD', 'g');
BEGIN
    RAISE EXCEPTION '%: %', v_field, regexp_replace(p_why, c_unseen, U&'\FFFD', 'g')
        USING ERRCODE = '22023', COLUMN = v_field, CONSTRAINT = p_code;
END $$;
COMMENT ON FUNCTION mailqueue.refuse(text, text, text) IS
    'Raise SQLSTATE 22023 naming the field, and as the constraint the code of the refusal.';

CREATE OR REPLACE FUNCTION mailqueue.refuse(p_field text, p_why text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.refuse(p_field, p_why, '');
END $$;
COMMENT ON FUNCTION mailqueue.refuse(text, text) IS 'Raise SQLSTATE 22023 naming the field.';

-- Checks a timestamp given by a caller and returns it. NULL is allowed where it has a meaning; infinity never is,
-- because readers outside of PostgreSQL cannot represent it. p_may_be_past: a timestamp in the past means now.
CREATE OR REPLACE FUNCTION mailqueue.check_instant(p_field text, p_at timestamptz, p_may_be_past boolean DEFAULT false)
RETURNS timestamptz
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF p_at > clock_timestamp() + interval '10 years' THEN
        PERFORM mailqueue.refuse(p_field, format('within ten years, got %s', p_at));
    ELSIF p_at <= clock_timestamp() AND NOT p_may_be_past THEN
        PERFORM mailqueue.refuse(p_field, format('must be in the future, got %s', p_at));
    END IF;
    RETURN p_at;
END $$;
COMMENT ON FUNCTION mailqueue.check_instant(text, timestamptz, boolean) IS
    'Return a timestamp between now and ten years ahead, or NULL; raise 22023 naming the field for any other.';

-- RFC 3339, and the form in which PostgreSQL writes timestamps, where seconds and the minutes of the offset may be left
-- out. Others that PostgreSQL reads depend on the session's time zone and on today's date.
CREATE OR REPLACE FUNCTION mailqueue.read_instant(p_text text) RETURNS timestamptz
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF p_text !~ ('^[0-9]{4,6}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?'
                  '([Zz]|[+-](0[0-9]|1[0-5])(:?[0-5][0-9])?)( BC)?$')
       AND p_text NOT IN ('infinity', '-infinity') THEN
        RAISE EXCEPTION 'a timestamp in RFC 3339 format is needed' USING ERRCODE = '22007';
    END IF;
    RETURN p_text::timestamptz;
END $$;
COMMENT ON FUNCTION mailqueue.read_instant(text) IS
    'A timestamp in RFC 3339 format; raises 22007 for other formats and 22008 for dates that do not exist.';

-- Why programs could not read JSON given by a caller; NULL if all can. The size is checked first, at no cost: the
-- binary form takes at most five times the bytes of the text, and 200 characters cannot contain 101 levels or 309
-- digits, so most mail needs no further check. It is one expression, so that plpgsql runs it without a call; STABLE,
-- like pg_column_size().
CREATE OR REPLACE FUNCTION mailqueue.json_fault(p_value jsonb, p_kib integer) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN pg_column_size(p_value) > p_kib * 5120 THEN 'at most ' || p_kib::text || ' KiB'
                WHEN pg_column_size(p_value) <= 600 AND length(p_value::text) <= 200 THEN NULL
                WHEN jsonb_path_exists(p_value, 'strict $.**{101}') THEN 'at most 100 nested levels'
                WHEN jsonb_path_exists(p_value,
                                       'strict $.** ? (@ > 1.7976931348623157e308 || @ < -1.7976931348623157e308)')
                    THEN 'a number must lie within +-1.7976931348623157e308'
                WHEN length(p_value::text) > p_kib * 1024 THEN 'at most ' || p_kib::text || ' KiB' END
$$;
COMMENT ON FUNCTION mailqueue.json_fault(jsonb, integer) IS
    'Why JSON given by a caller is rejected: too large, too deep, or a number beyond double precision; NULL if it is '
    'valid.';

-- A cheap check that accepts nearly every valid address; address_fault() decides about the others. An address this
-- short cannot have a part that is too long.
CREATE OR REPLACE FUNCTION mailqueue.is_plain_address(p_address text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT coalesce(length(p_address) <= 64
        AND p_address ~ '^[A-Za-z0-9_+-]+(\.[A-Za-z0-9_+-]+)*@([A-Za-z0-9]+(-+[A-Za-z0-9]+)*\.)+[A-Za-z]+$', false)
$$;
COMMENT ON FUNCTION mailqueue.is_plain_address(text) IS 'Whether an address is certainly valid by a cheap check.';

-- A word from a closed set, or NULL for a valid address. Syntax and lengths only: the A-label form of the domain is
-- made before sending.
CREATE OR REPLACE FUNCTION mailqueue.address_fault(p_address text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_local text;
    v_domain text;
BEGIN
    IF p_address ~ '^[A-Za-z0-9._+-]{1,64}@'
                   '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*'
                   '\.[A-Za-z]+$'
       AND p_address !~ '(^\.|\.\.|\.@)' AND length(p_address) <= 254 THEN
        RETURN NULL;  -- nearly every address
    END IF;
    IF coalesce(p_address, '') = '' THEN
        RETURN 'empty';
    ELSIF p_address ~ '[\u0001-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]' THEN
        RETURN 'control_character';
    ELSIF p_address ~ '\s' THEN
        RETURN 'whitespace';
    ELSIF position('@' IN p_address) = 0 THEN
        RETURN 'no_at';
    END IF;
    v_domain := substring(p_address FROM '@([^@]*)$');
    v_local := left(p_address, length(p_address) - length(v_domain) - 1);
    IF v_domain LIKE '[%' THEN
        RETURN 'ip_literal';
    ELSIF octet_length(v_local) > 64 THEN
        RETURN 'local_too_long';
    ELSIF octet_length(p_address) > 254 THEN
        RETURN 'too_long';
    ELSIF v_local !~ '^[A-Za-z0-9!#$%&''*+/=?^_`{|}~\u00a0-\U0010ffff-]+'
                      '(\.[A-Za-z0-9!#$%&''*+/=?^_`{|}~\u00a0-\U0010ffff-]+)*$' THEN
        RETURN 'bad_local';
    END IF;
    v_domain := translate(v_domain, U&'\3002\FF0E\FF61', '...');
    IF v_domain ~* '(^|\.)([0-9]+|0x[0-9a-f]*)$' THEN
        RETURN 'ip_literal';  -- resolvers read such a name as an IPv4 address
    ELSIF position('.' IN v_domain) = 0 AND v_domain <> '' THEN
        RETURN 'no_dot';
    ELSIF v_domain !~ '^[A-Za-z0-9\u00a1-\U0010ffff]([A-Za-z0-9\u00a1-\U0010ffff-]{0,61}[A-Za-z0-9\u00a1-\U0010ffff])?'
                       '(\.[A-Za-z0-9\u00a1-\U0010ffff]([A-Za-z0-9\u00a1-\U0010ffff-]{0,61}'
                       '[A-Za-z0-9\u00a1-\U0010ffff])?)+$' THEN
        RETURN 'bad_domain';
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION mailqueue.address_fault(text) IS 'What is wrong with an address, as a word; NULL if it is valid.';

CREATE OR REPLACE FUNCTION mailqueue.check_address(p_field text, p_address text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_fault text := mailqueue.address_fault(p_address);
BEGIN
    IF v_fault IS NOT NULL THEN
        PERFORM mailqueue.refuse(p_field, CASE v_fault
            WHEN 'empty' THEN 'an address is needed'
            ELSE format('%s is not an address we can send to (%s)',
                        to_json(left(p_address, 300)), replace(v_fault, '_', ' ')) END);
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_address(text, text) IS
    'Raise an error for an invalid address, naming the field and the value.';

-- Split 'Ann <ann@example.com>' in two; a bare address has no name.
CREATE OR REPLACE FUNCTION mailqueue.split_mailbox(p_mailbox text, OUT name text, OUT address text)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_parts text[];
BEGIN
    p_mailbox := btrim(p_mailbox, E' \t');
    v_parts := regexp_match(p_mailbox, '^(.*)<([^<>]*)>$');
    IF v_parts IS NULL THEN
        address := p_mailbox;
        RETURN;
    END IF;
    address := v_parts[2];
    -- Not by the pattern: with (.*?)\s* it takes the square of the number of spaces.
    name := rtrim(v_parts[1], E' \t\n\r\f\v');
    IF name !~ '^( *("([^"\\]|\\.)*"|[^ "<>(),:;@\\]+))*$' THEN
        address := p_mailbox;  -- a comma, a second address, extra angle brackets: check_address() rejects the whole
        name := NULL;
        RETURN;
    END IF;
    name := regexp_replace(regexp_replace(name, '"(([^"\\]|\\.)*)"', '\1', 'g'), '\\(.)', '\1', 'g');
    name := nullif(name, '');
END $$;
COMMENT ON FUNCTION mailqueue.split_mailbox(text) IS 'Name and address of a mailbox.';

-- Commas in quotes belong to the name. A value that is not a list of mailboxes is checked as one mailbox, which gives
-- the error.
CREATE OR REPLACE FUNCTION mailqueue.check_mailboxes(p_field text, p_list text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_piece text := '(?:"(?:[^"\\]|\\.)*"|<[^<>]*>|[^,"<>])+';
    v_box text;
BEGIN
    IF p_list !~ format('^%s(?:,%s)*$', v_piece, v_piece) THEN
        PERFORM mailqueue.check_address(p_field, (mailqueue.split_mailbox(p_list)).address);
        RETURN;
    END IF;
    FOR v_box IN SELECT m[1] FROM regexp_matches(p_list, format('(%s)', v_piece), 'g') AS m LOOP
        PERFORM mailqueue.check_address(p_field, (mailqueue.split_mailbox(v_box)).address);
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.check_mailboxes(text, text) IS
    'Raise an error for a list of mailboxes with an invalid address.';

CREATE OR REPLACE FUNCTION mailqueue.check_text(p_field text, p_value text, p_most integer) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF p_value ~ '[\u0001-\u001f\u007f-\u009f\u2028\u2029]' THEN
        PERFORM mailqueue.refuse(p_field,
                                 format('control characters are not allowed, got %s', to_json(left(p_value, 100))));
    ELSIF length(p_value) > p_most THEN
        PERFORM mailqueue.refuse(p_field, format('at most %s characters, got %s', p_most, length(p_value)));
    ELSIF p_field IN ('recipient_name', 'from_name', 'reply_to', 'cc') AND p_value ~ '[\u202a-\u202e\u2066-\u2069]' THEN
        PERFORM mailqueue.refuse(p_field, 'characters that change the direction of text are not allowed in names');
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_text(text, text, integer) IS
    'Raise an error for control characters and values that are too long, and, in names, characters that change the '
    'direction of text.';

CREATE OR REPLACE FUNCTION mailqueue.check_headers(p_headers jsonb) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    h record;
BEGIN
    IF jsonb_typeof(p_headers) <> 'object' THEN
        PERFORM mailqueue.refuse('headers',
                                 format('an object of names and values is needed, got %s', jsonb_typeof(p_headers)));
    ELSIF (SELECT count(*) FROM jsonb_object_keys(p_headers)) > 100 THEN
        PERFORM mailqueue.refuse('headers',
                                 format('at most 100 headers, got %s',
                                        (SELECT count(*) FROM jsonb_object_keys(p_headers))));
    END IF;
    FOR h IN SELECT key, value FROM jsonb_each(p_headers) LOOP
        IF h.key !~ '^[!-9;-~]{1,76}$' THEN
            PERFORM mailqueue.refuse('headers', format('%s is not a header name', to_json(left(h.key, 100))));
        ELSIF lower(h.key) IN ('from', 'sender', 'to', 'cc', 'bcc', 'reply-to', 'subject', 'date', 'message-id',
                'mime-version', 'return-path', 'received', 'dkim-signature')
              OR lower(h.key) LIKE 'content-%' OR lower(h.key) LIKE 'resent-%' OR lower(h.key) LIKE 'arc-%' THEN
            PERFORM mailqueue.refuse('headers', format('%s is set by mailqueue and cannot be given', h.key));
        ELSIF jsonb_typeof(h.value) <> 'string' THEN
            PERFORM mailqueue.refuse('headers', format('%s must be a string, got %s', h.key, jsonb_typeof(h.value)));
        END IF;
        PERFORM mailqueue.check_text('headers', h.value #>> '{}', 4000);
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.check_headers(jsonb) IS
    'Raise an error for header names and values that are invalid or reserved.';

CREATE OR REPLACE FUNCTION mailqueue.refuse_addressless() RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    PERFORM mailqueue.refuse('category',
                             'marketing needs a postal address: set postal_address of the project, or its '
                             'require_postal_address to false');
END $$;
COMMENT ON FUNCTION mailqueue.refuse_addressless() IS
    'Raise the error for marketing of a project that has no postal address.';
