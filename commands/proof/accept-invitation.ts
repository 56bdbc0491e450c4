import { defineCommand } from '../../cli/define-command.ts'
import { presentationFields } from '../../cli/format/proofs.ts'
import { nextCommand } from '../../cli/format/states.ts'
import { invitationArg, readInvitation } from '../../cli/input/invitation.ts'
import { whichInvitation } from '../../cli/prompts/questions.ts'

export default defineCommand({
  summary: 'Receive the proof request in an invitation (prover)',
  examples: [
    'agent proof accept-invitation "http://127.0.0.1:8085/invitation?_oob=eyJ…"',
    'wl-paste | agent proof accept-invitation -',
  ],
  args: { invitation: invitationArg },
  questions: { invitation: whichInvitation },
  async run({ args, call, print, suggest }) {
    const record = await call('POST /present-proof/presentations/accept-invitation', {
      body: { invitation: readInvitation(args.invitation) },
    })
    print(record.presentationId, presentationFields(record))
    suggest(nextCommand('proof', record.status, record.presentationId))
    return record
  },
})
