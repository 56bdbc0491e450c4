import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { argument, repeatable } from '../../cli/input/arguments.ts'
import { readObject } from '../../cli/input/files.ts'
import { eventTypes } from '../../cli/input/filters.ts'

export default defineCommand({
  summary: 'Register a webhook for the wallet’s events',
  examples: [
    'agent webhook add http://127.0.0.1:9000/events',
    'agent webhook add https://shop.example/events --signed --headers @headers.json',
    'agent webhook add https://shop.example/events --signed --batch 20',
    'agent webhook add https://mail.example/send --signed --deliver',
    'agent webhook add https://shop.example/events --type PresentationUpdated --type ConnectionUpdated',
  ],
  args: {
    url: argument('http(s) URL that events are posted to'),
  },
  flags: {
    headers: Flags.string({
      description: 'headers for every event, as a JSON object: @file.json, or @- for standard input',
    }),
    signed: Flags.boolean({
      description: 'sign events (Standard Webhooks); the secret is printed only now',
    }),
    batch: Flags.integer({
      description:
        'post waiting events as arrays with at most this many events; default: one event a request',
      min: 1,
      max: 50,
    }),
    type: Flags.option({
      options: eventTypes,
      ...repeatable,
      description: 'only events of this type; repeat it for several; default: all',
    })(),
    deliver: Flags.boolean({
      description:
        'the receiver sends e-mails and text messages: it also gets the links and codes that `agent credential offer --deliver` asks it to send',
    }),
  },
  async run({ args, flags, say, call, print, suggest }) {
    const customHeaders = flags.headers === undefined ? {} : readHeaders(flags.headers)
    if (flags.headers !== undefined && !flags.headers.startsWith('@'))
      say(
        '--headers: other users of this machine can see the command line. Put secrets into a file: --headers @headers.json.',
      )
    const webhook = await call('POST /events/webhooks', {
      body: {
        url: args.url,
        customHeaders,
        signed: flags.signed,
        batch: flags.batch,
        types: flags.type,
        deliver: flags.deliver,
      },
    })
    print(webhook.secret === undefined ? webhook.id : `${webhook.id}\n${webhook.secret}`, [
      ['webhook', webhook.id],
      ['url', webhook.url],
      ['headers', Object.keys(webhook.customHeaders).join(', ') || undefined],
      ['events', webhook.types?.join(', ')],
      ['delivers', webhook.deliver && 'e-mails and text messages'],
      ['events a request', webhook.batch === undefined ? undefined : `up to ${webhook.batch}`],
      ['secret', webhook.secret],
    ])
    if (webhook.secret !== undefined) say('The secret is not printed again.')
    suggest(`agent webhook test ${webhook.id}`)
    return webhook
  },
})

function readHeaders(text: string): Record<string, string> {
  const headers = Object.entries(readObject('headers', text))
  const wrong = headers.find(([, value]) => typeof value !== 'string')
  if (wrong) throw new UsageError(`--headers: the value of ${wrong[0]} is not a string.`)
  return Object.fromEntries(headers) as Record<string, string>
}
