import { createRequire } from 'node:module'
import { constants } from 'node:os'
import * as Flags from '@oclif/core/flags'
import { authorize } from '../cli/client/authorization.ts'
import { type Access, currentUrl, fromProcess } from '../cli/client/settings.ts'
import { defineCommand } from '../cli/define-command.ts'
import { UsageError } from '../cli/errors/errors.ts'
import type { Daemon } from '../cli/tui/data/data.ts'
import { createClient } from '../daemon/client/client.ts'
import { openEventStream } from '../daemon/client/event-client.ts'

/** Imports the dashboard, which is a bundle of its own. Only `agent tui` loads it. */
const importDashboard = () =>
  createRequire(import.meta.url)('../bin/tui.cjs')() as Promise<typeof import('../cli/tui/main.tsx')>

export default defineCommand({
  summary: 'Open the dashboard: the wallet, live',
  description:
    'Shows connections, credentials, proofs, DIDs, webhooks and events on one screen, and follows the daemon across restarts. Press ? for the keys.',
  examples: ['agent tui', 'agent tui --profile alice'],
  flags: {
    plain: Flags.boolean({
      description:
        'no frames, and words instead of symbols, for screen readers; the cursor is at the selection',
    }),
  },
  hasJsonFlag: false,
  async run({ getAccess, call, forSameDaemon, flags }) {
    if (!process.stdin.isTTY || !process.stdout.isTTY)
      throw new UsageError(
        'The dashboard needs a terminal: standard input and standard output must both be one.',
        'agent event tail',
      )
    if (process.env['TERM'] === 'dumb')
      throw new UsageError(
        'The dashboard needs a terminal that can move its cursor, and TERM=dumb says that this one cannot.',
        'agent event tail',
      )
    // Offers to start the daemon.
    await call('GET /_system/health')
    const { profileName, profile, url } = getAccess()
    const { start } = await importDashboard()
    const signal = await start({
      daemon: followDaemon(getAccess()),
      profile: profile && profileName,
      url,
      isPlain: flags.plain,
      forSameDaemon,
    })
    if (signal) process.exitCode = 128 + constants.signals[signal]
  },
})

/** A client that follows the daemon to its current address: a restarted daemon may have another port. */
function followDaemon(access: Access): Daemon {
  const getHeaders = () => authorize(access, false)
  const url = () => currentUrl(access, fromProcess())
  const call = async (key: string, input: object) =>
    (createClient(url(), await getHeaders()) as (key: string, input: object) => unknown)(key, input)
  return {
    call: call as Daemon['call'],
    open: async (lastEventId, signal) => openEventStream(url(), await getHeaders(), { lastEventId, signal }),
  }
}
