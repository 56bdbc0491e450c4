/** Verifies the presentations of an answer to a query, over OpenID4VP or DIDComm. */
import { createCheckpoint } from '../base/checkpoint.ts'
import { statusChecks } from '../credential-status/check.ts'
import { VerificationError } from '../credentials/verification-error.ts'
import type { DcqlQuery } from '../dcql/query.ts'
import { findSetFault } from '../dcql/select.ts'
import type { PresentationRecord } from '../protocols/present-proof/model.ts'
import type {
  AcceptedIssuers,
  PresentationCheck,
  PresentedCredential,
} from '../protocols/present-proof/openid4vp.ts'
import { createChainVerifier } from '../trust-anchors/verify-chain.ts'
import type { Wallet } from '../wallet/wallet.ts'
import { type Check, runChecks } from './checks.ts'
import { checkSameHolder } from './identity.ts'
import { type Expected, type Readable, readPresentation } from './presentation.ts'
import { createTransactionCheck } from './transaction-data.ts'
import { createTrustCheck } from './trust.ts'

/** A record with its query. The holder signs for the audience with the nonce. */
export type Asked = Pick<PresentationRecord, 'createdAt' | 'policy' | 'statusCheck'> &
  Pick<Expected, 'requiresVcType'> & {
    query: DcqlQuery
    audience: string
    nonce: string
    /** The issuers that are accepted, whether there is one holder, and the transactions to authorize: of requests over OpenID4VP. */
    issuers?: AcceptedIssuers | undefined
    sameHolder?: boolean | undefined
    transactionData?: readonly string[] | undefined
  }

/** The results of all checks, and the credentials of all readable presentations. @throws {Problem} 503 */
export async function verifyPresentations(
  wallet: Wallet,
  asked: Asked,
  presented: Readonly<Record<string, readonly string[]>>,
) {
  const expected = expectedOf(wallet, asked)
  const checks: PresentationCheck[] = []
  const credentials: PresentedCredential[] = []
  const checkpoint = createCheckpoint()
  for (const query of expected.query.credentials) {
    for (const text of presented[query.id] ?? []) {
      // Certificates may take long. Let other requests proceed in between.
      await checkpoint()
      let readable: Readable | undefined
      const read: Check = ['form', () => void (readable = readPresentation(text, query, expected))]
      const form = await runChecks([read], query.id)
      checks.push(...form, ...(await runChecks(readable?.checks ?? [], query.id)))
      if (readable) credentials.push({ credentialId: query.id, ...readable.credential })
    }
  }
  const counts = Object.fromEntries(Object.entries(presented).map(([id, texts]) => [id, texts.length]))
  const answer = () => {
    const fault = findSetFault(expected.query, counts)
    if (fault !== undefined) throw new VerificationError('credential-missing', fault)
  }
  const { transactions } = expected
  const whole: Check[] = transactions ? [['transaction', () => transactions.checkAll()]] : []
  checks.push(...(await runChecks([['answer', answer], ...whole])))
  if (asked.sameHolder) checks.push(...(await judgeHolders(wallet, checks, credentials)))
  return { checks, credentials }
}

/** After a failed check, nothing is known about the holders. @throws {Problem} 503 */
async function judgeHolders(
  wallet: Wallet,
  checks: readonly PresentationCheck[],
  credentials: readonly PresentedCredential[],
): Promise<PresentationCheck[]> {
  const name = 'same-holder'
  if (checks.some(({ result }) => result === 'failed')) return [{ name, result: 'skipped' }]
  return runChecks([[name, () => checkSameHolder(wallet, credentials)]])
}

function expectedOf(wallet: Wallet, asked: Asked): Expected {
  const { query, audience, nonce, requiresVcType, createdAt, policy, statusCheck } = asked
  const { issuers = 'any', transactionData } = asked
  const { config, resolver } = wallet.env
  const verifyChain = createChainVerifier(wallet)
  return {
    query,
    audience,
    nonce,
    requiresVcType,
    requestedAt: Math.floor(Date.parse(createdAt) / 1_000),
    constraints: policy?.constraints ?? [],
    ...(transactionData && { transactions: createTransactionCheck(transactionData) }),
    checkTrust: createTrustCheck(wallet, issuers, verifyChain),
    leewaySeconds: config.PRESENTATION_LEEWAY,
    options: {
      resolve: resolver.document,
      now: Math.floor(Date.now() / 1_000),
      leewaySeconds: config.CREDENTIAL_LEEWAY,
      verifyChain,
      ...statusChecks(wallet.env, statusCheck, verifyChain),
    },
  }
}
