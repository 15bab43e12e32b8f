-- Names of attachments: recipients' programs open a file by its extension, whatever its content type says.

-- Trailing dots and spaces are ignored, as Windows does.
CREATE OR REPLACE FUNCTION mailqueue.types_fitting_name(p_name text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN e.extension = 'pdf' THEN '^application/pdf$'
        WHEN e.extension IN ('png', 'gif', 'webp') THEN '^image/' || e.extension || '$'
        WHEN e.extension IN ('jpg', 'jpeg', 'jpe', 'jfif') THEN '^image/jpeg$'
        WHEN e.extension IN ('svg', 'svgz') THEN '^image/svg\+xml$'
        WHEN e.extension IN ('htm', 'html', 'shtml', 'xht', 'xhtml') THEN '^(text/html|application/xhtml\+xml)$'
        WHEN e.extension IN ('mht', 'mhtml') THEN '^(message/rfc822|multipart/related)$'
        WHEN e.extension = 'zip' THEN '^application/(zip|x-zip-compressed)$'
        WHEN e.extension IN ('docx', 'dotx', 'pptx', 'potx', 'xlsx', 'xltx')
        THEN '^application/vnd\.openxmlformats-officedocument\.'
        -- Run when they are opened; formats that are shown only never have these names.
        WHEN e.extension IN ('apk', 'app', 'bat', 'chm', 'cmd', 'com', 'cpl', 'dll', 'dmg', 'exe', 'hta', 'img', 'iso',
                             'jar', 'js', 'jse', 'lnk', 'mjs', 'msc', 'msi', 'msp', 'one', 'pif', 'ps1', 'reg', 'scf',
                             'scr', 'sh', 'url', 'vbe', 'vbs', 'vhd', 'wsf', 'wsh', 'xll')
        THEN '^(text/(javascript|vbscript|x-)|application/(?!pdf$|zip$|epub|vnd\.(openxmlformats|oasis)))'
    END
      FROM (SELECT lower(substring(p_name, '\.([A-Za-z0-9]+)[\s.\u00a0]*$')) AS extension) AS e
$$;
COMMENT ON FUNCTION mailqueue.types_fitting_name(text) IS
    'Regular expression of the content types that a file of this name may have; NULL where its extension says nothing.';

CREATE OR REPLACE FUNCTION mailqueue.check_name_fits_type(p_name text, p_type text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF p_type <> 'application/octet-stream' AND p_type !~ mailqueue.types_fitting_name(p_name) THEN
        PERFORM mailqueue.refuse('attachments', format('a file of type %s cannot be named %s', p_type,
                                                       to_json(left(p_name, 100))), 'file_not_allowed');
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_name_fits_type(text, text) IS
    'Raise an error if the extension of a file name belongs to other content types.';

CREATE OR REPLACE FUNCTION mailqueue.check_file_name(p_name text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, mailqueue, pg_temp
AS $$
BEGIN
    IF coalesce(p_name, '') ~ '^[\s.]*$' OR octet_length(p_name) > 255 THEN
        PERFORM mailqueue.refuse('attachments',
                                 format('a file name has 1 to 255 bytes, got %s', to_json(left(p_name, 100))));
    ELSIF p_name ~ '[\u0001-\u001f\u007f-\u009f/\\\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]' THEN
        PERFORM mailqueue.refuse('attachments', format('%s is not the name of a file', to_json(left(p_name, 100))));
    END IF;
END $$;
COMMENT ON FUNCTION mailqueue.check_file_name(text) IS
    'Raise an error for file names with slashes, control characters or characters that change the direction of text.';
