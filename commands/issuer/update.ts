import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { issuerLookFlags, readLook } from '../../cli/display.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import type { Input } from '../../cli/client/api.ts'
import { idOf } from '../../cli/input/arguments.ts'
import { readJson } from '../../cli/input/files.ts'
import { hasLogIn, logInFlags, readLogIn } from '../../cli/issuer-log-in.ts'
import {
  authorizationServerFlags,
  getIssuer,
  securityFlags,
  issuerFields,
  readAuthorizationServer,
  readWalletProviders,
  walletProviderFlags,
} from '../../cli/issuer.ts'

type Body = NonNullable<Input<'PATCH /oid4vci/issuers/{issuerId}'>['body']>

export default defineCommand({
  summary: 'Change the settings of an OpenID4VCI issuer',
  description: 'Omitted flags keep their values. --wallet-providers replaces all that the issuer trusts.',
  examples: [
    'agent issuer update <id> --name Acme',
    'agent issuer update <id> --display @issuer.json',
    'agent issuer update <id> --delivery-texts @texts.json',
    'agent issuer update <id> --client-secret-file secret.txt',
    'agent issuer update <id> --log-in https://idp.example/realms/staff --client-id issuer --client-secret-file idp.secret',
    'agent issuer update <id> --wallet-providers authorities.pem --wallet-attestation required',
  ],
  args: idOf('issuer'),
  flags: {
    ...issuerLookFlags,
    ...authorizationServerFlags,
    ...logInFlags,
    'no-log-in': Flags.boolean({
      exclusive: ['log-in', 'authorization-server', 'client-id', 'client-secret-file', 'client-key'],
      description: 'people need not log in any more',
    }),
    ...securityFlags,
    'delivery-texts': Flags.string({
      description:
        'texts of the messages that deliver offers, by language, as JSON: @texts.json; null for those of the agent',
    }),
    ...walletProviderFlags,
    'no-wallet-providers': Flags.boolean({
      exclusive: ['wallet-providers', 'wallet-attestation'],
      description: 'trust no wallet provider, and require no attestation',
    }),
  },
  async run({ args, flags, call, getFileClient, print, say }) {
    const { url, ...client } = readAuthorizationServer(flags, say)
    const hasClient = Object.values(client).some((each) => each !== undefined)
    const isLogIn =
      hasLogIn(flags) ||
      (hasClient && url === undefined && (await getIssuer(call, args.id)).logIn !== undefined)
    const settings = {
      issuerCertificateId: flags.certificate,
      ...(await readLook({ getFileClient }, args.id, flags)),
      encryptionRequired: flags['require-encryption'],
      bearerDeferral: flags['bearer-deferral'],
      deliveryTexts: readTexts(flags['delivery-texts']),
      ...(flags['no-wallet-providers']
        ? { walletProviders: {}, walletAttestation: 'optional' as const }
        : readWalletProviders(flags)),
    }
    const given = [url, isLogIn || hasClient || flags['no-log-in'] || undefined, ...Object.values(settings)]
    if (given.every((each) => each === undefined))
      throw new UsageError(
        'There is nothing to change: give --name, --display, --authorization-server, --log-in, --client-id, --client-secret-file, --certificate, --require-encryption, --bearer-deferral, --delivery-texts, --wallet-providers or --wallet-attestation.',
      )
    const issuer = await call('PATCH /oid4vci/issuers/{issuerId}', {
      path: { issuerId: args.id },
      body: {
        ...settings,
        ...(isLogIn ? { logIn: readLogIn(flags, client) } : { authorizationServer: { url, ...client } }),
        ...(flags['no-log-in'] && { logIn: null }),
      },
    })
    print(issuer.id, issuerFields(issuer))
    return issuer
  },
})

/** The agent checks the texts. */
function readTexts(given: string | undefined) {
  return given === undefined ? undefined : (readJson('delivery-texts', given) as Body['deliveryTexts'])
}
