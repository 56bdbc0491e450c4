/** `agent didcomm ping` */
import { setTimeout } from 'node:timers/promises'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../_base.ts'
import { CommandError } from '../_errors/usage.ts'
import { readSeconds } from '../_input/duration.ts'

export default class DidcommPing extends AgentCommand {
  static override summary = 'Ask whether the other side of a connection, or whoever has a DID, is there'
  static override description =
    'A DID is asked from a DID made for this alone. Not everybody answers strangers: this agent does for its open invitations, and as a mediator.'
  static override examples = ['<%= config.bin %> didcomm ping <connection id>', '<%= config.bin %> didcomm ping did:peer:2… --timeout 1m']
  static override args = { whom: Args.string({ required: true, ignoreStdin: true, description: 'id of a connection, or a DID' }) }
  static override flags = { timeout: Flags.string({ description: 'how long to wait for the answer', default: '10s' }) }

  async run() {
    const { args, flags } = await this.parse(DidcommPing)
    const isDid = args.whom.startsWith('did:')
    const hint = isDid ? `agent did resolve ${args.whom}` : `agent connection show ${args.whom}`
    const until = performance.now() + readSeconds('timeout', flags.timeout) * 1_000
    const start = performance.now()
    const { id } = await this.call('POST /didcomm/pings', { body: isDid ? { did: args.whom } : { connectionId: args.whom } })
    for (let waitMs = 20; performance.now() < until; waitMs = Math.min(waitMs * 1.5, 1_000)) {
      const ping = await this.call('GET /didcomm/pings/{id}', { path: { id } })
      if (ping.answeredAt !== undefined) {
        const milliseconds = Math.round(performance.now() - start)
        this.print(id, [
          ['answered', ping.answeredAt],
          ['after', `${milliseconds} ms`],
        ])
        return { ...ping, milliseconds }
      }
      if (ping.failure !== undefined) throw new CommandError(`The other side did not take the ping. ${ping.failure}`, 1, hint)
      await setTimeout(waitMs)
    }
    throw new CommandError(`The other side did not answer within ${flags.timeout}.`, 6, hint)
  }
}
