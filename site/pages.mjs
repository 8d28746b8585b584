// The pages of the site: groups in the order of its navigation, each with its documents. A document of docs/ or docs/zh/
// that is in no group makes the build fail.
export const groups = [
  {
    title: 'Start',
    pages: ['README.md', 'docs/GUIDE.md', 'docs/CONCEPTS.md', 'docs/INSTALL.md', 'docs/FAQ.md', 'docs/COMPARISON.md'],
  },
  {
    title: 'Jobs',
    pages: [
      'docs/SCHEDULES.md', 'docs/JOBS.md', 'docs/WORKFLOWS.md', 'docs/GROUPS.md', 'docs/SECRETS.md', 'docs/NOTIFY.md',
      'docs/FROM-CRONTAB.md', 'docs/FROM-OTHERS.md',
    ],
  },
  {
    title: 'Operation',
    pages: [
      'docs/CONSOLE.md', 'docs/CONFIG.md', 'docs/CLUSTER.md', 'docs/SIZING.md', 'docs/OPERATIONS.md', 'docs/HISTORY.md', 'docs/WATCHING.md', 'docs/SECURITY.md',
    ],
  },
  {
    title: 'Programs',
    pages: [
      'docs/API.md', 'clients/README.md', 'clients/terraform/README.md', 'docs/LIBRARY.md', 'docs/LIBRARY-REFERENCE.md', 'docs/COORDINATION.md', 'docs/FROM-LIBRARIES.md',
      'bindings/README.md',
    ],
  },
  { title: 'Reference', pages: ['docs/CLI.md', 'CHANGELOG.md'] },
  {
    title: 'Inside',
    pages: [
      'docs/RELIABILITY.md', 'docs/reliability-report.md', 'docs/reliability-report-postgresql.md', 'docs/reliability-report-redis.md', 'docs/BENCHMARKS.md', 'docs/ARCHITECTURE.md', 'CONTRIBUTING.md',
      'test/sim/README.md', 'test/reliability/README.md', 'test/nth/README.md',
    ],
  },
  {
    title: '中文',
    pages: ['README.zh-CN.md', 'docs/zh/GUIDE.md', 'docs/zh/CONCEPTS.md', 'docs/zh/FAQ.md', 'docs/zh/COMPARISON.md'],
  },
];

// Shorter than their headings, in the navigation only.
export const names = {
  'README.md': 'What peal is',
  'README.zh-CN.md': 'peal 是什么',
  'docs/RELIABILITY.md': 'Promises and faults',
  'docs/reliability-report.md': 'Reliability report: etcd',
  'docs/reliability-report-postgresql.md': 'Reliability report: PostgreSQL',
  'docs/reliability-report-redis.md': 'Reliability report: Redis',
  'test/sim/README.md': 'The simulation',
  'test/reliability/README.md': 'The fault tests',
  'test/nth/README.md': 'The n-th failure',
};
