/** Verifies presentations of tokens that answer a request without a query in DCQL. */
import type { VerifyChain } from '../../../credentials/codecs/issuer-signature.ts'
import { canonicalDid } from '../../../did/document.ts'
import { runChecks } from '../../../credentials/formats/checks.ts'
import {
  checksOf,
  type Demands,
  forEach,
  type Presentation,
  type Shown,
} from '../../../credentials/formats/presentation.ts'
import { type CheckName, PresentedCredential } from '../../../credentials/formats/presented.ts'
import { expectedOf } from '../../../wallet/verification/answer.ts'
import { demandsOfLines } from '../../../wallet/verification/lines.ts'
import { createTrustCheck } from '../../../wallet/verification/trust.ts'
import { createChainVerifier } from '../../../wallet/trust-anchors/verify-chain.ts'
import { checkPolicy } from '../../../wallet/verification/policies.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import type { Verdict } from '../format.ts'
import type { PresentationRecord } from '../model.ts'
import { restrictsIssuers } from '../verification.ts'
import { getOptions } from './options.ts'

/**
 * Verifies a presentation that `read` reads. The verdict has all checks, and the credentials if they passed.
 *
 * @throws {Problem} 503
 */
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
    const policed = () =>
      checkPolicy(
        constraints,
        shown.map(({ decoded }) => decoded),
      )
    const trust = () => {
      const checkTrust = createTrustCheck(wallet, issuers, verifyChain)
      return forEach(shown, ({ decoded: { issuerDid: issuer, x5c, docType } }) =>
        checkTrust({ issuer, x5c, docType }),
      )
    }
    return [
      ...ofLines(presentation),
      constraints.length > 0 && ['policy', policed],
      restrictsIssuers(record) && ['trust', trust],
    ]
  }
}
