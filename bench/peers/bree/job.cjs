'use strict';
const { spawnSync } = require('node:child_process');
const { workerData } = require('node:worker_threads');

const [program, ...words] = workerData.job.worker.workerData.command;
spawnSync(program, words, { env: {}, stdio: 'ignore' });
