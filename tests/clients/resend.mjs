import { Resend } from 'resend';

const resend = new Resend(process.env.KEY, { baseUrl: process.env.URL });
const hello = {
  from: 'Acme <onboarding@example.com>',
  to: ['delivered@example.org'],
  subject: 'hello world',
  html: '<strong>it works!</strong>',
};

const said = {};
said.sent = await resend.emails.send({
  ...hello,
  replyTo: 'help@example.com',
  cc: 'carl@example.org',
  headers: { 'X-Order': '81' },
  tags: [{ name: 'category', value: 'confirm_email' }],
  attachments: [{ filename: 'notes.txt', content: Buffer.from('notes'), contentId: 'notes' }],
});
said.shown = await resend.emails.get(said.sent.data.id);
said.files = await resend.emails.attachments.list({ emailId: said.sent.data.id });
said.scheduled = await resend.emails.send({ ...hello, scheduledAt: 'in 1 min' });
said.updated = await resend.emails.update({
  id: said.scheduled.data.id,
  scheduledAt: new Date(Date.now() + 60 * 60 * 1000).toISOString(),
});
said.canceled = await resend.emails.cancel(said.scheduled.data.id);
said.batch = await resend.batch.send([hello, hello]);
said.permissive = await resend.batch.send([hello, { ...hello, to: ['nobody'] }], {
  batchValidation: 'permissive',
});
said.once = [];
for (const subject of ['a', 'a', 'b']) {
  said.once.push(await resend.emails.send({ ...hello, subject }, { idempotencyKey: 'node-1' }));
}
said.listed = await resend.emails.list({ limit: 2 });
said.refused = await resend.emails.send({ ...hello, to: ['nobody'] });
said.missing = await resend.emails.send({ ...hello, to: undefined });
said.unknown = await new Resend('re_123', { baseUrl: process.env.URL }).emails.send(hello);
console.log(JSON.stringify(said));
