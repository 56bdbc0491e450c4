import * as Flags from '@oclif/core/flags'
import { acceptConnection } from '../../cli/accept-didcomm.ts'
import { defineCommand } from '../../cli/define-command.ts'
import { acceptanceFlags, acceptOffersFlag, readAcceptance } from '../../cli/input/credential.ts'
import { incomingArgument, readIncoming, whichIncoming } from '../../cli/incoming.ts'
import { waitFlags } from '../../cli/wait.ts'

export default defineCommand({
  summary: 'Accept an invitation of another agent',
  examples: [
    'agent connection accept "http://127.0.0.1:8085/invitation?_oob=eyJ…"',
    'agent connection accept "http://127.0.0.1:8085/invitation?_oob=eyJ…" --label Acme --wait --timeout 30s',
    'agent connection accept "http://127.0.0.1:8085/invitation?_oob=eyJ…" --accept-offers --subject did:prism:…',
    'wl-paste | agent connection accept -',
  ],
  args: { invitation: incomingArgument },
  flags: {
    label: Flags.string({ description: 'local name of the connection; it is not sent' }),
    'accept-offers': acceptOffersFlag,
    ...acceptanceFlags,
    ...waitFlags('the agents are connected'),
  },
  questions: { invitation: whichIncoming },
  async run(context) {
    const { args, flags, call } = context
    const automaticAcceptance = readAcceptance(flags)
    const incoming = await readIncoming(call, args.invitation, 'connection')
    return acceptConnection(context, incoming, { label: flags.label, automaticAcceptance })
  },
})
