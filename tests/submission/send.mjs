// Hands in mails by nodemailer: PORT KEY CERTIFICATE COUNT; prints the last answer of each.
import { readFileSync } from "node:fs";
import nodemailer from "nodemailer";

const [port, key, certificate, count] = process.argv.slice(2);
const transport = nodemailer.createTransport({
  host: "localhost",
  port: Number(port),
  requireTLS: true,
  pool: true,
  maxConnections: 3,
  auth: { user: "apikey", pass: key },
  tls: { ca: readFileSync(certificate) },
});
const sent = [];
for (let number = 0; number < Number(count); number += 1) {
  sent.push(
    transport.sendMail({
      from: "Shop <shop@example.com>",
      to: [`Ann <ann${number}@example.com>`, `ben${number}@example.com`],
      bcc: `cleo${number}@example.com`,
      subject: `By nodemailer ${number} ✓`,
      text: "Grüße",
      html: "<p>Grüße</p>",
      headers: { "X-Mailqueue-Tag": "node" },
      attachments: [{ filename: "a.pdf", content: Buffer.from("%PDF-1.7") }],
    }),
  );
}
for (const info of await Promise.all(sent)) console.log(info.response);
transport.close();
