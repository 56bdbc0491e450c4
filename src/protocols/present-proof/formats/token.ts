/** Common parts of JWT and SD-JWT presentations: the challenge, and the verification with the keys of DIDs. */
import { Problem } from '../../../base/problem.ts'
import { statusChecks } from '../../../credential-status/check.ts'
import { createTrustCheck } from '../../../oid4vp/trust.ts'
import { createChainVerifier } from '../../../trust-anchors/verify-chain.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import type { CredentialFormat, ProofOptions } from '../../formats.ts'
import { newChallenge } from '../challenge.ts'
import type { PresentOptions } from '../format.ts'
import { wrongFormat } from '../held-credentials.ts'
import type { PresentationRecord } from '../model.ts'
import type { PresentationCheck } from '../openid4vp.ts'
import type { RequestTerms } from '../requests.ts'
import { passed, restrictsIssuers } from '../verification.ts'

/** The challenge and the domain of a new request of a verifier. Default: a challenge that names its DID. */
export function newOptions(wallet: Wallet, { options }: RequestTerms, verifier: string): ProofOptions {
  return (
    options ?? { challenge: newChallenge(verifier), domain: wallet.env.config.DEFAULT_JWT_VC_OFFER_DOMAIN }
  )
}

/** The challenge and the domain of a record. Only a prover's record may lack them. @throws {Error} */
export function getOptions({ id, options }: PresentationRecord): ProofOptions {
  const { challenge, domain } = options ?? {}
  if (challenge === undefined || domain === undefined)
    throw new Error(`the record ${id} has no challenge and domain`)
  return { challenge, domain }
}

/** Checks that the choices are for the requested format. @throws {Problem} */
export function requireFormat(
  format: CredentialFormat,
  { credentialFormat, anoncredPresentationRequest }: PresentOptions,
): void {
  if (credentialFormat !== undefined && credentialFormat !== format)
    throw wrongFormat(`credentialFormat: the request is for ${format}.`)
  if (anoncredPresentationRequest !== undefined && format !== 'AnonCreds')
    throw new Problem(
      'BadRequest',
      `anoncredPresentationRequest: the request is for ${format}. Name credentials in proofId.`,
    )
}

/** Checks that the request accepts the issuers of presented credentials. @throws {VerificationError} `issuer-not-trusted` */
export async function checkIssuers(
  wallet: Wallet,
  { issuers = 'any' }: PresentationRecord,
  presented: readonly { issuer: string; x5c?: unknown }[],
): Promise<void> {
  if (issuers === 'any') return
  const checkTrust = createTrustCheck(wallet, issuers, createChainVerifier(wallet))
  for (const each of presented) await checkTrust(each)
}

/** The names of the checks of a valid presentation, which differ by the request. */
export function passedChecks(record: PresentationRecord, isBound = true): PresentationCheck[] {
  const { proofs, claims, policy, statusCheck } = record
  return passed([
    'form',
    ...(isBound ? (['audience', 'nonce', 'time', 'holder-binding'] as const) : []),
    (proofs.length > 0 || Object.keys(claims ?? {}).length > 0) && 'query',
    (policy?.constraints ?? []).length > 0 && 'policy',
    restrictsIssuers(record) && 'trust',
    'validity',
    'signature',
    statusCheck !== 'off' && 'status',
  ])
}

/** The options of the verification. */
export function checksOf(wallet: Wallet, record: PresentationRecord) {
  const { domain: audience, challenge: nonce } = getOptions(record)
  const { CREDENTIAL_LEEWAY } = wallet.env.config
  const verifyChain = createChainVerifier(wallet)
  return {
    credentialChecks: {
      leewaySeconds: CREDENTIAL_LEEWAY,
      ...statusChecks(wallet.env, record.statusCheck, verifyChain),
    },
    checks: {
      resolve: wallet.env.resolver.document,
      verifyChain,
      audience,
      nonce,
      now: Math.floor(Date.now() / 1_000),
      constraints: record.proofs,
    },
  }
}
