/** `agent webhook add` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { readObject } from '../../cli/input/files.ts'

export default class WebhookAdd extends AgentCommand {
  static override summary = 'Register a webhook, which receives the events of the wallet'
  static override examples = [
    '<%= config.bin %> webhook add http://127.0.0.1:9000/events',
    '<%= config.bin %> webhook add https://shop.example/events --signed --headers @headers.json',
  ]
  static override args = {
    url: Args.string({
      required: true,
      ignoreStdin: true,
      description: 'http(s) URL that events are posted to',
    }),
  }
  static override flags = {
    headers: Flags.string({
      description: 'headers that go with every event, as a JSON object: @file.json, or @- for standard input',
    }),
    signed: Flags.boolean({
      description: 'sign events (Standard Webhooks), with a secret that is shown this once',
    }),
  }

  async run() {
    const { args, flags } = await this.parse(WebhookAdd)
    const customHeaders = flags.headers === undefined ? {} : readHeaders(flags.headers)
    if (flags.headers !== undefined && !flags.headers.startsWith('@'))
      this.say(
        '--headers: others on this machine can see what stands in a command. Secrets belong in a file: --headers @headers.json.',
      )
    const webhook = await this.call('POST /events/webhooks', {
      body: { url: args.url, customHeaders, signed: flags.signed },
    })
    this.print(webhook.secret === undefined ? webhook.id : `${webhook.id}\n${webhook.secret}`, [
      ['webhook', webhook.id],
      ['url', webhook.url],
      ['headers', Object.keys(webhook.customHeaders).join(', ') || undefined],
      ['secret', webhook.secret],
    ])
    if (webhook.secret !== undefined) this.say('The secret is not shown again.')
    this.suggest(`agent webhook test ${webhook.id}`)
    return webhook
  }
}

function readHeaders(text: string): Record<string, string> {
  const headers = Object.entries(readObject('headers', text))
  const wrong = headers.find(([, value]) => typeof value !== 'string')
  if (wrong) throw new UsageError(`--headers: the value of ${wrong[0]} is not a text.`)
  return Object.fromEntries(headers) as Record<string, string>
}
