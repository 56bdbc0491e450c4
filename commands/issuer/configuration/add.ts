/** `agent issuer configuration add` */
import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../../cli/define-command.ts'
import { idOf } from '../../../cli/input/arguments.ts'
import { schemaUrl } from '../../../cli/input/registry.ts'
import { configurationFields } from '../../../cli/issuer.ts'

export default defineCommand({
  summary: 'Add a credential to those that an OpenID4VCI issuer offers',
  description: 'Wallets get JWT credentials (jwt_vc_json). The metadata names the properties of the schema.',
  examples: ['agent issuer configuration add <issuer id> --id Person --schema <guid>'],
  args: idOf('issuer'),
  flags: {
    id: Flags.string({ required: true, description: 'id of the configuration, which wallets see' }),
    schema: Flags.string({
      required: true,
      description: 'JSON schema of the claims: its guid on this agent, or a URL',
    }),
  },
  async run({ args, flags, call, getAccess, print, suggest }) {
    const configuration = await call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
      path: { issuerId: args.id },
      body: {
        configurationId: flags.id,
        format: 'jwt_vc_json',
        schemaId: schemaUrl(flags.schema, getAccess().url),
      },
    })
    print(configuration.configurationId, configurationFields(configuration))
    suggest(
      `agent credential offer --oid4vci ${args.id} --configuration ${configuration.configurationId} --issuing-did <did> --claim name=value`,
    )
    return configuration
  },
})
