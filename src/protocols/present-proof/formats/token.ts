/** Common parts of JWT and SD-JWT presentations: the challenge, and the verification with the keys of DIDs. */
import { Problem } from '../../../base/problem.ts'
import type { VerifyChain } from '../../../credentials/issuer-signature.ts'
import { canonicalDid } from '../../../did/document.ts'
import { expectedOf } from '../../../presentation/answer.ts'
import { type Check, runChecks } from '../../../presentation/checks.ts'
import {
  checksOf,
  type Demands,
  forEach,
  type Presentation,
  type Shown,
} from '../../../presentation/format.ts'
import { demandsOfLines } from '../../../presentation/lines.ts'
import { type CheckName, PresentedCredential } from '../../../presentation/model.ts'
import { createTrustCheck } from '../../../presentation/trust.ts'
import { createChainVerifier } from '../../../trust-anchors/verify-chain.ts'
import { checkPolicy } from '../../../verification/policies.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import type { CredentialFormat, ProofOptions } from '../../formats.ts'
import { newChallenge } from '../challenge.ts'
import type { PresentOptions, Verdict } from '../format.ts'
import { wrongFormat } from '../held-credentials.ts'
import type { PresentationRecord } from '../model.ts'
import type { RequestTerms } from '../requests.ts'
import { restrictsIssuers } from '../verification.ts'

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

/** Verifies a presentation that `read` reads. The verdict has all checks, and the credentials if they passed. @throws {Problem} 503 */
export async function judge(
  wallet: Wallet,
  record: PresentationRecord,
  read: () => Presentation,
): Promise<Verdict & { shown: readonly Shown[] }> {
  let presentation: Presentation | undefined
  const checks = await runChecks([['form', () => void (presentation = read())]])
  const { shown } = presentation ?? { shown: [] }
  if (presentation) {
    const { domain: audience, challenge: nonce } = getOptions(record)
    const verifyChain = createChainVerifier(wallet)
    const expected = expectedOf(wallet, { ...record, audience, nonce }, verifyChain)
    const all = checksOf(presentation, expected, demandsOf(wallet, record, verifyChain))
    const isSkipped = (name: CheckName) => name === 'status' && record.statusCheck === 'off'
    checks.push(...(await runChecks(all.filter(([name]) => !isSkipped(name)))))
  }
  const refusal = checks.find(({ result }) => result === 'failed')?.reason
  if (refusal !== undefined) return { refusal, verification: { checks }, shown }
  const credentials = shown.map(({ credential }) => toRecorded(credential))
  return { verification: { checks, credentials }, shown }
}

/** A credential as it is recorded: DIDs in their canonical form. */
function toRecorded({ issuer, holder, ...rest }: Shown['credential']): PresentedCredential {
  const named = holder === undefined ? undefined : canonicalDid(holder)
  return PresentedCredential.parse({ ...rest, issuer: canonicalDid(issuer), holder: named })
}

/** The checks that a request makes of the presented credentials, without those that it does not need. */
function demandsOf(wallet: Wallet, record: PresentationRecord, verifyChain: VerifyChain): Demands {
  const { policy, issuers = 'any' } = record
  const constraints = policy?.constraints ?? []
  const ofLines = demandsOfLines(record)
  return (presentation) => {
    const { shown } = presentation
    const trust = () => {
      const checkTrust = createTrustCheck(wallet, issuers, verifyChain)
      return forEach(shown, ({ issuerDid: issuer, x5c }) => checkTrust({ issuer, x5c }))
    }
    const checks: (Check | false)[] = [
      ...ofLines(presentation),
      constraints.length > 0 && ['policy', () => checkPolicy(constraints, shown)],
      restrictsIssuers(record) && ['trust', trust],
    ]
    return checks.filter((check) => check !== false)
  }
}
