/**
 * The exports of the bundle: `main` runs a daemon, `startInProcess` is for the package’s export, and tests
 * build an agent from the other parts.
 */
export { createAgent } from '../src/agent/agent.ts'
export { readConfig } from '../src/foundation/config/config.ts'
export { openLog } from '../src/foundation/log.ts'
export { Problem } from '../src/foundation/problem.ts'
export { StartError } from '../src/foundation/start-error.ts'
export { createApp } from './server/app.ts'
export { createDidcommApp } from './server/didcomm.ts'
export { bind, connectionLimits, serve, stop, urlOf } from './server/listen.ts'
export { serveAgent, startInProcess } from './server/in-process.ts'
export { main } from './main.ts'
export { serveSockets } from './server/sockets.ts'
export { routes } from './routes/index.ts'
