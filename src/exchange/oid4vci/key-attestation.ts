/**
 * Key attestations (VCI Appendix D): a wallet provider that the issuer trusts attests keys of a wallet, and
 * how they are stored. In the header of a key proof, or as the proof itself (VCI Appendix F.1, F.3).
 */
import * as z from 'zod'
import { type Clock, PublicKey, verifyProofJwt } from '../../credentials/codecs/proof-jwt.ts'
import { NumericDate } from '../../credentials/codecs/validity.ts'
import { isSameKey, type PublicJwk, toPublic } from '../../foundation/crypto/keys.ts'
import { invalidNonce } from './nonce.ts'
import { OAuthError } from '../../foundation/oauth/oauth-error.ts'
import { requireProvider, type TrustedProviders } from './wallet-providers.ts'

const Accepted = z.array(z.string().min(1).max(200)).min(1).max(10).optional()

/** The key attestation that a configuration requires. */
export const KeyAttestationRequirement = z
  .object({
    keyStorage: Accepted.describe(
      'Accepted values of `key_storage`, the resistance of the key storage, such as `iso_18045_high`. Default: any.',
    ),
    userAuthentication: Accepted.describe(
      'Accepted values of `user_authentication`, the resistance of the user authentication. Default: any.',
    ),
  })
  .meta({ id: 'KeyAttestationRequirement' })
type Requirement = z.infer<typeof KeyAttestationRequirement>

/** Undefined if a configuration requires no key attestation. */
export function requirementOf({ key_attestation: stored }: { key_attestation: string | null }) {
  return stored === null ? undefined : KeyAttestationRequirement.parse(JSON.parse(stored))
}

/** The member of a proof type in the issuer's metadata (VCI §12.2.4). */
export function toMetadata({ keyStorage, userAuthentication }: Requirement) {
  return {
    key_attestations_required: {
      ...(keyStorage && { key_storage: keyStorage }),
      ...(userAuthentication && { user_authentication: userAuthentication }),
    },
  }
}

/** The rules for key attestations in a request. */
type AttestationPolicy = {
  /** Undefined: the issuer trusts no wallet provider, and ignores attestations. */
  providers: TrustedProviders | undefined
  /** Undefined: an attestation is not required. */
  requirement: Requirement | undefined
}

export type AttestationChecks = {
  policy: AttestationPolicy
  clock: Clock
  /** When a nonce ends, in milliseconds since 1970. Undefined for one that is not valid. */
  readNonce: (nonce: string) => number | undefined
}

/** A verified attestation: its keys, and the nonce to be used up. */
export type KeyAttestation = { keys: PublicJwk[]; nonce: string; nonceEndsMs: number }

export const keyAttestationType = 'key-attestation+jwt'

const Resistances = z.array(z.string()).min(1).optional()

const Claims = z.looseObject({
  iat: NumericDate,
  attested_keys: z.array(PublicKey).min(1).max(100),
  key_storage: Resistances,
  user_authentication: Resistances,
  nonce: z.string('is missing'),
})

/** VCI §D.1: an attestation in the header of a key proof must end. */
const ClaimsInHeader = Claims.extend({ exp: NumericDate })

/**
 * Verifies an attestation in the header of a key proof, or as the proof itself. Keys for encryption are left
 * out.
 *
 * @throws {OAuthError} `invalid_proof` with the reason, `invalid_nonce`
 */
export async function verifyKeyAttestation(
  text: string,
  place: 'header' | 'proof',
  { policy: { providers, requirement }, clock, readNonce }: AttestationChecks,
): Promise<KeyAttestation> {
  if (!providers) throw invalidAttestation('this issuer trusts no wallet provider')
  const { claims } = await verifyProofJwt(text, {
    typ: keyAttestationType,
    claims: place === 'header' ? ClaimsInHeader : Claims,
    clock,
    signer: requireProvider(providers, clock),
    refuse: invalidAttestation,
  })
  assertResistance('key_storage', requirement?.keyStorage, claims.key_storage)
  assertResistance('user_authentication', requirement?.userAuthentication, claims.user_authentication)
  const nonceEndsMs = readNonce(claims.nonce)
  if (nonceEndsMs === undefined) throw invalidNonce()
  const keys = claims.attested_keys.filter(({ use }) => use !== 'enc').map(toPublic)
  if (keys.length === 0) throw invalidAttestation('its attested_keys are all for encryption (use)')
  return { keys: withoutCopies(keys), nonce: claims.nonce, nonceEndsMs }
}

export function withoutCopies(keys: readonly PublicJwk[]): PublicJwk[] {
  return keys.filter((key, index) => keys.findIndex((other) => isSameKey(other, key)) === index)
}

function assertResistance(
  claim: string,
  accepted: readonly string[] | undefined,
  asserted: readonly string[] = [],
): void {
  if (accepted && !asserted.some((value) => accepted.includes(value)))
    throw invalidAttestation(`its ${claim} is not one of ${accepted.join(', ')}`)
}

/** `reason` continues the sentence "The key attestation is not accepted:". */
function invalidAttestation(reason: string, cause?: unknown): OAuthError {
  return new OAuthError('invalid_proof', `The key attestation is not accepted: ${reason}.`, { cause })
}
