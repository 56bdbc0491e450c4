/** `agent didcomm ping` */
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { AgentCommand } from '../../cli/base-command.ts'
import { ping } from '../../cli/client/ping.ts'

export default class DidcommPing extends AgentCommand {
  static override summary = 'Ask whether the other side of a connection, or whoever has a DID, is there'
  static override description =
    'A DID is asked from a DID made for this alone. Not everybody answers strangers: this agent does for its open invitations, and as a mediator.'
  static override examples = [
    '<%= config.bin %> didcomm ping <connection id>',
    '<%= config.bin %> didcomm ping did:peer:2… --timeout 1m',
  ]
  static override args = {
    whom: Args.string({
      required: true,
      ignoreStdin: true,
      description: 'a connection by its id, the end of the id or its label; or a DID',
    }),
  }
  static override flags = {
    timeout: Flags.string({ description: 'how long to wait for the answer', default: '10s' }),
  }

  async run() {
    const { args, flags } = await this.parse(DidcommPing)
    const isDid = args.whom.startsWith('did:')
    const hint = isDid ? `agent did resolve ${args.whom}` : `agent connection show ${args.whom}`
    const pinged = await ping(
      this.call,
      isDid ? { did: args.whom } : { connectionId: args.whom },
      flags.timeout,
      hint,
    )
    this.print(pinged.id, [
      ['answered', pinged.answeredAt],
      ['after', `${pinged.milliseconds} ms`],
    ])
    return pinged
  }
}
