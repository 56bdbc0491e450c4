import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { shownState } from '../../cli/format/states.ts'
import { acceptanceFlags, acceptOffersFlag, readAcceptance } from '../../cli/input/credential.ts'
import { expiresInFlag, noteUnits, readExpiresIn } from '../../cli/input/time.ts'
import { drawInvitation, invitationFlags, printInvitation } from '../../cli/invitation.ts'
import { chooseQr } from '../../cli/qr/flags.ts'
import { changeRecord, waitFlags } from '../../cli/wait.ts'

export default defineCommand({
  summary: 'Create an invitation for another agent',
  description:
    'Prints the invitation’s short URL, above a QR code if the terminal is large enough. With --wait, prints the connection once the invitation was accepted.',
  examples: [
    'agent connection invite --label Bob',
    'agent connection invite --qr none | wl-copy',
    'agent connection invite --expires-in 14d',
    'agent connection invite --wait --timeout 2m',
  ],
  flags: {
    label: Flags.string({ description: 'local name of the connection; it is not sent' }),
    ...invitationFlags(),
    'expires-in': expiresInFlag(),
    'accept-offers': acceptOffersFlag,
    ...acceptanceFlags,
    ...waitFlags('the invitation was accepted and the agents are connected'),
  },
  async run(context) {
    const { flags, call, isQuiet, print } = context
    const { label, goal } = flags
    const body = {
      label,
      goal,
      goalCode: flags['goal-code'],
      expiresIn: readExpiresIn(flags['expires-in']),
      automaticAcceptance: readAcceptance(flags),
    }
    noteUnits(context, { 'expires-in': flags['expires-in'] })
    const qr = chooseQr(flags)
    return changeRecord(context, 'connection', {
      until: 'ConnectionResponseSent',
      change: async () => {
        const invited = await call('POST /connections', { body })
        printInvitation(context, invited.connectionId, invited, qr)
        return invited
      },
      drawCode: (invited) => drawInvitation(context, invited.connectionId, invited, qr),
      print: ({ connectionId, state }) => {
        if (flags.wait === undefined || isQuiet) return
        print(connectionId, [
          ['connection', connectionId],
          ['state', shownState('connection', state)],
        ])
      },
      next: ({ connectionId }) => `agent connection show ${connectionId}`,
    })
  },
})
