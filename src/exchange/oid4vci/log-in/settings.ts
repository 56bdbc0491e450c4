/**
 * The OpenID provider where people log in before an issuer asks for their consent: a setting of the issuer,
 * with the client that its built-in authorization server is there.
 */
import * as z from 'zod'
import { isLocalHost } from '../../../foundation/net/public-url.ts'
import { Problem } from '../../../foundation/problem.ts'
import type { AgentTables } from '../../../foundation/storage/agent-tables.ts'
import { getCertificateSigner } from '../../../wallet/issuer-certificates/signatures.ts'
import { optional, Uuid } from '../../../wallet/model.ts'
import type { Wallet } from '../../../wallet/wallet.ts'

const Text = z.string().min(1).max(1_000)

/** Discovery 1.0 §3: https, without a query and a fragment. http is for a provider of a test on this machine. */
const ProviderUrl = z
  .url({ protocol: /^https?$/ })
  .max(2_000)
  .refine((url) => !/[?#]/.test(url), 'has a query or a fragment, and is thus not an issuer')
  .refine(
    (url) => !url.startsWith('http:') || isLocalHost(new URL(url).hostname),
    'is http: an OpenID provider needs https, unless it is on this machine',
  )

/** A word of `scope` or `acr_values` (RFC 6749 §3.3). */
const Word = z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/, 'is not a word of visible ASCII')

const ClaimsFrom = z.enum(['id_token', 'userinfo'])

const members = {
  clientSecret: optional(Text).describe('Stored encrypted, and never returned.'),
  keyId: optional(Uuid).describe(
    'The issuer certificate whose key signs in place of a secret (`private_key_jwt`). Register its certificate or key at the provider.',
  ),
  scope: optional(
    z
      .string()
      .max(1_000)
      .refine(
        (text) => text.split(' ').every((word) => Word.safeParse(word).success),
        'is not words with single spaces between them',
      )
      .refine((text) => text.split(' ').includes('openid'), 'does not have openid'),
  ).describe('Words with spaces between them. Default: `openid`.'),
  claimsFrom: optional(ClaimsFrom).describe(
    'Whether the claims of the person are those of the ID token, or of UserInfo. Default: `id_token`.',
  ),
}

const AcrValues = z.array(Word).min(1).max(10).describe('The accepted `acr` of the ID token. Default: any.')
const MaxAge = z
  .int()
  .min(0)
  .max(31_536_000)
  .describe('The seconds after which the person has to log in again (`max_age`). Default: as the provider.')

export const LogIn = z
  .object({
    issuer: ProviderUrl.describe('The issuer identifier of the OpenID provider, as in its metadata.'),
    clientId: Text,
    ...members,
    acrValues: optional(AcrValues),
    maxAge: optional(MaxAge),
  })
  .meta({
    id: 'LogIn',
    examples: [
      {
        issuer: 'https://idp.example/realms/staff',
        clientId: 'issuer',
        clientSecret: 'a-client-secret',
        scope: 'openid profile',
      },
    ],
  })

export const PatchLogIn = z
  .object({
    issuer: optional(ProviderUrl),
    clientId: optional(Text),
    ...members,
    acrValues: AcrValues.nullish(),
    maxAge: MaxAge.nullish(),
  })
  .meta({ id: 'PatchLogIn' })
type PatchLogIn = z.output<typeof PatchLogIn>

/** What a reply shows. */
export const ShownLogIn = z
  .object({
    issuer: z.string(),
    clientId: z.string(),
    keyId: z.guid().optional(),
    scope: z.string(),
    acrValues: z.array(z.string()).optional(),
    maxAge: z.int().optional(),
    claimsFrom: ClaimsFrom,
    redirectUri: z.string().describe('The redirect URI to register at the provider.'),
  })
  .meta({ id: 'ShownLogIn' })

const Stored = ShownLogIn.omit({ redirectUri: true }).extend({
  /** The secret of the client, sealed with the key of the wallet. */
  secret: z.string().optional(),
})
/** The provider of an issuer, and its client there: with a secret or a key. */
export type LogInSettings = z.infer<typeof Stored>

type Row = Pick<AgentTables['credential_issuer'], 'id' | 'log_in' | 'authorization_server'>

/** Undefined for an issuer whose offers suffice. */
export function logInOf({ log_in: stored }: Pick<Row, 'log_in'>): LogInSettings | undefined {
  return stored === null ? undefined : Stored.parse(JSON.parse(stored))
}

/** The setting in replies, without the secret. `identifier` is that of the issuer. */
export function toLogIn(
  row: Pick<Row, 'log_in'>,
  identifier: string,
): z.infer<typeof ShownLogIn> | undefined {
  const settings = logInOf(row)
  if (!settings) return undefined
  const { secret: _hidden, ...shown } = settings
  return { ...shown, redirectUri: redirectUriOf(identifier) }
}

/** Where the provider sends the browser back to. */
export const redirectUriOf = (identifier: string) => `${identifier}/log-in`

const contextOf = (issuerId: string) => `credential-issuer-log-in:${issuerId}`

export function secretOf(wallet: Wallet, issuerId: string, secret: string): string {
  return wallet.unseal(contextOf(issuerId), secret)
}

/**
 * The column of an issuer with a changed setting; undefined keeps it, and null removes it.
 *
 * @throws {Problem} 400
 */
export async function changeLogIn(
  wallet: Wallet,
  row: Row,
  given: PatchLogIn | null | undefined,
): Promise<string | null> {
  const next =
    given === undefined ? logInOf(row) : given === null ? undefined : await merge(wallet, row, given)
  if (next && row.authorization_server !== null)
    throw invalid(
      'logIn: the issuer has an external authorization server (authorizationServer), where people log in already. Make another issuer.',
    )
  return next ? JSON.stringify(next) : null
}

async function merge(wallet: Wallet, row: Row, given: PatchLogIn): Promise<LogInSettings> {
  const { clientSecret, keyId, issuer, clientId, scope, claimsFrom, acrValues, maxAge } = given
  const before = logInOf(row)
  if (clientSecret !== undefined && keyId !== undefined)
    throw invalid('logIn: clientSecret and keyId are both given. The client has one of the two.')
  if (keyId !== undefined) await requireKey(wallet, keyId)
  const isNew = clientSecret !== undefined || keyId !== undefined
  const isOther = issuer !== undefined && issuer !== before?.issuer
  if (!isNew && (!before || isOther))
    throw invalid('logIn: give the clientSecret or the keyId that the client has at the provider.')
  const next = { issuer: issuer ?? before?.issuer, clientId: clientId ?? before?.clientId }
  for (const [name, value] of Object.entries(next))
    if (value === undefined) throw invalid(`logIn.${name}: the issuer has no log-in yet. Give it.`)
  const secret = clientSecret === undefined ? before?.secret : wallet.seal(contextOf(row.id), clientSecret)
  return Stored.parse({
    ...next,
    ...(keyId !== undefined ? { keyId } : isNew ? { secret } : { keyId: before?.keyId, secret }),
    scope: scope ?? before?.scope ?? 'openid',
    claimsFrom: claimsFrom ?? before?.claimsFrom ?? 'id_token',
    acrValues: acrValues === undefined ? before?.acrValues : (acrValues ?? undefined),
    maxAge: maxAge === undefined ? before?.maxAge : (maxAge ?? undefined),
  })
}

/** @throws {Problem} 400 for a key that cannot sign */
async function requireKey(wallet: Wallet, keyId: string): Promise<void> {
  await getCertificateSigner(wallet, keyId).catch((cause: unknown) => {
    if (!(cause instanceof Problem)) throw cause
    throw new Problem('BadRequest', `logIn.keyId: ${cause.message}`, { cause })
  })
}

function invalid(reason: string): Problem {
  return new Problem('BadRequest', reason)
}
