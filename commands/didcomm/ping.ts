import * as Flags from '@oclif/core/flags'
import { ping } from '../../cli/client/ping.ts'
import { defineCommand } from '../../cli/define-command.ts'
import { argument } from '../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Check that the other side of a connection, or the agent of a DID, answers',
  description:
    'Uses a new DID to ping a DID. An agent need not answer unknown senders. This agent answers for its open invitations, and as a mediator.',
  examples: ['agent didcomm ping <connection id>', 'agent didcomm ping did:peer:2… --timeout 1m'],
  args: {
    whom: argument('a connection by its id, the end of the id or its label; or a DID'),
  },
  flags: {
    timeout: Flags.string({ description: 'how long to wait for the answer', default: '10s' }),
  },
  async run({ args, flags, call, print }) {
    const isDid = args.whom.startsWith('did:')
    const hint = isDid ? `agent did resolve ${args.whom}` : `agent connection show ${args.whom}`
    const pinged = await ping(
      call,
      isDid ? { did: args.whom } : { connectionId: args.whom },
      flags.timeout,
      hint,
    )
    print(pinged.id, [
      ['answered', pinged.answeredAt],
      ['after', `${pinged.milliseconds} ms`],
    ])
    return pinged
  },
})
