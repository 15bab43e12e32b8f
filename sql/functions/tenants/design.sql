-- How the public pages of a project look: its colour and logo.

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
