import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { yesFlag } from '../../cli/input/arguments.ts'
import { receiveCredential } from '../../cli/oid4vci-receive.ts'

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
  flags: {
    'tx-code': Flags.string({ description: 'transaction code, which the issuer gave on another channel' }),
    configuration: Flags.string({
      description: 'which credential to receive, if the offer is for several: the id of its configuration',
    }),
    grant: Flags.string({
      options: ['pre-authorized_code', 'authorization_code'],
      description: 'how to get access; default: the pre-authorized code if the offer has one',
    }),
    'client-id': Flags.string({ description: 'client id of the wallet at the authorization server' }),
    copies: Flags.integer({
      min: 1,
      description: 'number of copies, each bound to a key of its own, so that presentations cannot be linked',
    }),
    certificate: Flags.string({
      description: 'issuer certificate that signs the attestations which the issuer requires: its id',
    }),
    open: Flags.boolean({ description: 'open the URL for the consent in the default browser' }),
    yes: yesFlag,
    explain: Flags.boolean({ description: 'show each request: method, URL and outcome, without secrets' }),
    timeout: Flags.string({
      description: 'how long to wait for the consent and for the credential: 30s, 10m, 2h; default: 5m',
    }),
  },
  run: receiveCredential,
})
