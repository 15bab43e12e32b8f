// Hands in mails by nodemailer until each is taken: PORT KEY CERTIFICATE NAME…
import { readFileSync } from "node:fs";
import nodemailer from "nodemailer";

const [port, key, certificate, ...names] = process.argv.slice(2);
const transport = nodemailer.createTransport({
  host: "localhost",
  port: Number(port),
  requireTLS: true,
  auth: { user: "apikey", pass: key },
  tls: { ca: readFileSync(certificate) },
});
for (const name of names) {
  for (;;) {
    try {
      await transport.sendMail({
        from: "shop@example.com",
        to: "ann@example.com",
        subject: name,
        text: "Hello",
        headers: { "X-Mailqueue-Idempotency-Key": name },
      });
      break;
    } catch (error) {
      if (error.responseCode >= 500) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
