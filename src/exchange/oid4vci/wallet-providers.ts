/**
 * The wallet providers that an issuer trusts, by their keys or by the authorities of their certificates: the
 * trust anchors of wallet attestations (VCI Appendix E) and of key attestations (VCI Appendix D).
 */
import * as z from 'zod'
import { Problem } from '../../foundation/problem.ts'
import { isSignedBy, type Jws } from '../../credentials/codecs/jws.ts'
import { type Clock, PublicKey, TokenKey } from '../../credentials/codecs/proof-jwt.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import { algorithmOf, type SigningAlgorithm, toPublic } from '../../foundation/crypto/keys.ts'
import { loadX509 } from '../../wallet/issuer-certificates/certificates.ts'
import { verifyWithCertificate } from '../../wallet/issuer-certificates/signatures.ts'
import type { AgentTables } from '../../foundation/storage/agent-tables.ts'

const maxKeys = 20

const ProviderKey = PublicKey.meta({ id: 'WalletProviderKey' })

export const WalletProviders = z
  .object({
    certificates: z
      .string()
      .max(200_000)
      .optional()
      .describe(
        'Certificates of trusted authorities, in PEM. An attestation has its chain in the header member `x5c`, without the authority.',
      ),
    jwks: z
      .object({ keys: z.array(ProviderKey).max(maxKeys) })
      .optional()
      .describe('A JWK Set of public keys that sign attestations (RFC 7517 §5).'),
  })
  .meta({ id: 'WalletProviders' })

export const WalletAttestation = z.enum(['optional', 'required'])

/** The settings in requests. Members that are absent keep their values. */
type Settings = {
  walletProviders?: z.output<typeof WalletProviders> | undefined
  walletAttestation?: z.output<typeof WalletAttestation> | undefined
}

const Stored = z.object({
  certificates: z.string().exactOptional(),
  keys: z.array(TokenKey),
  attestation: WalletAttestation,
})

/** Trusted wallet providers, at least one, and whether wallets must be attested by them. */
export type TrustedProviders = z.infer<typeof Stored>

type Row = Pick<AgentTables['credential_issuer'], 'wallet_providers'>

/** Undefined if the issuer trusts no wallet provider. */
export function providersOf({ wallet_providers: stored }: Row): TrustedProviders | undefined {
  return stored === null ? undefined : Stored.parse(JSON.parse(stored))
}

/** The settings of an issuer in replies. */
export function toSettings(row: Row) {
  const providers = providersOf(row)
  if (!providers) return {}
  const { certificates, keys, attestation } = providers
  return {
    walletProviders: {
      ...(certificates !== undefined && { certificates }),
      ...(keys.length > 0 && { jwks: { keys } }),
    },
    walletAttestation: attestation,
  }
}

/** The column of an issuer with changed settings. @throws {Problem} 400 */
export async function changeProviders(
  row: Row,
  { walletProviders: given, walletAttestation }: Settings,
): Promise<string | null> {
  const current = providersOf(row)
  const certificates = (given ? given.certificates : current?.certificates)?.trim() ?? ''
  const keys = given ? (given.jwks?.keys ?? []).map(withKid) : (current?.keys ?? [])
  const attestation = walletAttestation ?? current?.attestation ?? 'optional'
  await assertCertificates(certificates)
  if (certificates !== '' || keys.length > 0)
    return JSON.stringify({ ...(certificates !== '' && { certificates }), keys, attestation })
  if (attestation === 'required')
    throw new Problem(
      'BadRequest',
      'walletProviders: required wallet attestations need certificates or keys of a wallet provider. Give some, or set walletAttestation to optional.',
    )
  return null
}

/** A key with its name. Other members are of no use, and of any length. */
function withKid(jwk: z.output<typeof ProviderKey>) {
  const kid = jwk['kid']
  return {
    ...toPublic(jwk),
    ...(typeof kid === 'string' && { kid: kid.slice(0, 300) }),
  } as typeof jwk
}

/** The algorithms of attestations that the providers sign. Certificates are of P-256 keys. */
export function algorithmsOf({ certificates, keys }: TrustedProviders): SigningAlgorithm[] {
  const ofKeys = keys.map((key) => algorithmOf(key))
  return [...new Set([...(certificates === undefined ? [] : ['ES256' as const]), ...ofKeys])]
}

/** Verifies that a trusted provider signed an attestation. @throws {VerificationError} `signature` */
export function requireProvider(providers: TrustedProviders, { now }: Clock) {
  return async ({ jws }: { jws: Jws }): Promise<void> => {
    const isByKey = providers.keys.some((key) => isSignedBy(jws, toPublic(key)))
    if (!isByKey) await requireCertified(jws, providers.certificates, now)
  }
}

async function requireCertified(jws: Jws, certificates: string | undefined, now: number): Promise<void> {
  if (certificates === undefined || jws.header.x5c === undefined)
    throw new VerificationError('signature', 'no key of a trusted wallet provider made its signature')
  try {
    await verifyWithCertificate(jws, { anchors: [certificates], at: new Date(now * 1_000) })
  } catch (error) {
    const { ChainError } = await loadX509()
    if (error instanceof ChainError)
      throw new VerificationError('signature', error.message.replace(/\.$/, ''), { cause: error })
    throw error
  }
}

async function assertCertificates(pem: string): Promise<void> {
  if (pem === '') return
  const { ChainError, parsePem } = await loadX509()
  try {
    parsePem(pem)
  } catch (cause) {
    if (!(cause instanceof ChainError)) throw cause
    throw new Problem('BadRequest', `walletProviders.certificates: ${cause.message}`, { cause })
  }
}
