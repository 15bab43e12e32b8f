// pg-boss with nodemailer: batches of 500, fetched without a pause while there are full ones.
import { PgBoss } from "pg-boss";
import { message, send } from "./mail.mjs";

const [mode, count, size] = process.argv.slice(2);
const boss = new PgBoss({ connectionString: process.env.DATABASE_URL, supervise: false, schedule: false });
boss.on("error", (fault) => { console.error(fault); process.exit(1); });
await boss.start();

if (mode === "fill") {
  await boss.createQueue("mail");
  for (let n = 0; n < Number(count); n += 1000) {
    const jobs = Array.from({ length: Math.min(1000, count - n) }, (_, i) => ({ data: message(n + i, Number(size)) }));
    await boss.insert("mail", jobs);
  }
  await boss.stop();
} else {
  await boss.work(
    "mail",
    { batchSize: 500, localConcurrency: 2, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true },
    (jobs) => Promise.all(jobs.map((job) => send(job.data))),
  );
}
