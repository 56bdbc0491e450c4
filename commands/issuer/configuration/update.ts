import * as Flags from '@oclif/core/flags'
import { labelled } from '../../../cli/client/names.ts'
import {
  attestationOf,
  configurationFields,
  configurationFlags,
  keyAttestation,
  settingsOf,
} from '../../../cli/credential-configuration.ts'
import { defineCommand } from '../../../cli/define-command.ts'
import { credentialLookFlags, readLook } from '../../../cli/display.ts'
import { UsageError } from '../../../cli/errors/errors.ts'
import { argument, idOf } from '../../../cli/input/arguments.ts'

export default defineCommand({
  summary: 'Change a credential that an OpenID4VCI issuer offers',
  description:
    'Omitted flags keep their values; --name replaces the whole look, --claims-source all settings of the source. A DID replaces a certificate, and a certificate a DID. Open offers keep their signer.',
  examples: [
    'agent issuer configuration update <issuer id> Person --name "Identity card" --background-color "#1a5fb4"',
    'agent issuer configuration update <issuer id> Person --display @card.json --new-version',
    'agent issuer configuration update <issuer id> Person --issuing-did did:web:…',
    'agent issuer configuration update <issuer id> Person --no-key-attestation',
    'agent issuer configuration update <issuer id> Member --begin log-in --renewal 90d',
    'agent issuer configuration update <issuer id> Pass --presentation @proof.json --begin presentation',
    'agent issuer configuration update <issuer id> Employee --claims-source https://hr.example/claims --on-failure fail',
  ],
  args: { ...idOf('issuer'), configuration: argument('configuration, by its whole id') },
  flags: {
    ...credentialLookFlags,
    ...configurationFlags,
    'new-version': Flags.boolean({
      description: 'make the next version of the type if credentials have the digest of its metadata',
    }),
    'key-attestation': Flags.boolean({ allowNo: true, description: keyAttestation }),
    'no-presentation': Flags.boolean({
      exclusive: ['presentation'],
      description: 'have people present nothing before',
    }),
    'no-claims-source': Flags.boolean({
      exclusive: ['claims-source'],
      description: 'ask no claims source: the claims are those of the offer',
    }),
  },
  async run(context) {
    const { args, flags, call, print } = context
    const body = {
      ...(await readLook(context, args.id, flags)),
      ...settingsOf(flags),
      newVersion: flags['new-version'],
      ...(flags['no-presentation'] && { presentation: null }),
      ...(flags['no-claims-source'] && { claimsSource: null }),
      keyAttestation: attestationOf(flags['key-attestation'], flags),
    }
    if (Object.values(body).every((each) => each === undefined))
      throw new UsageError(
        'There is nothing to change: give --name, --display, --issuing-did, --certificate, --always-disclosed, --begin, --presentation, --renewal, --claims-source or --key-attestation.',
      )
    const configuration = await call(
      'PATCH /oid4vci/issuers/{issuerId}/credential-configurations/{credentialConfigId}',
      { path: { issuerId: args.id, credentialConfigId: args.configuration }, body },
    )
    print(configuration.configurationId, await labelled(context, configurationFields(configuration)))
    return configuration
  },
})
