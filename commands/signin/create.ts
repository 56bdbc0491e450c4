import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { createRequest, createRequestFlags } from '../../cli/enterprise.ts'
import { openId4VpOf } from '../../cli/oid4vp-request.ts'

export default defineCommand({
  summary: 'Create a challenge: a request to sign in with a DID',
  description:
    'Prints the challenge, above a QR code of a short link to it. A challenge expires soon and can be answered once. With --oid4vp, wallets of OpenID4VP can answer too, with a credential. With --wait, prints the DID that has signed in.',
  examples: [
    'agent signin create --from Acme --wait',
    'agent signin create --oid4vp --dcql query.json --did did:jwk:… --wait',
    'agent signin create --qr none | wl-copy',
  ],
  flags: {
    did: Flags.string({ description: 'DID that must sign in, known from onboarding; default: any' }),
    ...createRequestFlags,
  },
  async run(context) {
    const { flags, call } = context
    return createRequest(context, 'signin', () =>
      call('POST /did-authentication/challenges', {
        body: { from: flags.from, expectedDid: flags.did, openid4vp: openId4VpOf(flags) },
      }),
    )
  },
})
