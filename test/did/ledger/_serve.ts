/**
 * The embedded ledger behind the HTTP API of a daemon, without an agent: it has a settable clock and starts
 * quickly.
 */
import type { RequestListener } from 'node:http'
import { createApp } from '../../../daemon/server/app.ts'
import api from '../../../daemon/routes/api.ts'
import type { Agent } from '../../../src/agent/agent.ts'
import { readConfig } from '../../../src/foundation/config/config.ts'
import { openLog } from '../../../src/foundation/log.ts'
import { Metrics } from '../../../src/foundation/metrics.ts'
import { createScheduler, schedulerLimits } from '../../../src/foundation/scheduler.ts'
import { createLedgerServer, type LedgerServerLimits } from '../../../src/did/ledger/ledger-server.ts'
import type { EmbeddedLedger } from '../../../src/did/ledger/sqlite-ledger.ts'

/** A `node:http` listener. The parts of an agent that `/api` does not use are missing. */
export function ledgerApp(ledger: EmbeddedLedger, limits: Partial<LedgerServerLimits> = {}): RequestListener {
  const config = readConfig({})
  const agent = {
    config,
    log: openLog('silent'),
    env: { urls: { rest: 'http://127.0.0.1' }, log: openLog('silent'), metrics: new Metrics(false) },
    isAdminToken: () => false,
    scheduler: createScheduler(schedulerLimits(config)),
    ledgerServer: createLedgerServer(ledger, {
      submissionsPerMinute: 1_000_000,
      operationBytes: 32_768,
      bytes: 1_073_741_824,
      ...limits,
    }),
  } as unknown as Agent
  return createApp(agent, api).callback()
}
