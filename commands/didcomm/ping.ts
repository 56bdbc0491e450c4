/** `agent didcomm ping` */
import { setTimeout } from 'node:timers/promises'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../_base.ts'
import { CommandError } from '../_errors/usage.ts'
import { readSeconds } from '../_input/duration.ts'

export default class DidcommPing extends AgentCommand {
  static override summary = 'Ask the other side of a connection whether it is there'
  static override examples = [
    '<%= config.bin %> didcomm ping <connection id>',
    '<%= config.bin %> didcomm ping <connection id> --timeout 1m',
  ]
  static override args = { connection: Args.string({ required: true, ignoreStdin: true, description: 'id of the connection' }) }
  static override flags = { timeout: Flags.string({ description: 'how long to wait for the answer', default: '10s' }) }

  async run() {
    const { args, flags } = await this.parse(DidcommPing)
    const path = { connectionId: args.connection }
    const until = performance.now() + readSeconds('timeout', flags.timeout) * 1_000
    const start = performance.now()
    const { id } = await this.call('POST /connections/{connectionId}/ping', { path })
    for (let waitMs = 20; performance.now() < until; waitMs = Math.min(waitMs * 1.5, 1_000)) {
      const ping = await this.call('GET /connections/{connectionId}/ping', { path })
      if (ping.id === id && ping.answeredAt !== undefined) {
        const milliseconds = Math.round(performance.now() - start)
        this.print(id, [
          ['answered', ping.answeredAt],
          ['after', `${milliseconds} ms`],
        ])
        return { ...ping, milliseconds }
      }
      await setTimeout(waitMs)
    }
    throw new CommandError(`The other side did not answer within ${flags.timeout}.`, 6, `agent connection show ${args.connection}`)
  }
}
