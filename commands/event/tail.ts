import { once } from 'node:events'
import * as Flags from '@oclif/core/flags'
import { interruption } from '../../cli/client/events.ts'
import { defineCommand } from '../../cli/define-command.ts'
import { eventLine } from '../../cli/format/event.ts'
import { compactJson } from '../../cli/format/text.ts'
import { eventFlags } from '../../cli/input/filters.ts'

export default defineCommand({
  summary: 'Follow the wallet’s events live, until Ctrl-C',
  description:
    'Continues after the last event when the daemon restarts: each event is printed once, in order. With --json, prints one JSON object per line.',
  examples: [
    'agent event tail',
    'agent event tail --type PresentationUpdated --json | jq .data.status',
    'agent event tail --after <event id>',
  ],
  flags: {
    ...eventFlags,
    after: Flags.string({
      description: 'start after this event, by its id; default: new events only',
    }),
  },
  async run({ flags, isJson, say, openEvents, isQuiet }) {
    const { type, thid, wallet: walletId, after } = flags
    const { signal, interrupted } = interruption()
    const onChange = (isThere: boolean) =>
      say(isThere ? 'The daemon has restarted.' : 'The daemon has stopped; waiting for it to restart.')
    const events = await openEvents({ type, thid, walletId, after }, { signal, onChange })
    say('Waiting for events. Press Ctrl-C to stop.')
    for await (const event of events) {
      const line = isJson ? compactJson(event) : isQuiet ? event.id : eventLine(event)
      // Wait for a slow reader.
      if (!process.stdout.write(`${line}\n`))
        await once(process.stdout, 'drain', { signal }).catch(() => undefined)
    }
    process.exitCode = interrupted()
  },
})
