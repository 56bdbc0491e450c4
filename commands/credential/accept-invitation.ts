import { receiveOffer } from '../../cli/accept-didcomm.ts'
import { defineCommand } from '../../cli/define-command.ts'
import { credentialFields } from '../../cli/format/records.ts'
import { nextCommand } from '../../cli/format/states.ts'
import { incomingArgument, readIncoming, whichIncoming } from '../../cli/incoming.ts'

export default defineCommand({
  summary: 'Receive the offer in an invitation (holder)',
  examples: [
    'agent credential accept-invitation "http://127.0.0.1:8085/i?_oobid=…"',
    'wl-paste | agent credential accept-invitation -',
  ],
  args: { invitation: incomingArgument },
  questions: { invitation: whichIncoming },
  async run(context) {
    const { args, call, print, suggest } = context
    const record = await receiveOffer(context, await readIncoming(call, args.invitation, 'offer'))
    print(record.recordId, credentialFields(record))
    suggest(nextCommand('credential', record.protocolState, record.recordId))
    return record
  },
})
