import * as Flags from '@oclif/core/flags'
import { defineCommand } from '../../cli/define-command.ts'
import { displayOf, issuerDisplayFlags } from '../../cli/display.ts'
import { UsageError } from '../../cli/errors/errors.ts'
import { hasLogIn, logInFlags, readLogIn } from '../../cli/issuer-log-in.ts'
import {
  authorizationServerFlags,
  securityFlags,
  issuerFields,
  readAuthorizationServer,
  readWalletProviders,
  walletProviderFlags,
} from '../../cli/issuer.ts'

export default defineCommand({
  summary: 'Create an OpenID4VCI issuer',
  description:
    'With --authorization-server, the metadata names an external server too. With --log-in, people log in at an OpenID provider before they consent: register the redirect URI there that is printed. With --certificate, wallets get signed metadata if they ask for them.',
  examples: [
    'agent issuer create --name Acme --logo https://acme.example/logo.png',
    'agent issuer create --authorization-server https://login.example --client-id acme --client-secret-file secret.txt',
    'agent issuer create --log-in https://idp.example/realms/staff --client-id issuer --client-secret-file idp.secret --log-in-scope "openid profile"',
    'agent issuer create --wallet-providers authorities.pem --wallet-attestation required',
  ],
  flags: {
    id: Flags.string({ description: 'UUID of the issuer; default: a new one' }),
    ...issuerDisplayFlags,
    ...authorizationServerFlags,
    ...logInFlags,
    ...walletProviderFlags,
    ...securityFlags,
  },
  async run({ flags, call, print, say, suggest }) {
    const { url, ...client } = readAuthorizationServer(flags, say)
    const { clientId, clientSecret } = client
    const logIn = hasLogIn(flags) ? readLogIn(flags, client) : undefined
    if (logIn && (logIn.issuer === undefined || clientId === undefined))
      throw new UsageError('A log-in needs --log-in, --client-id, and --client-secret-file or --client-key.')
    const given = [url, clientId, clientSecret].filter((each) => each !== undefined)
    if (!logIn && given.length !== 0 && given.length !== 3)
      throw new UsageError(
        'An external authorization server needs --authorization-server, --client-id and --client-secret-file.',
      )
    const issuer = await call('POST /oid4vci/issuers', {
      body: {
        ...(flags.id !== undefined && { id: flags.id }),
        ...readWalletProviders(flags),
        issuerCertificateId: flags.certificate,
        display: displayOf(flags),
        encryptionRequired: flags['require-encryption'],
        bearerDeferral: flags['bearer-deferral'],
        ...(logIn && { logIn: { ...logIn, issuer: logIn.issuer!, clientId: clientId! } }),
        ...(url !== undefined && {
          authorizationServer: { url, clientId: clientId!, clientSecret: clientSecret! },
        }),
      },
    })
    print(issuer.id, issuerFields(issuer))
    suggest(`agent issuer configuration add ${issuer.id} --id <name> --schema <guid>`)
    return issuer
  },
})
