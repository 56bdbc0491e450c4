import { defineCommand } from '../../cli/define-command.ts'
import { incomingArgument, readIncoming } from '../../cli/incoming.ts'
import { readTimeout } from '../../cli/input/time.ts'
import {
  canBeIssuer,
  receiveCredential,
  receiveFlags,
  receiveFromIssuer,
  requireConsent,
} from '../../cli/oid4vci-receive.ts'

export default defineCommand({
  summary: 'Receive a credential from an OpenID4VCI issuer (holder)',
  description:
    'Reads the offer and the issuer’s metadata, shows them, and asks for consent. With --configuration, the URL of an issuer stands for an offer. An offer that needs a person’s consent at the issuer prints a URL for the browser, and waits until the browser comes back to this machine.',
  examples: [
    'agent oid4vc receive "openid-credential-offer://?credential_offer_uri=http…"',
    'agent oid4vc receive "openid-credential-offer://?credential_offer=%7B…" --tx-code 493536 --yes',
    'agent oid4vc receive https://issuer.example/o/tN1diGk6S4qZ6SgG --explain',
    'agent oid4vc receive https://issuer.example/o/tN1diGk6S4qZ6SgG --copies 5',
    'agent oid4vc receive https://issuer.example/acme --configuration Member',
    'wl-paste | agent oid4vc receive - --yes',
  ],
  args: { offer: incomingArgument },
  flags: receiveFlags,
  async run(context) {
    readTimeout(context.flags)
    const { args, flags, call } = context
    if (flags.configuration && canBeIssuer(args.offer)) {
      requireConsent(context)
      return receiveFromIssuer(context, args.offer)
    }
    const incoming = await readIncoming(call, args.offer, 'openid4vci-offer')
    requireConsent(context)
    return receiveCredential(context, incoming)
  },
})
