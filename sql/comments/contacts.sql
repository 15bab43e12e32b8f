-- Columns of contacts and their lists.

SELECT mailqueue.describe_columns('contacts', ARRAY[
    ['id', 'Id of the contact.'],
    ['email', 'Address, as it is sent.'],
    ['email_key', 'Address in the form in which addresses are compared; unique in the project.'],
    ['first_name', 'First name; NULL: unknown.'],
    ['last_name', 'Last name; NULL: unknown.'],
    ['time_zone', 'IANA name of the time zone, such as Europe/Berlin; NULL: unknown.'],
    ['date_of_birth', 'Date of birth; NULL: unknown.'],
    ['language', 'Language, such as en or pt-BR; NULL: unknown.'],
    ['attributes', 'Values by name, chosen by the project, which conditions of lists may use: at most 16 KiB.'],
    ['consented_at', 'Time at which the person agreed to receive mail; NULL: not known.'],
    ['consent_source', 'Where the person agreed, such as a form or its URL.'],
    ['consent_wording', 'What the person agreed to, in the words that were shown.'],
    ['is_test', 'Whether the contact belongs to the test data of the project, which test keys see.']
]);

SELECT mailqueue.describe_columns('contact_lists', ARRAY[
    ['id', 'Id of the list.'],
    ['name', 'Name of the list, unique in its project.'],
    ['description', 'What the list is for.'],
    ['condition', 'jsonpath that the document of a contact must satisfy; NULL: contacts are added one by one.'],
    ['created_by', 'Who added the list.'],
    ['opt_in', 'Which contacts get mail to the list: none: all; recorded: those whose consent is recorded; confirmed: '
               'those that confirmed by a link in a mail.'],
    ['confirm_template', 'Template of the mail that asks to confirm; NULL: the built-in text.'],
    ['is_test', 'Whether the list belongs to the test data of the project, which test keys see.']
]);

SELECT mailqueue.describe_columns('contact_list_members', ARRAY[
    ['list_id', 'Id of the list.'],
    ['contact_id', 'Id of the contact.'],
    ['is_pending', 'Whether the contact has not confirmed yet: it gets no mail to the list.'],
    ['confirmed_at', 'Time at which the contact confirmed; NULL: it was not asked to, or has not.'],
    ['pending_until', 'Time until which the contact may confirm; NULL: it is not pending.'],
    ['confirm_wording', 'What the contact confirmed, in the words that were shown.'],
    ['confirm_agent', 'User-Agent of the browser in which it did; NULL: it asked not to be tracked.'],
    ['confirm_network', 'Network from which it did; NULL: it asked not to be tracked.']
]);

SELECT mailqueue.describe_columns('list_sends', ARRAY[
    ['id', 'Id of the send.'],
    ['batch_id', 'Id of the batch that the mails belong to. A contact gets one mail of a batch.'],
    ['list_id', 'Id of the list.'],
    ['list_name', 'Name of the list at the time of the request.'],
    ['contents', 'Contents, the first for contacts whose language the template lacks.'],
    ['languages', 'Languages of the contents, in their order; empty where they are not of a template.'],
    ['options', 'Options of each mail.'],
    ['variables', 'Variables of the template; each mail has its contact beside them.'],
    ['own', 'Custom data and tags of each mail.'],
    ['local_at', 'Local time of each contact before which its mail is not sent; NULL: at once.'],
    ['time_zone', 'Time zone for contacts without one; NULL: that of the project.'],
    ['except_contacts', 'Ids of contacts that are left out.'],
    ['is_test', 'Whether the mail is test mail, and the list one of test data.'],
    ['requested_by', 'Who sent to the list.'],
    ['snapshot_at', 'Time at which the contacts of the list were stored; NULL: they are not yet.'],
    ['contacts', 'Number of contacts that were stored.'],
    ['accepted', 'Number of mails that were accepted.'],
    ['suppressed', 'Number of mails that were suppressed.'],
    ['rejected', 'Number of contacts whose mail was rejected.'],
    ['withdrawn', 'Number of contacts that were removed before their mail was made.'],
    ['stopped_by', 'Who cancelled the batch; NULL: nobody.'],
    ['status', 'State in the queue: pending, assigned, done, stopped or failed.'],
    ['max_attempts', 'Number of failed attempts in a row after which the send fails.']
]);

SELECT mailqueue.describe_columns('list_send_contacts', ARRAY[
    ['batch_id', 'Id of the batch.'],
    ['contact_id', 'Id of the contact, which may have been removed since.'],
    ['send_id', 'Id of the row of list_sends.'],
    ['outcome', 'accepted, suppressed, rejected, or withdrawn: the contact was removed before; NULL: pending.'],
    ['email_id', 'Id of the mail; NULL: there is none.'],
    ['reason', 'Why the mail was suppressed or rejected.']
]);

SELECT mailqueue.describe_columns('list_confirmations', ARRAY[
    ['email_id', 'Id of the mail that asked.'],
    ['list_id', 'Id of the list.'],
    ['contact_id', 'Id of the contact.']
]);

SELECT mailqueue.describe_columns('imports', ARRAY[
    ['id', 'Id of the import.'],
    ['kind', 'What is imported: contacts or suppressions.'],
    ['options', 'What was asked for: list, the name of a list that contacts are added to.'],
    ['file_name', 'Name of the file, where it has one.'],
    ['encoding', 'How the file is read, such as utf-8.'],
    ['is_test', 'Whether it is of a test key: its contacts are too.'],
    ['requested_by', 'Who began the import.'],
    ['parts', 'Number of parts of the file.'],
    ['bytes', 'Size of the file, in bytes.'],
    ['lines', 'Number of lines of the file, its header and empty ones included.'],
    ['lines_read', 'Number of lines that are read and committed, its header and empty ones not included.'],
    ['taken', 'Number of lines by outcome: added, changed, unchanged.'],
    ['refused', 'Number of lines that were refused.'],
    ['refusals', 'The first 1,000 of them: line, column and reason.'],
    ['gone_at', 'Time at which the file was destroyed, because a person of the project was erased; NULL: it was not.'],
    ['cancelled_at', 'Time at which it was cancelled, and its file deleted; NULL: it was not.'],
    ['status', 'State in the queue: pending, assigned, done, erased or failed; done when it was cancelled.'],
    ['max_attempts', 'Number of failed attempts in a row after which the import fails.']
]);

SELECT mailqueue.describe_columns('import_parts', ARRAY[
    ['import_id', 'Id of the import.'],
    ['number', 'Number of the part, from 0.'],
    ['data', 'The bytes of the file, compressed by zlib.']
]);
