-- Pictures of templates. The caller has read type and size of a picture from its bytes.

-- A picture that the project has already is returned as it is, whatever name it is given now.
CREATE OR REPLACE FUNCTION mailqueue.add_template_picture(p_project uuid, p_name text, p_type text, p_width integer,
    p_height integer, p_octets bytea, p_by text DEFAULT session_user)
RETURNS uuid
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    c_most_pictures CONSTANT integer := 200;                 -- of a project
    c_most_bytes CONSTANT bigint := 67108864;
    c_unseen CONSTANT text := '[\u0001-\u001f\u007f-\u009f/\\\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]';
    v_sha256 CONSTANT bytea := sha256(p_octets);
    v_id uuid;
    u record;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    IF coalesce(p_name, '') ~ '^[\s.]*$' OR octet_length(p_name) > 255 THEN
        PERFORM mailqueue.refuse('name', format('a file name has 1 to 255 bytes, got %s', to_json(left(p_name, 100))));
    ELSIF p_name ~ c_unseen THEN
        PERFORM mailqueue.refuse('name', format('%s is not the name of a file', to_json(left(p_name, 100))));
    ELSIF length(p_octets) > 1048576 THEN
        PERFORM mailqueue.refuse('file', 'a picture has at most 1 MiB', 'too_large');
    END IF;
    PERFORM mailqueue.lock_key('template pictures ' || p_project);
    SELECT o.id INTO v_id FROM mailqueue.template_pictures AS o
     WHERE o.project_id = p_project AND o.sha256 = v_sha256;
    IF v_id IS NOT NULL THEN
        RETURN v_id;
    END IF;
    SELECT count(*) AS pictures, coalesce(sum(octet_length(o.octets)), 0) AS bytes INTO u
      FROM mailqueue.template_pictures AS o WHERE o.project_id = p_project;
    IF u.pictures >= c_most_pictures THEN
        PERFORM mailqueue.refuse('file', format('there are %s pictures, which is the most', u.pictures));
    ELSIF u.bytes + length(p_octets) > c_most_bytes THEN
        PERFORM mailqueue.refuse('file', 'the pictures of a project have at most 64 MiB together');
    END IF;
    INSERT INTO mailqueue.template_pictures (project_id, name, media_type, width, height, sha256, octets, created_by)
    VALUES (p_project, p_name, p_type, p_width, p_height, v_sha256, p_octets, p_by) RETURNING id INTO v_id;
    PERFORM mailqueue.note_template(p_project, p_by, 'template.picture_added', p_name,
                                    jsonb_build_object('id', v_id, 'bytes', length(p_octets)));
    RETURN v_id;
END $$;
COMMENT ON FUNCTION mailqueue.add_template_picture(uuid, text, text, integer, integer, bytea, text) IS
    'Store a picture of a project, or find the one with the same bytes; returns its id.';

CREATE OR REPLACE FUNCTION mailqueue.remove_template_picture(p_project uuid, p_id uuid,
    p_by text DEFAULT session_user)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
DECLARE
    v_name text;
BEGIN
    PERFORM mailqueue.check_tenant(p_project);
    PERFORM mailqueue.lock_key('template pictures ' || p_project);
    SELECT o.name INTO v_name FROM mailqueue.template_pictures AS o
      JOIN mailqueue.projects AS p ON p.id = o.project_id AND p.logo = o.id
     WHERE o.id = p_id AND o.project_id = p_project;
    IF FOUND THEN
        PERFORM mailqueue.refuse('picture',
                                 format('%s is the logo of the project, setting logo: choose another one, or none',
                                        to_json(v_name)));
    END IF;
    DELETE FROM mailqueue.template_pictures AS o WHERE o.id = p_id AND o.project_id = p_project
    RETURNING o.name INTO v_name;
    IF v_name IS NULL THEN
        RETURN false;
    END IF;
    PERFORM mailqueue.note_template(p_project, p_by, 'template.picture_deleted', v_name,
                                    jsonb_build_object('id', p_id));
    RETURN true;
END $$;
COMMENT ON FUNCTION mailqueue.remove_template_picture(uuid, uuid, text) IS
    'Delete a picture: mail that names it shows nothing in its place; false if there is none.';
