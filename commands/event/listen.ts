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
  summary: 'Receive the wallet’s events as a local webhook, until Ctrl-C',
  description:
    'For development, with a daemon on this machine. Registers a webhook, verifies signatures, prints a line for each event, and removes the webhook at the end. A refused event is delivered again, as to any webhook.',
  examples: [
    'agent event listen --forward-to http://127.0.0.1:3000/hooks',
    'agent event listen --fail 0.3 --slow 2s',
    'agent event listen --print json | jq .data',
  ],
  flags: {
    'forward-to': Flags.string({
      description: 'URL that each event is forwarded to; its refusal is passed on',
    }),
    print: Flags.option({
      options: ['line', 'json'] as const,
      description: 'output format',
      default: 'line' as const,
    })(),
    fail: Flags.string({ description: 'share of events to refuse on purpose, such as 0.3', default: '0' }),
    slow: Flags.string({ description: 'delay of each answer, such as 10s; the daemon waits 5 s' }),
    port: Flags.integer({
      description: 'port to listen on; default: a free port',
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
      if (note !== undefined) say(`${status}: ${event.id} was refused: ${safeLine(note)}`)
    }
    const receiver = await openReceiver({
      port: flags.port,
      failRate: readRate('fail', flags.fail),
      slowMs: flags.slow === undefined ? 0 : readSeconds('slow', flags.slow) * 1_000,
      forwardTo,
      onEvent,
      onForgery: (reason) => say(`401: a request was refused: ${reason}`),
      signal,
    })
    try {
      const { id, secret } = await call('POST /events/webhooks', {
        body: { url: receiver.url, signed: true },
      })
      receiver.expectSignature(secret!)
      say(`Listening at ${receiver.url} as webhook ${id}. Press Ctrl-C to stop.`)
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
