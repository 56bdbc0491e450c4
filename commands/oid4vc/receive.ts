import * as Args from '@oclif/core/args'
import { defineCommand } from '../../cli/define-command.ts'
import { receiveCredential, receiveFlags } from '../../cli/oid4vci-receive.ts'

export default defineCommand({
  summary: 'Receive a credential from an OpenID4VCI issuer (holder)',
  description:
    'Reads the offer and the issuer’s metadata, shows them, and asks for consent. An offer that needs a person’s consent at the issuer prints a URL for the browser, and waits until the browser comes back to this machine.',
  examples: [
    'agent oid4vc receive "openid-credential-offer://?credential_offer_uri=https%3A%2F%2F…"',
    'agent oid4vc receive "openid-credential-offer://?credential_offer=%7B…" --tx-code 493536 --yes',
    'agent oid4vc receive https://issuer.example/o/tN1diGk6S4qZ6SgG --explain',
    'agent oid4vc receive https://issuer.example/o/tN1diGk6S4qZ6SgG --copies 5',
    'wl-paste | agent oid4vc receive - --yes',
  ],
  args: {
    offer: Args.string({
      required: true,
      ignoreStdin: true,
      description: 'the offer: its URL, the URL of an offer by reference, its JSON, or - for standard input',
    }),
  },
  flags: receiveFlags,
  run: receiveCredential,
})
