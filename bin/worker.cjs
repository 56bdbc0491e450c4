/** A worker process of a daemon, which `node:cluster` starts. */
require('./load.cjs').load('daemon/agent.cjs', 'daemon').exports.runWorker()
