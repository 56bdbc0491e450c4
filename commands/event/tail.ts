/** `agent event tail` */
import { once } from 'node:events'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { interruption } from '../../cli/client/events.ts'
import { eventLine } from '../../cli/format/event.ts'
import { compactJson } from '../../cli/format/safe.ts'
import { eventFlags } from '../../cli/input/filters.ts'

export default class EventTail extends AgentCommand {
  static override summary = 'Follow the events of the wallet as they happen, until Ctrl-C'
  static override description =
    'When the daemon is started again, goes on after the last event: each is printed once, in order. With --json, one JSON object a line.'
  static override examples = [
    '<%= config.bin %> event tail',
    '<%= config.bin %> event tail --type PresentationUpdated --json | jq .data.status',
    '<%= config.bin %> event tail --after <event id>',
  ]
  static override flags = {
    ...eventFlags,
    after: Flags.string({
      description: 'begin with what came after this event, by its id; with what comes next when left out',
    }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(EventTail)
    const { type, thid, wallet: walletId, after } = flags
    const { signal, interrupted } = interruption()
    const onChange = (isThere: boolean) =>
      this.say(isThere ? 'The daemon is there again.' : 'The daemon has gone; waiting for it to come back.')
    const events = await this.openEvents({ type, thid, walletId, after }, { signal, onChange })
    this.say('Waiting for events. Ctrl-C ends it.')
    for await (const event of events) {
      const line = this.jsonEnabled() ? compactJson(event) : this.isQuiet ? event.id : eventLine(event)
      // As fast as they are read, and no faster.
      if (!process.stdout.write(`${line}\n`))
        await once(process.stdout, 'drain', { signal }).catch(() => undefined)
    }
    process.exitCode = interrupted()
  }
}
