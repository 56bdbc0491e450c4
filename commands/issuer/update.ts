/** `agent issuer update` */
import { defineCommand } from '../../cli/define-command.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { idOf } from '../../cli/input/arguments.ts'
import {
  authorizationServerFlags,
  securityFlags,
  issuerFields,
  readAuthorizationServer,
} from '../../cli/issuer.ts'

export default defineCommand({
  summary: 'Change the authorization server, the certificate or the encryption of an OpenID4VCI issuer',
  description: 'Omitted flags keep their values.',
  examples: ['agent issuer update <id> --client-secret-file secret.txt'],
  args: idOf('issuer'),
  flags: { ...authorizationServerFlags, ...securityFlags },
  async run({ args, flags, call, print, say }) {
    const authorizationServer = readAuthorizationServer(flags, say)
    const changes = [...Object.values(authorizationServer), flags.certificate, flags['require-encryption']]
    if (changes.every((each) => each === undefined))
      throw new UsageError(
        'There is nothing to change: give --authorization-server, --client-id, --client-secret-file, --certificate or --require-encryption.',
      )
    const issuer = await call('PATCH /oid4vci/issuers/{issuerId}', {
      path: { issuerId: args.id },
      body: {
        authorizationServer,
        issuerCertificateId: flags.certificate,
        encryptionRequired: flags['require-encryption'],
      },
    })
    print(issuer.id, issuerFields(issuer))
    return issuer
  },
})
