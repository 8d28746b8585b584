// The work, done by bree: COUNT each|UNIX_S PROGRAM [ARGUMENT]... It runs each job in a worker thread of its own.
'use strict';
const { join } = require('node:path');
const Bree = require('bree');

const [count, when, ...command] = process.argv.slice(2);
const due = when === 'each' ? { cron: '* * * * * *', hasSeconds: true } : { date: new Date(Number(when) * 1000) };
const jobs = Array.from({ length: Number(count) }, (_, i) => ({
  name: `job-${i}`,
  path: join(__dirname, 'job.cjs'),
  worker: { workerData: { command } },
  timezone: 'UTC',
  ...due,
}));
const bree = new Bree({ jobs, root: false, logger: false, timezone: 'UTC' });
bree.start().then(() => console.log('ready'));
process.on('SIGTERM', () => process.exit(0));
