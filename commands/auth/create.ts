/** `agent auth create` */
import { defineCommand } from '../../cli/define-command.ts'
import { createRequest, createRequestFlags } from '../../cli/enterprise.ts'

export default defineCommand({
  summary: 'Ask somebody to sign in with their DID',
  description:
    'Prints the challenge, under a QR code when there is a terminal that it fits into. It is answered once, and soon; with --wait, says by which DID.',
  examples: ['agent auth create --from Acme --wait', 'agent auth create --qr none | wl-copy'],
  flags: createRequestFlags,
  async run(context) {
    const { flags, call } = context
    return createRequest(context, 'auth', () =>
      call('POST /did-authentication/challenges', { body: { from: flags.from } }),
    )
  },
})
