import { defineCommand } from '../../cli/define-command.ts'
import { idOf } from '../../cli/input/arguments.ts'
import { getIssuer, issuerFields } from '../../cli/issuer.ts'

export default defineCommand({
  summary: 'Show an OpenID4VCI issuer, with the metadata that wallets read',
  examples: ['agent issuer show <id>'],
  args: idOf('issuer'),
  async run({ args, call, print, suggest }) {
    const issuer = await getIssuer(call, args.id)
    const metadata = await call('GET /oid4vci/issuers/{issuerId}/.well-known/openid-credential-issuer', {
      path: { issuerId: issuer.id },
    })
    const configurations = Object.keys(metadata.credential_configurations_supported)
    print(issuer.id, [
      ...issuerFields(issuer),
      ['identifier', metadata.credential_issuer],
      ['configurations', configurations.join(' ') || undefined],
    ])
    suggest(
      configurations.length === 0
        ? `agent issuer configuration add ${issuer.id} --id <name> --schema <guid>`
        : `agent issuer configuration list ${issuer.id}`,
    )
    return { ...issuer, metadata }
  },
})
