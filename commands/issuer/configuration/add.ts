import * as Flags from '@oclif/core/flags'
import {
  attestationOf,
  configurationFields,
  configurationFlags,
  keyAttestation,
  settingsOf,
} from '../../../cli/credential-configuration.ts'
import { defineCommand } from '../../../cli/define-command.ts'
import { credentialLookFlags, readLook } from '../../../cli/display.ts'
import { idOf } from '../../../cli/input/arguments.ts'
import { formatFlag, toOpenIdFormat } from '../../../cli/input/credential.ts'
import { schemaUrl } from '../../../cli/input/registry.ts'

export default defineCommand({
  summary: 'Add a credential to those that an OpenID4VCI issuer offers',
  description:
    'Wallets get JWT credentials (jwt_vc_json), SD-JWT VCs (dc+sd-jwt) bound to a key, or mdocs (mso_mdoc). The metadata names the properties of the schema.',
  examples: [
    'agent issuer configuration add <issuer id> --id Person --schema <guid>',
    'agent issuer configuration add <issuer id> --id Licence --schema <guid> --format sdjwt --always-disclosed number',
    'agent issuer configuration add <issuer id> --id Person --schema <guid> --name "Identity card" --issuing-did did:web:…',
    'agent issuer configuration add <issuer id> --id Licence --schema <guid> --format sdjwt --certificate <certificate id>',
    'agent issuer configuration add <issuer id> --id mDL --schema <guid> --format mdoc --doctype org.iso.18013.5.1.mDL --certificate <certificate id>',
    'agent issuer configuration add <issuer id> --id Employee --schema <guid> --claims-source https://hr.example/claims',
  ],
  args: idOf('issuer'),
  flags: {
    id: Flags.string({ required: true, description: 'id of the configuration, which wallets see' }),
    schema: Flags.string({
      required: true,
      description: 'JSON schema of the claims: its guid on this agent, or a URL',
    }),
    format: formatFlag('sdjwt and mdoc let the holder choose claims to disclose, anoncreds is not possible'),
    vct: Flags.string({
      description: 'type of an SD-JWT VC; default: the URL of type metadata that the agent serves',
    }),
    doctype: Flags.string({ description: 'type of an mdoc, such as org.iso.18013.5.1.mDL' }),
    namespace: Flags.string({
      dependsOn: ['doctype'],
      description: 'namespace of all claims of an mdoc, if the schema does not group them by namespace',
    }),
    ...credentialLookFlags,
    ...configurationFlags,
    'key-attestation': Flags.boolean({ description: keyAttestation }),
  },
  async run({ args, flags, call, getAccess, getFileClient, print, suggest }) {
    const configuration = await call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
      path: { issuerId: args.id },
      body: {
        configurationId: flags.id,
        format: toOpenIdFormat(flags.format),
        schemaId: schemaUrl(flags.schema, getAccess().url),
        vct: flags.vct,
        doctype: flags.doctype,
        namespaces: flags.namespace,
        ...(await readLook({ getFileClient }, args.id, flags)),
        ...settingsOf(flags),
        keyAttestation: attestationOf(flags['key-attestation'], flags),
      },
    })
    print(configuration.configurationId, configurationFields(configuration))
    suggest(
      `agent credential offer --oid4vci ${args.id} --configuration ${configuration.configurationId} ${(flags.certificate ?? flags['issuing-did']) === undefined ? '--issuing-did <did> ' : ''}--claim name=value`,
    )
    return configuration
  },
})
