/** The process of a daemon. */
require('./load.cjs').load('daemon/agent.cjs', 'daemon').exports.main()
