-- How the public pages of a project look: colour, logo, and texts in the place of the built-in ones.

CREATE OR REPLACE FUNCTION mailqueue.project_color(p_value text) RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF lower(p_value) !~ '^#[0-9a-f]{6}$' THEN
        PERFORM mailqueue.refuse('brand_color',
                                 format('a colour such as #0b6e4f is needed, got %s', to_json(left(p_value, 100))));
    END IF;
    RETURN lower(p_value);
END $$;
COMMENT ON FUNCTION mailqueue.project_color(text) IS 'The colour of a project''s pages; raises an error if it is none.';

CREATE OR REPLACE FUNCTION mailqueue.project_logo(p_project uuid, p_value text) RETURNS uuid
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_id uuid;
BEGIN
    IF p_value IS NULL THEN
        RETURN NULL;
    END IF;
    IF p_value ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN
        -- Serialised with remove_template_picture(): no logo is a picture that is being deleted.
        PERFORM mailqueue.lock_key('template pictures ' || p_project);
        SELECT o.id INTO v_id FROM mailqueue.template_pictures AS o
         WHERE o.project_id = p_project AND o.id = p_value::uuid;
    END IF;
    IF v_id IS NULL THEN
        PERFORM mailqueue.refuse('logo',
                                 format('the id of a picture of the project is needed, got %s',
                                        to_json(left(p_value, 100))));
    END IF;
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.project_logo(uuid, text) IS
    'The picture that is the logo of a project; raises an error if the project has no such picture.';

-- Buttons that choose, languages, dates, errors, and what laws on stored data want said are not replaced.
CREATE OR REPLACE FUNCTION mailqueue.page_text_slots(p_name text) RETURNS text[]
LANGUAGE sql IMMUTABLE
AS $$
    SELECT CASE
        WHEN p_name IN ('question', 'question_all', 'done_all', 'again_done', 'intro', 'stopped', 'expired')
            THEN '{project}'
        WHEN p_name = 'done' THEN '{project,category}'
        WHEN p_name IN ('confirm_question', 'confirmed') THEN '{project,list}'
        WHEN p_name IN ('goes_on', 'done_title', 'mistake', 'again_title', 'manage', 'preferences', 'saved',
                        'leave_title', 'leave', 'left_all', 'confirm', 'confirm_yes', 'confirm_otherwise',
                        'confirmed_title', 'expired_title')
            THEN '{}'
        END::text[]
$$;
COMMENT ON FUNCTION mailqueue.page_text_slots(text) IS
    'Names that may stand in braces in a text of public pages; NULL if a project cannot replace that text.';

CREATE OR REPLACE FUNCTION mailqueue.check_page_text(p_field text, p_text text, p_slots text[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    -- Spaces, joiners, fillers, marks of direction and variants: what shows nothing by itself.
    c_blank CONSTANT text := '^[\s\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f'
                             || '\u2060-\u2065\u206a-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0'
                             || '\U000e0000-\U000e0fff]*$';
    v_slots text := coalesce('only ' || nullif(array_to_string(ARRAY(SELECT '{' || s || '}' FROM unnest(p_slots) AS s),
                                                               ' and '), '') || ' may be in braces',
                             'this text has nothing in braces');
BEGIN
    -- With a list's and a project's name, what was asked and answered fits into `confirm_wording` whole.
    PERFORM mailqueue.check_text(p_field, p_text,
                                 CASE WHEN p_field ~ '\.confirm_(question|yes)$' THEN 500 ELSE 1000 END);
    IF p_text ~ c_blank THEN
        PERFORM mailqueue.refuse(p_field, 'a text is needed; leave it out for the built-in one');
    ELSIF p_text ~ '[\u202a-\u202e\u2066-\u2069]' THEN
        PERFORM mailqueue.refuse(p_field, 'characters that change the direction of text are not allowed');
    ELSIF regexp_replace(p_text, '\{[a-z]+\}', '', 'g') ~ '[{}]'
          OR EXISTS (SELECT FROM regexp_matches(p_text, '\{([a-z]+)\}', 'g') AS m(found)
                      WHERE m.found[1] <> ALL (p_slots)) THEN
        PERFORM mailqueue.refuse(p_field, format('%s, got %s', v_slots, to_json(left(p_text, 100))));
    ELSIF p_field LIKE '%.confirm\_question' AND p_text ~ '(\{[a-z]+\}).*\1' THEN
        PERFORM mailqueue.refuse(p_field, 'each name may be in braces once in this text');
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_page_text(text, text, text[]) IS
    'Raise an error for a text of public pages that could not be shown as it was meant.';

-- Languages that p_value does not name stay as they are in p_before.
CREATE OR REPLACE FUNCTION mailqueue.project_page_texts(p_before jsonb, p_value jsonb) RETURNS jsonb
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_languages CONSTANT text[] := '{ar,de,en,es,fr,he,it,nl,pl,pt}';
    v_all jsonb := coalesce(p_before, '{}');
    l record;
    t record;
BEGIN
    IF jsonb_typeof(p_value) = 'null' THEN
        RETURN NULL;
    ELSIF jsonb_typeof(p_value) <> 'object' THEN
        PERFORM mailqueue.refuse('page_texts',
                                 format('an object of texts by language is needed, got %s', jsonb_typeof(p_value)));
    END IF;
    FOR l IN SELECT e.key, e.value, 'page_texts.' || left(e.key, 100) AS field FROM jsonb_each(p_value) AS e LOOP
        IF l.key <> ALL (c_languages) THEN
            PERFORM mailqueue.refuse(l.field,
                                     format('the pages are in %s', array_to_string(c_languages, ', ')));
        ELSIF jsonb_typeof(l.value) NOT IN ('object', 'null') THEN
            PERFORM mailqueue.refuse(l.field,
                                     format('an object of texts by name is needed, got %s', jsonb_typeof(l.value)));
        END IF;
        FOR t IN SELECT e.key, e.value, l.field || '.' || left(e.key, 100) AS field,
                        mailqueue.page_text_slots(e.key) AS slots
                   FROM jsonb_each(CASE jsonb_typeof(l.value) WHEN 'object' THEN l.value ELSE '{}' END) AS e LOOP
            IF t.slots IS NULL THEN
                PERFORM mailqueue.refuse(t.field, 'there is no text of this name that can be replaced');
            ELSIF jsonb_typeof(t.value) <> 'string' THEN
                PERFORM mailqueue.refuse(t.field, format('a string is needed, got %s', jsonb_typeof(t.value)));
            END IF;
            PERFORM mailqueue.check_page_text(t.field, t.value #>> '{}', t.slots);
        END LOOP;
        v_all := v_all - l.key
                 || CASE WHEN l.value IN ('{}', 'null') THEN '{}' ELSE jsonb_build_object(l.key, l.value) END;
    END LOOP;
    IF octet_length(v_all::text) > 65536 THEN
        PERFORM mailqueue.refuse('page_texts',
                                 format('at most 65536 bytes together, got %s', octet_length(v_all::text)));
    END IF;
    RETURN nullif(v_all, '{}');
END $$;
COMMENT ON FUNCTION mailqueue.project_page_texts(jsonb, jsonb) IS
    'A project''s own texts of its public pages with these changes; raises an error, naming the text.';
