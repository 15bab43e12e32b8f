import postmark from 'postmark';

const where = { requestHost: process.env.HOST, useHttps: false };
const client = new postmark.ServerClient(process.env.KEY, where);
const hello = {
  From: 'sender@example.com',
  To: 'receiver@example.org',
  Subject: 'Postmark test',
  HtmlBody: '<strong>Hello</strong>',
  TextBody: 'Hello',
};

async function fault(work) {
  try {
    return { none: await work() };
  } catch (error) {
    const { name, code, statusCode, message, recipients } = error;
    return { name, code, statusCode, message, recipients };
  }
}

const said = {};
said.sent = await client.sendEmail({
  ...hello,
  Cc: 'carl@example.org',
  Tag: 'welcome',
  Metadata: { order: '81' },
  Headers: [new postmark.Models.Header('X-Order', '81')],
  Attachments: [new postmark.Models.Attachment('n.txt', 'bm90ZXM=', 'text/plain')],
  TrackLinks: postmark.Models.LinkTrackingOptions.None,
  MessageStream: 'outbound',
});
said.shown = await client.getOutboundMessageDetails(said.sent.MessageID);
said.dump = await client.getOutboundMessageDump(said.sent.MessageID);
said.batch = await client.sendEmailBatch([hello, { ...hello, To: 'nobody' }]);
said.templated = await client.sendEmailWithTemplate({
  From: hello.From,
  To: hello.To,
  TemplateAlias: 'node',
  TemplateModel: { name: 'Ann' },
});
said.templates = await client.sendEmailBatchWithTemplates([
  { From: hello.From, To: hello.To, TemplateAlias: 'node', TemplateModel: { name: 'Ann' } },
  { From: hello.From, To: hello.To, TemplateAlias: 'none', TemplateModel: {} },
]);
said.bulk = await client.sendBulkEmail({
  From: hello.From,
  Subject: 'News for {{FirstName}}',
  HtmlBody: '<p>Hi {{FirstName}}</p>',
  TextBody: 'Hi {{FirstName}}',
  MessageStream: 'broadcast',
  Tag: 'news',
  Messages: [
    { To: 'bob@example.org', TemplateModel: { FirstName: 'Bob' }, Metadata: { n: '1' } },
    { To: 'eve@example.org', Cc: 'cc@example.org', TemplateModel: { FirstName: 'Eve' } },
  ],
});
said.progress = await client.getBulkEmailStatus(said.bulk.Id);
said.server = await client.getServer();
said.inactive = await fault(() => client.sendEmail({ ...hello, To: 'gone@example.org' }));
said.invalid = await fault(() => client.sendEmail({ ...hello, HtmlBody: undefined, TextBody: undefined }));
said.stream = await fault(() => client.sendEmail({ ...hello, MessageStream: 'No Such' }));
said.unknown = await fault(() => new postmark.ServerClient('c0ffee', where).sendEmail(hello));
said.tested = await new postmark.ServerClient('POSTMARK_API_TEST', where).sendEmail(hello);
console.log(JSON.stringify(said));
