import { defineCommand } from '../../cli/define-command.ts'
import { credentialFields } from '../../cli/format/records.ts'
import { nextCommand } from '../../cli/format/states.ts'
import { invitationArg, readInvitation } from '../../cli/input/invitation.ts'
import { whichInvitation } from '../../cli/prompts/questions.ts'

export default defineCommand({
  summary: 'Receive the offer in an invitation (holder)',
  examples: [
    'agent credential accept-invitation "http://127.0.0.1:8085/invitation?_oob=eyJ…"',
    'wl-paste | agent credential accept-invitation -',
  ],
  args: { invitation: invitationArg },
  questions: { invitation: whichInvitation },
  async run({ args, call, print, suggest }) {
    const record = await call('POST /issue-credentials/credential-offers/accept-invitation', {
      body: { invitation: readInvitation(args.invitation) },
    })
    print(record.recordId, credentialFields(record))
    suggest(nextCommand('credential', record.protocolState, record.recordId))
    return record
  },
})
