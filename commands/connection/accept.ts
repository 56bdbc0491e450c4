import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { acceptedOffers } from '../../cli/format/records.ts'
import { shownState } from '../../cli/format/states.ts'
import { acceptanceFlags, acceptOffersFlag, readAcceptance } from '../../cli/input/credential.ts'
import { invitationArg, readInvitation } from '../../cli/input/invitation.ts'
import { whichInvitation } from '../../cli/prompts/questions.ts'
import { changeRecord, waitFlags } from '../../cli/wait.ts'

export default defineCommand({
  summary: 'Accept an invitation of another agent',
  examples: [
    'agent connection accept "http://127.0.0.1:8085/invitation?_oob=eyJ…"',
    'agent connection accept "http://127.0.0.1:8085/invitation?_oob=eyJ…" --label Acme --wait --timeout 30s',
    'agent connection accept "http://127.0.0.1:8085/invitation?_oob=eyJ…" --accept-offers --subject did:prism:…',
    'wl-paste | agent connection accept -',
  ],
  args: { invitation: invitationArg },
  flags: {
    label: Flags.string({ description: 'local name of the connection; it is not sent' }),
    'accept-offers': acceptOffersFlag,
    ...acceptanceFlags,
    ...waitFlags('the agents are connected'),
  },
  questions: { invitation: whichInvitation },
  async run(context) {
    const { args, flags, call, print } = context
    const automaticAcceptance = readAcceptance(flags)
    const body = { invitation: readInvitation(args.invitation), label: flags.label, automaticAcceptance }
    return changeRecord(context, 'connection', {
      until: 'ConnectionResponseReceived',
      change: () => call('POST /connection-invitations', { body }),
      print: ({ connectionId, label, goal, state, automaticAcceptance: accepted }) =>
        print(connectionId, [
          ['connection', connectionId],
          ['label', label],
          ['goal', goal],
          ['state', shownState('connection', state)],
          ['offers', accepted && acceptedOffers(accepted)],
        ]),
      next: ({ connectionId }) => `agent connection show ${connectionId}`,
    })
  },
})
