// What the peers in JavaScript share: ready messages, and one pool of connections that sends them.
import nodemailer from "nodemailer";

export const SENDER = "sender@example.com";

export function message(n, size) {
  const line = `Item ${n}: a plain description of what was ordered, one line of it.\r\n`;
  const head = `From: ${SENDER}\r\nTo: person${n}@example.com\r\nSubject: Your order ${n}\r\n\r\n`;
  return { to: `person${n}@example.com`, raw: head + line.repeat(Math.ceil(size / line.length)).slice(0, size) + "\r\n" };
}

const transport = nodemailer.createTransport({
  pool: true, host: "127.0.0.1", port: Number(process.env.SINK_PORT), secure: false, ignoreTLS: true,
  maxConnections: 8, maxMessages: Infinity,
});

let begun = false;
export function send(mail) {
  if (!begun) {
    begun = true;
    console.log(`first ${Date.now() / 1000}`);
  }
  return transport.sendMail({ envelope: { from: SENDER, to: [mail.to] }, raw: mail.raw });
}
