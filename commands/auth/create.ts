/** `agent auth create` */
import { defineCommand } from '../../cli/define-command.ts'
import { createRequest, createRequestFlags } from '../../cli/enterprise.ts'

export default defineCommand({
  summary: 'Create a challenge: a request to sign in with a DID',
  description:
    'Prints the challenge, above a QR code of a short link to it. A challenge expires soon and can be answered once. With --wait, prints the DID that has signed in.',
  examples: ['agent auth create --from Acme --wait', 'agent auth create --qr none | wl-copy'],
  flags: createRequestFlags,
  async run(context) {
    const { flags, call } = context
    return createRequest(context, 'auth', () =>
      call('POST /did-authentication/challenges', { body: { from: flags.from } }),
    )
  },
})
