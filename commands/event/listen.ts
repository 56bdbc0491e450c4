/** `agent event listen` */
import { once } from 'node:events'
import * as Flags from '@oclif/core/flags'
import { type Event, interruption } from '../../cli/client/events.ts'
import { defineCommand } from '../../cli/define-command.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { eventLine } from '../../cli/format/event.ts'
import { compactJson, safeLine } from '../../cli/format/text.ts'
import { readSeconds } from '../../cli/input/time.ts'
import { openReceiver, readRate } from '../../cli/webhook-receiver.ts'

export default defineCommand({
  summary: 'Receive the events of the wallet on this machine, as a webhook would, until Ctrl-C',
  description:
    'For development, with a daemon on this machine: registers itself as a webhook, verifies the signatures, prints a line for each event, and removes itself in the end. An event that was not taken is delivered again, as it would be to any webhook.',
  examples: [
    'agent event listen --forward-to http://127.0.0.1:3000/hooks',
    'agent event listen --fail 0.3 --slow 2s',
    'agent event listen --print json | jq .data',
  ],
  flags: {
    'forward-to': Flags.string({
      description: 'URL that each event is passed on to; what is not taken there is not taken here',
    }),
    print: Flags.option({
      options: ['line', 'json'] as const,
      description: 'how events are printed',
      default: 'line' as const,
    })(),
    fail: Flags.string({ description: 'how many of the events to refuse on purpose: 0.3', default: '0' }),
    slow: Flags.string({ description: 'how long to put off each answer: 10s; the daemon waits for five' }),
    port: Flags.integer({
      description: 'port to receive at; a free one when left out',
      min: 0,
      max: 65_535,
      default: 0,
    }),
  },
  async run({ flags, isJson, isQuiet, say, call, forSameDaemon }) {
    const forwardTo = flags['forward-to']
    if (forwardTo !== undefined && !/^https?:/.test(forwardTo))
      throw new UsageError('--forward-to is not an http or https URL.')
    const isJsonLine = isJson || flags.print === 'json'
    const { signal, interrupted } = interruption()
    const onEvent = (event: Event, status: number, note: string | undefined) => {
      process.stdout.write(
        `${isJsonLine ? compactJson(event) : isQuiet ? event.id : `${status}  ${eventLine(event)}`}\n`,
      )
      if (note !== undefined) say(`${status}: ${event.id} was not taken: ${safeLine(note)}`)
    }
    const receiver = await openReceiver({
      port: flags.port,
      failRate: readRate('fail', flags.fail),
      slowMs: flags.slow === undefined ? 0 : readSeconds('slow', flags.slow) * 1_000,
      forwardTo,
      onEvent,
      signal,
    })
    try {
      const { id, secret } = await call('POST /events/webhooks', {
        body: { url: receiver.url, signed: true },
      })
      if (secret !== undefined) receiver.expectSignature(secret)
      say(`Listening at ${receiver.url} as webhook ${id}. Ctrl-C ends it.`)
      if (!signal.aborted) await once(signal, 'abort')
      await call('DELETE /events/webhooks/{id}', { path: { id } }).catch((error: Error) =>
        say(
          `The webhook is still there: ${error.message}\n  Try: ${forSameDaemon(`agent webhook remove ${id}`)}`,
        ),
      )
    } finally {
      receiver.close()
    }
    process.exitCode = interrupted()
  },
})
