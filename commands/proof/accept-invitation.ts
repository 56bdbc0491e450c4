import { receiveRequest } from '../../cli/accept-didcomm.ts'
import { defineCommand } from '../../cli/define-command.ts'
import { presentationFields } from '../../cli/format/proofs.ts'
import { nextCommand } from '../../cli/format/states.ts'
import { incomingArgument, readIncoming, whichIncoming } from '../../cli/incoming.ts'

export default defineCommand({
  summary: 'Receive the proof request in an invitation (prover)',
  examples: [
    'agent proof accept-invitation "http://127.0.0.1:8085/invitation?_oob=eyJ…"',
    'wl-paste | agent proof accept-invitation -',
  ],
  args: { invitation: incomingArgument },
  questions: { invitation: whichIncoming },
  async run(context) {
    const { args, call, print, suggest } = context
    const record = await receiveRequest(context, await readIncoming(call, args.invitation, 'request'))
    print(record.presentationId, presentationFields(record))
    suggest(nextCommand('proof', record.status, record.presentationId))
    return record
  },
})
