-- Patterns by which a person is searched for, as mailqueue/privacy/pattern.py composes them.

-- What may stand before and after an address are the conditions around the pattern of mailqueue/privacy/pattern.py.
-- They make a search twenty times as slow: only texts that the pattern without them finds are searched with them.
CREATE OR REPLACE FUNCTION mailqueue.mention_core(p_pattern text) RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN starts_with(p_pattern, c.before) AND right(p_pattern, length(c.after)) = c.after
                THEN substr(p_pattern, length(c.before) + 1,
                            length(p_pattern) - length(c.before) - length(c.after))
                ELSE p_pattern END
      FROM (SELECT '(?:(?<![a-z0-9._+-])|(?<=%[0-9a-f][0-9a-f])|(?<==[0-9a-f][0-9a-f])|(?<=\\[bfnrt])'
                   '|(?<=\\u[0-9a-f][0-9a-f][0-9a-f][0-9a-f])|(?<=\\[0-7][0-7][0-7]))' AS before,
                   '(?![a-z0-9-]|\.[a-z0-9])' AS after) AS c
$$;
COMMENT ON FUNCTION mailqueue.mention_core(text) IS
    'The pattern of an address without the conditions on what stands around it.';

-- What is searched for, as mailqueue/privacy/pattern.py composes it: the pattern of text, its core, and the pattern of
-- encoded text in bytes, which is base64, and quoted-printable with broken lines.
CREATE OR REPLACE FUNCTION mailqueue.mention_patterns(p_pattern text, OUT whole text, OUT core text, OUT encoded text)
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
    SELECT s.whole, mailqueue.mention_core(s.whole), coalesce(nullif(split_part(p_pattern, '(?#64)', 2), ''), 'a\Aa')
      FROM (SELECT split_part(p_pattern, '(?#64)', 1) AS whole) AS s
$$;
COMMENT ON FUNCTION mailqueue.mention_patterns(text) IS
    'Patterns of text, of what any such text contains, and of encoded text.';
