/** Verifies the presentations of an answer to a query in DCQL, over OpenID4VP or DIDComm. */
import { createCheckpoint } from '../../foundation/checkpoint.ts'
import type { Decoded } from '../../credentials/formats/format.ts'
import { formatById } from '../../credentials/formats/index.ts'
import type { OpenIdFormat } from '../../definitions/format-names.ts'
import { findOtherForm } from '../../credentials/formats/token-form.ts'
import { statusChecks, type StatusPolicy } from '../credential-status/check.ts'
import type { VerifyChain } from '../../credentials/codecs/issuer-signature.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import { type DcqlCredential, describePath, matchCredential, typesOf } from '../../credentials/dcql/match.ts'
import { selectDisclosures } from '../../credentials/dcql/path.ts'
import { type CredentialQuery, type DcqlQuery, isUnbound } from '../../credentials/dcql/query.ts'
import { findSetFault } from '../../credentials/dcql/select.ts'
import { createChainVerifier } from '../trust-anchors/verify-chain.ts'
import { checkPolicy, type PolicyConstraint } from './policies.ts'
import type { Wallet } from '../wallet.ts'
import { type Check, runChecks } from '../../credentials/formats/checks.ts'
import {
  checksOf,
  type Demands,
  type Expected,
  type Presentation,
} from '../../credentials/formats/presentation.ts'
import { checkSameHolder } from './identity.ts'
import type { PresentationCheck, PresentedCredential } from '../../credentials/formats/presented.ts'
import { createTransactionCheck, type TransactionCheck } from './transaction-data.ts'
import { type AcceptedIssuers, type CheckTrust, createTrustCheck } from './trust.ts'

/** A request with its query. The holder signs for the audience with the nonce. */
export type Asked = Pick<Expected, 'audience' | 'nonce' | 'session'> & {
  query: DcqlQuery
  /** As `isTyped` of `Reading`. */
  requiresVcType: boolean
  /** ISO 8601. */
  createdAt: string
  policy?: { constraints: readonly PolicyConstraint[] } | undefined
  statusCheck?: StatusPolicy | undefined
  /**
   * The issuers that are accepted, whether there is one holder, and the transactions to authorize: of
   * requests over OpenID4VP.
   */
  issuers?: AcceptedIssuers | undefined
  sameHolder?: boolean | undefined
  transactionData?: readonly string[] | undefined
}

/** What an answer is compared with, beside the query of each credential. */
type Wanted = {
  query: DcqlQuery
  constraints: readonly PolicyConstraint[]
  checkTrust: CheckTrust
  transactions?: TransactionCheck | undefined
}

/** The results of all checks, and the credentials of all readable presentations. @throws {Problem} 503 */
export async function verifyPresentations(
  wallet: Wallet,
  asked: Asked,
  presented: Readonly<Record<string, readonly string[]>>,
) {
  const { query, requiresVcType } = asked
  const verifyChain = createChainVerifier(wallet)
  const expected = expectedOf(wallet, asked, verifyChain)
  const { policy, issuers = 'any', transactionData } = asked
  const transactions = transactionData && createTransactionCheck(transactionData)
  const checkTrust = createTrustCheck(wallet, issuers, verifyChain)
  const wanted = { query, constraints: policy?.constraints ?? [], checkTrust, transactions }
  const checks: PresentationCheck[] = []
  const credentials: PresentedCredential[] = []
  const checkpoint = createCheckpoint()
  for (const each of query.credentials) {
    for (const text of presented[each.id] ?? []) {
      // Certificates may take long. Let other requests proceed in between.
      await checkpoint()
      let presentation: Presentation | undefined
      const read = () => void (presentation = readPresentation(text, each, requiresVcType))
      checks.push(...(await runChecks([['form', read]], each.id)))
      if (!presentation) continue
      checks.push(...(await runChecks(checksOf(presentation, expected, demandsOf(each, wanted)), each.id)))
      credentials.push(
        ...presentation.shown.map(({ credential }) => ({ credentialId: each.id, ...credential })),
      )
    }
  }
  const counts = Object.fromEntries(Object.entries(presented).map(([id, texts]) => [id, texts.length]))
  const answer = () => {
    const fault = findSetFault(query, counts)
    if (fault !== undefined) throw new VerificationError('credential-missing', fault)
  }
  const whole: Check[] = transactions ? [['transaction', () => transactions.checkAll()]] : []
  checks.push(...(await runChecks([['answer', answer], ...whole])))
  if (asked.sameHolder) checks.push(...(await judgeHolders(wallet, checks, credentials)))
  return { checks, credentials }
}

/** Reads one presentation. @throws {VerificationError} if it cannot be read */
export function readPresentation(
  text: string,
  asked: CredentialQuery,
  requiresVcType: boolean,
): Presentation {
  const otherForm = findOtherForm(text, asked.format)
  if (otherForm !== undefined) throw new VerificationError('malformed', `It ${otherForm}`)
  const format = formatById(asked.format as OpenIdFormat)
  return format.readPresentation(text, {
    most: 1,
    isBound: !isUnbound(asked),
    isTyped: requiresVcType,
    types: typesOf(asked),
  })
}

/** The checks that a query makes of the presented credential. */
export function demandsOf(asked: CredentialQuery, wanted: Wanted): Demands {
  const { query, constraints, checkTrust, transactions } = wanted
  return ({ shown: [shown], answer }) => {
    const { credential, queried, decoded } = shown!
    const { disclosures, issuerDid: issuer, x5c, docType } = decoded
    const trust = async () => {
      credential.certificateSubject = await checkTrust({ issuer, x5c, docType }, asked)
    }
    return [
      answer &&
        transactions &&
        disclosures && ['transaction', () => transactions.checkBinding(answer, asked.id)],
      ['query', () => checkMatch(queried, asked)],
      disclosures && ['disclosure', () => checkDisclosures(disclosures, query)],
      ['policy', () => checkPolicy(constraints, [decoded])],
      ['trust', trust],
    ]
  }
}

/** Authorities are checked with the certificates. */
function checkMatch(credential: DcqlCredential, asked: CredentialQuery): void {
  const match = matchCredential(credential, { ...asked, trusted_authorities: undefined })
  if (!match.isMatch)
    throw new VerificationError('claim-missing', `The credential does not fit the query: ${match.reason}`)
}

/** §6.4: no selectively disclosable claim beside those that a credential query names. */
function checkDisclosures(
  disclosures: NonNullable<Decoded['disclosures']>,
  { credentials }: DcqlQuery,
): void {
  const requested = credentials.flatMap(({ claims }) => (claims ?? []).map(({ path }) => path))
  const asked = new Set(selectDisclosures(disclosures, requested))
  const surplus = disclosures.find(
    (each) => !asked.has(each) && !(each.implied && requested.some(each.implied)),
  )
  if (surplus)
    throw new VerificationError(
      'claim-missing',
      `The claim ${describePath([...surplus.path])} is disclosed and was not requested`,
    )
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

/**
 * What the signatures of an answer must fit: the audience, the nonce and the time of the request, and the
 * settings of the agent. The check of issuers takes the same `verifyChain`, which verifies each chain once.
 */
export function expectedOf(
  wallet: Wallet,
  {
    audience,
    nonce,
    createdAt,
    statusCheck,
    session,
  }: Pick<Asked, 'audience' | 'nonce' | 'createdAt' | 'statusCheck' | 'session'>,
  verifyChain: VerifyChain,
): Expected {
  const { config, resolver } = wallet.env
  return {
    audience,
    nonce,
    session,
    requestedAt: Math.floor(Date.parse(createdAt) / 1_000),
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
