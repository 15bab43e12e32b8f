-- The canonical form of an address: as it is sent, its domain in A-labels. Addresses are compared in that form in lower
-- case.
--
-- Nearly all addresses are ASCII: address_key(), address_sent() and domain_key() are inlined into statements and call
-- no function for these. For other addresses the result equals UTS 46 wherever Python accepts the domain;
-- wire_address() and wire_domain() decide what is accepted, and refuse look-alike characters.

-- RFC 3492, section 6.3.
CREATE OR REPLACE FUNCTION mailqueue.punycode(p_label text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_digits CONSTANT text := 'abcdefghijklmnopqrstuvwxyz0123456789';
    v_codes integer[] := ARRAY(SELECT ascii(c.letter)
                                 FROM unnest(string_to_array(p_label, NULL)) WITH ORDINALITY AS c(letter, n)
                                ORDER BY c.n);
    v_basic text := regexp_replace(p_label, '[^\u0001-\u007f]', '', 'g');
    v_written text := v_basic || CASE WHEN v_basic <> '' THEN '-' ELSE '' END;
    v_done integer := length(v_basic);
    v_next bigint := 128;
    v_bias bigint := 72;
    v_delta bigint := 0;
    v_least bigint;
    v_rest bigint;
    v_place bigint;
    v_limit bigint;
    v_code integer;
BEGIN
    WHILE v_done < cardinality(v_codes) LOOP
        SELECT min(c) INTO v_least FROM unnest(v_codes) AS c WHERE c >= v_next;
        v_delta := v_delta + (v_least - v_next) * (v_done + 1);
        v_next := v_least;
        FOREACH v_code IN ARRAY v_codes LOOP
            IF v_code < v_next THEN
                v_delta := v_delta + 1;
            ELSIF v_code = v_next THEN
                v_rest := v_delta;
                v_place := 36;
                LOOP
                    v_limit := least(26, greatest(1, v_place - v_bias));
                    EXIT WHEN v_rest < v_limit;
                    v_written := v_written
                        || substr(c_digits, (v_limit + (v_rest - v_limit) % (36 - v_limit))::integer + 1, 1);
                    v_rest := (v_rest - v_limit) / (36 - v_limit);
                    v_place := v_place + 36;
                END LOOP;
                v_written := v_written || substr(c_digits, v_rest::integer + 1, 1);
                v_delta := v_delta / CASE WHEN v_done = length(v_basic) THEN 700 ELSE 2 END;
                v_done := v_done + 1;
                v_delta := v_delta + v_delta / v_done;
                v_bias := 0;
                WHILE v_delta > 455 LOOP
                    v_delta := v_delta / 35;
                    v_bias := v_bias + 36;
                END LOOP;
                v_bias := v_bias + 36 * v_delta / (v_delta + 38);
                v_delta := 0;
            END IF;
        END LOOP;
        v_delta := v_delta + 1;
        v_next := v_next + 1;
    END LOOP;
    RETURN v_written;
END $$;
COMMENT ON FUNCTION mailqueue.punycode(text) IS 'A label as punycode, without its prefix.';

-- Compatibility forms, capitals and full stops of other scripts are mapped; invisible characters are removed.
CREATE OR REPLACE FUNCTION mailqueue.mapped_domain(p_domain text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_unseen CONSTANT text := '[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2064'
                              '\u206a-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0'
                           || '\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0100-\U000e01ef]';
    -- Where UTS 46 differs from normal form KC and lower case: sigmas, old Cyrillic, Cherokee, full stops.
    c_sigmas CONSTANT text := U&'\03F2\03F9\+01D6D3\+01D70D\+01D747\+01D781\+01D7BB';
    c_others CONSTANT text := U&'\1C80\1C81\1C82\1C83\1C84\1C85\1C86\1C87\1C88\13F8\13F9\13FA\13FB\13FC\13FD\3002';
    c_plain CONSTANT text := U&'\0432\0434\043E\0441\0442\0442\044A\0463\A64B\13F0\13F1\13F2\13F3\13F4\13F5.';
    v_text text;
BEGIN
    IF p_domain IS NFC NORMALIZED
       AND NOT EXISTS (SELECT FROM unnest(string_to_array(p_domain, NULL)) AS c
                        WHERE ascii(c) > 127 AND NOT ascii(c) <@ mailqueue.domain_letters()) THEN
        -- nearly every domain: nothing in it is mapped further
        RETURN lower(p_domain COLLATE "C");
    END IF;
    v_text := replace(regexp_replace(p_domain, c_unseen, '', 'g'), U&'\0130', U&'i\0307');
    v_text := mailqueue.lower_letters(normalize(
        mailqueue.lower_letters(translate(v_text, c_sigmas, repeat(U&'\03C3', 7))), NFKC));
    v_text := translate(v_text, c_others, c_plain);
    IF v_text ~ '[\uab70-\uabbf]' THEN
        v_text := translate(v_text, (SELECT string_agg(chr(c), '' ORDER BY c) FROM generate_series(43888, 43967) AS c),
                                    (SELECT string_agg(chr(c), '' ORDER BY c) FROM generate_series(5024, 5103) AS c));
    END IF;
    v_text := normalize(v_text, NFC);
    IF v_text ~ '[\u0345\u1f80-\u1ffc]' THEN                 -- a combining iota subscript becomes a letter
        v_text := normalize(replace(normalize(v_text, NFD), U&'\0345', U&'\03B9'), NFC);
    END IF;
    RETURN v_text;
END $$;
COMMENT ON FUNCTION mailqueue.mapped_domain(text) IS
    'A non-ASCII domain as UTS 46 maps it, without checking that it is valid.';

CREATE OR REPLACE FUNCTION mailqueue.domain_beyond_ascii(p_domain text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF length(p_domain) > 320 THEN                           -- not a domain, and too long to convert
        RETURN lower(p_domain COLLATE "C");
    END IF;
    RETURN (SELECT string_agg(CASE WHEN octet_length(l.label) = length(l.label) THEN l.label
                                   ELSE 'xn--' || mailqueue.punycode(l.label) END,
                              '.' ORDER BY l.n)
              FROM unnest(string_to_array(mailqueue.mapped_domain(p_domain), '.')) WITH ORDINALITY AS l(label, n));
END $$;
COMMENT ON FUNCTION mailqueue.domain_beyond_ascii(text) IS
    'A-label form of a domain that is not ASCII, for domain_key().';

-- These three have no SET clause, so that the planner inlines them.
CREATE OR REPLACE FUNCTION mailqueue.domain_key(p_domain text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN octet_length(p_domain) = length(p_domain) THEN lower(p_domain COLLATE "C") COLLATE "default"
                ELSE mailqueue.domain_beyond_ascii(p_domain) END
$$;
COMMENT ON FUNCTION mailqueue.domain_key(text) IS 'Canonical form of a domain: its A-labels in lower case.';

CREATE OR REPLACE FUNCTION mailqueue.address_beyond_ascii(p_address text, p_is_key boolean) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_domain text := substring(p_address FROM '@([^@]*)$');
    v_local text := left(p_address, length(p_address) - length(v_domain) - 1);
BEGIN
    IF length(p_address) > 640 THEN                          -- not an address, and too long to convert
        RETURN CASE WHEN p_is_key THEN lower(p_address COLLATE "C") ELSE p_address END;
    ELSIF v_domain IS NULL THEN
        v_local := p_address;
    END IF;
    IF octet_length(v_local) = length(v_local) THEN
        v_local := CASE WHEN p_is_key THEN lower(v_local COLLATE "C") ELSE v_local END;
    ELSE
        v_local := normalize(v_local, NFC);
        v_local := CASE WHEN p_is_key THEN normalize(mailqueue.lower_letters(v_local), NFC) ELSE v_local END;
    END IF;
    RETURN v_local
        || coalesce('@'
                    || CASE WHEN p_is_key OR octet_length(v_domain) > length(v_domain)
                                 THEN mailqueue.domain_key(v_domain)
                            ELSE v_domain END, '');
END $$;
COMMENT ON FUNCTION mailqueue.address_beyond_ascii(text, boolean) IS
    'An address that is not ASCII, for address_key() and address_sent().';

CREATE OR REPLACE FUNCTION mailqueue.address_key(p_address text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN octet_length(p_address) = length(p_address) THEN lower(p_address COLLATE "C") COLLATE "default"
                ELSE mailqueue.address_beyond_ascii(p_address, true) END
$$;
COMMENT ON FUNCTION mailqueue.address_key(text) IS
    'Canonical form of an address: as it is sent, in lower case. Addresses are compared in this form.';

CREATE OR REPLACE FUNCTION mailqueue.address_sent(p_address text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE WHEN octet_length(p_address) = length(p_address) THEN p_address
                ELSE mailqueue.address_beyond_ascii(p_address, false) END
$$;
COMMENT ON FUNCTION mailqueue.address_sent(text) IS
    'An address as it is sent: its domain in A-labels, the rest unchanged.';

-- Rows of mail finished long ago may have the original spelling.
CREATE OR REPLACE FUNCTION mailqueue.address_spellings(p_address text) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT ARRAY[mailqueue.address_key(p_address), lower(p_address)] $$;
COMMENT ON FUNCTION mailqueue.address_spellings(text) IS
    'An address in lower case, in its canonical form and as spelled, for look-ups by lower(address).';

-- Refuses look-alike domains, and characters that no domain may have. Characters that are valid only in some contexts
-- (a middle dot, a joiner, digits written from the right) must be given as A-labels, which Python checks.
CREATE OR REPLACE FUNCTION mailqueue.check_domain_letters(p_field text, p_domain text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_from_right CONSTANT text := '[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]';
    v_lower text;
    v_label text;
BEGIN
    IF p_domain IS NULL OR octet_length(p_domain) = length(p_domain) THEN
        RETURN;
    ELSIF length(p_domain) > 253 THEN
        PERFORM mailqueue.refuse(p_field, format('%s is not a domain', to_json(left(p_domain, 300))));
    END IF;
    v_lower := mailqueue.mapped_domain(p_domain);
    IF v_lower <> lower(p_domain COLLATE "C") AND v_lower <> mailqueue.lower_letters(p_domain) THEN
        PERFORM mailqueue.refuse(p_field,
                                 format('%s has characters that stand for others: the domain is %s',
                                        to_json(left(p_domain, 300)), to_json(mailqueue.domain_key(p_domain))));
    END IF;
    FOREACH v_label IN ARRAY string_to_array(v_lower, '.') LOOP
        IF substr(v_label, 3, 2) = '--' AND v_label NOT LIKE 'xn--%'
           OR octet_length(v_label) > length(v_label) AND (
               length(mailqueue.domain_beyond_ascii(v_label)) > 63 OR v_label LIKE 'xn--%'
               OR ascii(v_label) <@ mailqueue.combining_letters()
               OR EXISTS (SELECT FROM unnest(string_to_array(v_label, NULL)) AS c
                           WHERE ascii(c) > 127 AND NOT ascii(c) <@ mailqueue.domain_letters())
               OR v_label ~ c_from_right
               AND v_label !~ ('^' || c_from_right || '(' || c_from_right || '|[0-9-])*$')) THEN
            PERFORM mailqueue.refuse(p_field,
                                     format('%s has letters that no domain may have, or not in this place: '
                                            'write it in its xn-- form', to_json(left(p_domain, 300))));
        END IF;
    END LOOP;
END $$;
COMMENT ON FUNCTION mailqueue.check_domain_letters(text, text) IS
    'Raise an error for a domain with look-alike or invalid characters.';

-- For addresses that passed check_address().
CREATE OR REPLACE FUNCTION mailqueue.wire_address(p_field text, p_address text) RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_address text;
BEGIN
    IF p_address IS NULL OR octet_length(p_address) = length(p_address) THEN
        RETURN p_address;
    END IF;
    PERFORM mailqueue.check_domain_letters(p_field, substring(p_address FROM '@([^@]*)$'));
    v_address := mailqueue.address_sent(p_address);
    IF v_address ~ '[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]' THEN
        PERFORM mailqueue.refuse(p_field,
                                 format('%s is not an address we can send to (whitespace)',
                                        to_json(left(p_address, 300))));
    END IF;
    -- checked again: composed characters may differ, and A-labels are longer
    PERFORM mailqueue.check_address(p_field, v_address);
    RETURN v_address;
END $$;
COMMENT ON FUNCTION mailqueue.wire_address(text, text) IS
    'A checked address as it is sent; raises an error, naming the field, for a domain with look-alike characters.';

-- '@' before the domain and '*.' are accepted; a value that is not a domain at all is returned for the caller to
-- reject.
CREATE OR REPLACE FUNCTION mailqueue.wire_domain(p_field text, p_domain text) RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_domain text := ltrim(p_domain, '@');
    v_prefix text := CASE WHEN v_domain LIKE '*.%' THEN '*.' ELSE '' END;
BEGIN
    v_domain := substr(v_domain, length(v_prefix) + 1);
    PERFORM mailqueue.check_domain_letters(p_field, v_domain);
    RETURN v_prefix || mailqueue.domain_key(v_domain);
END $$;
COMMENT ON FUNCTION mailqueue.wire_domain(text, text) IS
    'Canonical form of a domain, or of *. and a domain; raises an error, naming the field, for one with look-alike '
    'characters.';
