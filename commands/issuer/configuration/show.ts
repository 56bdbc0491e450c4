import { labelled } from '../../../cli/client/names.ts'
import { configurationFields } from '../../../cli/credential-configuration.ts'
import { defineCommand } from '../../../cli/define-command.ts'
import { argument, idOf } from '../../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Show a credential that an OpenID4VCI issuer offers',
  examples: ['agent issuer configuration show <issuer id> Person'],
  args: { ...idOf('issuer'), configuration: argument('configuration, by its whole id') },
  async run(context) {
    const { args, call, print } = context
    const configuration = await call(
      'GET /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}',
      { path: { issuerId: args.id, credentialConfigId: args.configuration } },
    )
    print(configuration.configurationId, await labelled(context, configurationFields(configuration)))
    return configuration
  },
})
