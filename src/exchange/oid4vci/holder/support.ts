/**
 * Compares the requirements of an issuer with the abilities of this wallet: key proofs, copies and
 * attestations.
 */
import { Problem } from '../../../foundation/problem.ts'
import { type OpenIdFormat, openIdTraits } from '../../../definitions/format-names.ts'
import { getCertificateSigner } from '../../../wallet/issuer-certificates/signatures.ts'
import type { StoredOpenId4VciOffer } from '../../issuance/openid4vci.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { dpopAlgorithm } from './dpop-proof.ts'
import type {
  ReceivedConfiguration,
  ReceivedIssuerMetadata,
  ReceivedServerMetadata,
} from './issuer-metadata.ts'
import { unsupportedOffer } from './offer.ts'

type Proof = Pick<StoredOpenId4VciOffer, 'binding' | 'proof'>

/**
 * How the proof names the wallet's key on P-256, and its type (VCI §12.2.4). Empty if the credential is bound
 * to no key.
 */
export function proofOf(configuration: ReceivedConfiguration & { format: OpenIdFormat }): Proof {
  const { cryptographic_binding_methods_supported: methods, proof_types_supported: proofs } = configuration
  if (methods === undefined && proofs === undefined) return {}
  const { jwt, attestation } = proofs ?? assumedProofs
  const chosen = jwt ?? attestation
  if (!chosen)
    throw unsupportedOffer(
      `the issuer accepts key proofs of ${namesOf(Object.keys(proofs ?? {}))}, and this wallet makes jwt and attestation`,
    )
  if (!chosen.proof_signing_alg_values_supported.includes(dpopAlgorithm))
    throw unsupportedOffer(
      `the issuer accepts key proofs by ${namesOf(chosen.proof_signing_alg_values_supported)}, and this wallet signs by ${dpopAlgorithm}`,
    )
  const required = chosen.key_attestations_required
  const [resistance] = [required?.key_storage, required?.user_authentication].filter(
    (each) => each !== undefined && each.length > 0,
  )
  if (resistance)
    throw unsupportedOffer(
      `the issuer requires attested keys of ${resistance.join(' or ')}, and this wallet attests no such resistance`,
    )
  const { isBoundToDid } = openIdTraits(configuration.format)
  const preferred = isBoundToDid ? ['did:jwk', 'jwk'] : ['jwk', 'did:jwk']
  const method =
    preferred.find((each) => isAmong(each, methods)) ?? (methods?.includes('cose_key') ? 'jwk' : undefined)
  if (method === undefined)
    throw unsupportedOffer(
      `the issuer binds the credential to ${namesOf(methods ?? [])}, and this wallet has jwk and did:jwk`,
    )
  const type = jwt ? (required ? 'attested jwt' : 'jwt') : 'attestation'
  return { binding: method as 'jwk' | 'did:jwk', proof: type }
}

/** Issuers that name binding methods alone accept a jwt, as before version 1.0. */
const assumedProofs = {
  jwt: { proof_signing_alg_values_supported: [dpopAlgorithm], key_attestations_required: undefined },
  attestation: undefined,
}

/** The first names of a list of the issuer. */
function namesOf(names: readonly string[]): string {
  return names.length === 0 ? 'no kind' : names.slice(0, 10).join(', ')
}

/** Without a list any method will do. `did` is every DID method (VCI §12.2.4). */
function isAmong(method: string, methods: readonly string[] = []): boolean {
  return methods.length === 0 || methods.includes(method) || (method === 'did:jwk' && methods.includes('did'))
}

/** A record contains all copies. */
export const maxCopies = 20

/** The most copies that the issuer issues of a credential (VCI §12.2.4). */
export function mostCopies(
  { batch_credential_issuance: batch }: ReceivedIssuerMetadata,
  binding: Proof['binding'],
): number {
  return binding === undefined ? 1 : (batch?.batch_size ?? 1)
}

/**
 * How many copies are asked for. Undefined: one.
 *
 * @throws {Problem} 400 if the issuer does not issue as many
 */
export function copiesOf(
  metadata: ReceivedIssuerMetadata,
  binding: Proof['binding'],
  wanted = 1,
): number | undefined {
  const most = mostCopies(metadata, binding)
  if (wanted > most)
    throw new Problem(
      'BadRequest',
      `copies: the issuer issues at most ${most} of this credential. ${most === 1 ? 'Leave copies out.' : 'Ask for fewer.'}`,
    )
  return wanted === 1 ? undefined : wanted
}

/** Whether clients must have a wallet attestation (VCI Appendix E). */
export function requiresWalletAttestation({
  token_endpoint_auth_methods_supported: methods = [],
}: ReceivedServerMetadata): boolean {
  return methods.includes('attest_jwt_client_auth') && !methods.includes('none')
}

/**
 * @throws {Problem} 400 if an attestation is required and no certificate is named; `NotFound`, `Conflict` for
 * one that cannot sign
 */
export async function requireAttestation(
  wallet: Wallet,
  { proof, attestsClient }: Pick<StoredOpenId4VciOffer, 'proof' | 'attestsClient'>,
  certificateId: string | undefined,
): Promise<void> {
  if (certificateId !== undefined) return void (await getCertificateSigner(wallet, certificateId))
  const isKeyAttested = proof === 'attested jwt' || proof === 'attestation'
  if (!attestsClient && !isKeyAttested) return
  throw new Problem(
    'BadRequest',
    `attestationCertificateId is missing: the issuer requires a ${attestsClient ? 'wallet' : 'key'} attestation. Name an issuer certificate of this wallet whose root the issuer trusts.`,
  )
}
