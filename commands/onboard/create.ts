import { defineCommand } from '../../cli/define-command.ts'
import { createRequest, createRequestFlags } from '../../cli/enterprise.ts'
import { openId4VpOf } from '../../cli/oid4vp-request.ts'

export default defineCommand({
  summary: 'Create a DID request: a request for a DID of another wallet',
  description:
    'Prints the DID request, above a QR code of a short link to it. It can be answered once, by anyone who has it. With --oid4vp, wallets of OpenID4VP can answer too, with a credential. With --wait, prints the DID of the answer.',
  examples: [
    'agent onboard create --from Acme --wait',
    'agent onboard create --oid4vp --wait',
    'agent onboard create --qr none | wl-copy',
  ],
  flags: createRequestFlags,
  async run(context) {
    const { flags, call } = context
    return createRequest(context, 'onboard', () =>
      call('POST /onboard/did-requests', { body: { from: flags.from, openid4vp: openId4VpOf(flags) } }),
    )
  },
})
