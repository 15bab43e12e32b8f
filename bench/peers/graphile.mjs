// graphile-worker with nodemailer: 24 jobs at once out of a local queue of 500, completed in batches.
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import { message, send } from "./mail.mjs";

const [mode, count, size] = process.argv.slice(2);
const connectionString = process.env.DATABASE_URL;

if (mode === "fill") {
  const utils = await makeWorkerUtils({ connectionString });
  await utils.migrate();
  for (let n = 0; n < Number(count); n += 1000) {
    const jobs = Array.from({ length: Math.min(1000, count - n) }, (_, i) => ({
      identifier: "mail", payload: message(n + i, Number(size)),
    }));
    await utils.addJobs(jobs);
  }
  await utils.release();
} else {
  await run({
    connectionString,
    taskList: { mail: (mail) => send(mail) },
    concurrency: 24,
    maxPoolSize: 26,
    preset: { worker: { concurrentJobs: 24, maxPoolSize: 26, localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    logger: new Logger(() => () => {}), // a line a job would cost more than the job
  });
}
