/** `agent tui` */
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { createClient } from '../daemon/client/client.ts'
import { openEventStream } from '../daemon/client/event-client.ts'
import type { Daemon } from '../cli/tui/daemon.ts'
import { AgentCommand } from '../cli/base-command.ts'
import { currentUrl, fromProcess } from '../cli/client/settings.ts'
import { UsageError } from '../cli/errors/errors.ts'

/** Imports the dashboard, which is a bundle of its own. Only `agent tui` loads it. */
const importDashboard = () =>
  createRequire(import.meta.url)('../bin/tui.cjs')() as Promise<typeof import('../cli/tui/main.tsx')>

export default class Tui extends AgentCommand {
  static override summary = 'Show the wallet live, and act on it by keys'
  static override description =
    'Connections, credentials, proofs, DIDs, webhooks and events on one screen, which follows the daemon across its restarts. ? shows the keys.'
  static override examples = ['<%= config.bin %> tui', '<%= config.bin %> tui --profile alice']
  static override enableJsonFlag = false

  async run(): Promise<void> {
    await this.parse(Tui)
    if (!process.stdin.isTTY || !process.stdout.isTTY)
      throw new UsageError(
        'The dashboard needs a terminal: standard input and standard output must both be one.',
        'agent event tail',
      )
    const { profileName, profile } = this.access
    const { start } = await importDashboard()
    const where = `${profile ? `${profileName} · ` : ''}${this.access.url}`
    const signal = await start({
      daemon: this.daemon(),
      where,
      forSameDaemon: (command) => this.forSameDaemon(command),
    })
    if (signal) process.exitCode = 128 + constants.signals[signal]
  }

  /** The daemon, wherever it is by now: one that was started again may have another port. */
  private daemon(): Daemon {
    const { apiKey } = this.access
    const headers: Record<string, string> = apiKey ? { apikey: apiKey.reveal() } : {}
    const url = () => currentUrl(this.access, fromProcess())
    const call = (key: string, input: object) =>
      (createClient(url(), headers) as (key: string, input: object) => unknown)(key, input)
    return {
      call: call as Daemon['call'],
      open: (lastEventId, signal) => openEventStream(url(), headers, { lastEventId, signal }),
    }
  }
}
