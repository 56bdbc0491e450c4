import { defineCommand } from '../../cli/define-command.ts'
import { idOf } from '../../cli/input/arguments.ts'
import { refreshCredential, refreshFlags } from '../../cli/oid4vci-refresh.ts'
import { whichRecord } from '../../cli/prompts/questions.ts'

export default defineCommand({
  summary: 'Renew a credential of an OpenID4VCI issuer (holder)',
  description:
    'Renews it with the refresh token of the issuer, as the wallet does by itself before the credential ends (OID4VC_REFRESH). Without a token, the issuer asks for your consent in the browser once more; the new credential then has a record of its own, and the older one is removed.',
  examples: [
    'agent oid4vc refresh <id>',
    'agent oid4vc refresh <id> --copies 5',
    'agent oid4vc refresh <id> --open --timeout 10m',
  ],
  args: idOf('credential record'),
  flags: refreshFlags,
  questions: { id: whichRecord('credential') },
  run: refreshCredential,
})
