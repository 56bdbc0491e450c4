/** Parts of the commands about OpenID4VCI issuers. */
import * as Flags from '@oclif/core/flags'
import type { Client } from '../daemon/client/client.ts'
import type { Answer } from './client/api.ts'
import type { FlagValues } from './define-command.ts'
import { chooseByLocale } from '../src/foundation/locale.ts'
import { isJsonObject, tryParseJson } from '../src/foundation/json.ts'
import { CommandError, UsageError } from './errors/errors.ts'
import type { Pair } from './output.ts'
import { repeatable } from './input/arguments.ts'
import { localesOf, nameOf } from './format/locale.ts'
import { readText } from './input/files.ts'
import { readSecretFile } from './input/secrets.ts'

type Issuer = Answer<'POST /oid4vci/issuers'>

export const authorizationServerFlags = {
  'authorization-server': Flags.string({
    description: 'issuer identifier, a URL, of an external authorization server',
  }),
  'client-id': Flags.string({ description: 'client id of the issuer at the server or the OpenID provider' }),
  'client-secret-file': Flags.string({
    description: 'file of the client secret there, - for standard input',
  }),
}

/** The certificate of an issuer, encryption, and the life of tokens. */
export const securityFlags = {
  certificate: Flags.string({
    description: 'issuer certificate that signs the metadata: its id, or the end of the id',
  }),
  'require-encryption': Flags.boolean({
    allowNo: true,
    description: 'whether wallets must encrypt requests and get encrypted responses',
  }),
  'bearer-deferral': Flags.boolean({
    allowNo: true,
    description:
      'whether wallets without DPoP can fetch a deferred credential for 30 days, not five minutes; default: yes',
  }),
}

type ServerFlags = FlagValues<typeof authorizationServerFlags>

/**
 * Reads the members of the external authorization server that are given.
 *
 * @throws {UsageError} when the file cannot be read
 */
export function readAuthorizationServer(
  { 'authorization-server': url, 'client-id': clientId, 'client-secret-file': file }: ServerFlags,
  warn: (text: string) => void,
) {
  const clientSecret = file === undefined ? undefined : readSecretFile('client-secret-file', file, warn)
  return { url, clientId, clientSecret }
}

/** The first line of a certificate in PEM (RFC 7468). */
const beginning = '-----BEGIN CERTIFICATE-----'

export const walletProviderFlags = {
  'wallet-providers': Flags.string({
    ...repeatable,
    description:
      'file of trusted wallet providers: certificates of authorities in PEM, or a JWK Set; - for standard input',
  }),
  'wallet-attestation': Flags.option({
    options: ['optional', 'required'] as const,
    description: 'whether wallets must have an attestation of a trusted provider; default: optional',
  })(),
}

/**
 * Reads the settings of wallet providers that are given.
 *
 * @throws {UsageError} when a file cannot be read, or has another form
 */
export function readWalletProviders({
  'wallet-providers': files,
  'wallet-attestation': walletAttestation,
}: FlagValues<typeof walletProviderFlags>) {
  const texts = files?.map((file) => readText('wallet-providers', `@${file}`))
  const isPem = (text: string) => text.includes(beginning)
  const certificates = texts?.filter(isPem).join('\n')
  const keys = texts?.filter((text) => !isPem(text)).flatMap(readKeySet) ?? []
  return {
    ...(texts && {
      walletProviders: {
        ...(certificates && { certificates }),
        ...(keys.length > 0 && { jwks: { keys } }),
      },
    }),
    ...(walletAttestation !== undefined && { walletAttestation }),
  }
}

type Keys = NonNullable<NonNullable<Issuer['walletProviders']>['jwks']>['keys']

/** The agent checks each key. */
function readKeySet(text: string): Keys {
  const value = tryParseJson(text)
  const keys = isJsonObject(value) ? value['keys'] : undefined
  if (!Array.isArray(keys))
    throw new UsageError(
      '--wallet-providers: a file has neither certificates in PEM nor a JWK Set, {"keys": […]}.',
    )
  return keys as Keys
}

export const issuerFields = (issuer: Issuer): Pair[] => [
  ['issuer', issuer.id],
  ['name', nameOf(issuer.display)],
  ['logo', chooseByLocale(issuer.display ?? [], localesOf())?.logo?.uri],
  ['authorization server', shownServer(issuer)],
  ['log-in', issuer.logIn?.issuer],
  ['client', issuer.logIn?.clientId],
  ['redirect URI', issuer.logIn?.redirectUri],
  ['wallet providers', shownProviders(issuer)],
  ['wallet attestation', issuer.walletAttestation],
  ['certificate', issuer.issuerCertificateId],
  ['delivery texts', Object.keys(issuer.deliveryTexts ?? {}).join(', ') || undefined],
  ['encryption', issuer.encryptionRequired && 'required'],
  ['bearer deferral', issuer.bearerDeferral === false ? 'off' : undefined],
]

function shownProviders({ walletProviders }: Issuer): string | undefined {
  if (!walletProviders) return undefined
  const { certificates = '', jwks } = walletProviders
  const count = certificates.split(beginning).length - 1
  return `certificates: ${count}, keys: ${jwks?.keys.length ?? 0}`
}

/** The external authorization server, or that this agent is the server. */
export function shownServer({ id, authorizationServerUrl: url }: Issuer): string {
  return url.endsWith(`/oid4vci/issuers/${id}`) ? 'this agent' : url
}

/** An issuer of the wallet. The API lists issuers, and reads none alone. @throws {CommandError} 3 */
export async function getIssuer(call: Client, id: string): Promise<Issuer> {
  const limit = 1_000
  for (let offset = 0; ; offset += limit) {
    const { contents, next } = await call('GET /oid4vci/issuers', { query: { limit, offset } })
    const issuer = contents.find((each) => each.id === id.toLowerCase())
    if (issuer) return issuer
    if (next === undefined)
      throw new CommandError(`There is no issuer ${id} in this wallet.`, 3, 'agent issuer list')
  }
}
