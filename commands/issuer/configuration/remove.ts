import { defineCommand } from '../../../cli/define-command.ts'
import { argument, idOf, yesFlag } from '../../../cli/input/arguments.ts'
import { confirm } from '../../../cli/prompts/ask.ts'

export default defineCommand({
  summary: 'Remove a credential from those that an OpenID4VCI issuer offers',
  description:
    'Issued credentials stay valid. Wallets get no credentials for open offers. Asks for confirmation; in scripts use --yes.',
  examples: [
    'agent issuer configuration remove <issuer id> Person',
    'agent issuer configuration remove <issuer id> Person --yes',
  ],
  args: { ...idOf('issuer'), configuration: argument('configuration, by its whole id') },
  flags: { yes: yesFlag },
  async run({ args: { id: issuerId, configuration }, flags, call, print }) {
    if (!flags.yes) await confirm(`Remove the configuration ${configuration} of the issuer ${issuerId}?`)
    await call('DELETE /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}', {
      path: { issuerId, credentialConfigId: configuration },
    })
    print(configuration, [['removed', configuration]])
    return { id: configuration, removed: true }
  },
})
