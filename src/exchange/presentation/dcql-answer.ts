/**
 * Answers a DCQL query with credentials of the wallet: which ones match, what they would disclose, and the VP
 * token (OpenID4VP 1.0 §6.4, §8.1).
 */
import { Problem } from '../../foundation/problem.ts'
import { checkValidity } from '../../credentials/codecs/validity.ts'
import { VerificationError } from '../../credentials/codecs/verification-error.ts'
import { type DcqlCredential, matchQuery, type MatchResult } from '../../credentials/dcql/match.ts'
import { assertComparable, isOnPath } from '../../credentials/dcql/path.ts'
import { isUnbound, type ClaimsPath, type DcqlQuery } from '../../credentials/dcql/query.ts'
import { selectMatches } from '../../credentials/dcql/select.ts'
import type { Decoded } from '../../credentials/formats/format.ts'
import { unbindable } from '../../credentials/formats/keys.ts'
import { formats } from '../../credentials/formats/index.ts'
import { isTokenFormat, type TokenFormat } from '../../definitions/format-names.ts'
import type { Session } from '../../credentials/formats/presentation.ts'
import { toQueried } from '../../credentials/formats/queried.ts'
import { keysOf } from '../../wallet/did-registrar/holder-key.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { listHeldCredentials, type ListedCredential } from '../held-credentials/list.ts'
import { findInvalid } from '../held-credentials/standing.ts'
import { findDistrust } from './chosen-credentials.ts'
import type { PresentationRecord } from './model.ts'

/** A credential of the wallet that can be presented, and whether it matches, for each credential query. */
export type Presentable = { held: ListedCredential; decoded: Decoded; results: MatchResult[] }
/** A credential that cannot, and why. */
export type Unpresentable = { held: ListedCredential; reason: string; isExpired: boolean }

/** The credentials of a wallet, as far as a query is concerned. */
type Compared = { presentable: Presentable[]; others: Unpresentable[] }

/**
 * Decodes the credentials of the wallet, checks dates, reported revocation and the holder's key, and matches
 * them with a query.
 */
export async function compareCredentials(
  wallet: Wallet,
  query: DcqlQuery,
  issuers?: PresentationRecord['issuers'],
): Promise<Compared> {
  const [presentable, others]: [Presentable[], Unpresentable[]] = [[], []]
  for await (const held of listHeldCredentials(wallet.db)) {
    try {
      const distrust = findDistrust(issuers, held.issuer)
      if (distrust !== undefined) throw new VerificationError('issuer-not-trusted', distrust)
      const { decoded, queried } = await readHeld(wallet, held, query)
      presentable.push({ held, decoded, results: matchQuery(queried, query) })
    } catch (error) {
      if (!(error instanceof Problem) && !(error instanceof VerificationError)) throw error
      others.push({ held, reason: error.message, isExpired: 'code' in error && error.code === 'expired' })
    }
  }
  return { presentable, others }
}

/**
 * Reads the status of the credentials that match, and leaves out the revoked and suspended ones: none is
 * chosen without being named.
 */
export async function withoutInvalid(wallet: Wallet, { presentable, others }: Compared): Promise<Compared> {
  const fitting = presentable.flatMap(({ held, results }) =>
    results.some(({ isMatch }) => isMatch) ? [held] : [],
  )
  const invalid = await findInvalid(wallet, fitting)
  const left = fitting.flatMap((held) => {
    const reason = invalid.get(held.id)
    return reason === undefined ? [] : [{ held, reason, isExpired: false }]
  })
  return {
    presentable: presentable.filter(({ held }) => !invalid.has(held.id)),
    others: [...others, ...left],
  }
}

/** @throws {Problem}, {VerificationError} why the credential cannot be presented */
async function readHeld(
  wallet: Wallet,
  held: ListedCredential,
  { credentials }: DcqlQuery,
): Promise<{ decoded: Decoded; queried: DcqlCredential }> {
  if (held.isRevoked) throw new VerificationError('status', 'The issuer has revoked it')
  if (!isTokenFormat(held.format))
    throw new VerificationError('malformed', `It is a ${held.format} credential, which DCQL cannot ask for`)
  const format = formats[held.format]
  const decoded = format.decode(held.credential)
  checkValidity(decoded, Math.floor(Date.now() / 1_000), wallet.env.config.CREDENTIAL_LEEWAY)
  assertComparable(
    decoded.disclosures ?? [],
    credentials.flatMap(({ claims = [] }) => claims),
  )
  await format.findHolderKey(keysOf(wallet), held, decoded)
  return { decoded, queried: toQueried(held.format, decoded) }
}

/**
 * A credential that answers a credential query, and the paths of the claims that it must disclose. Undefined
 * paths: none.
 */
type AnswerPart = { credentialId: string; recordId: string; paths: ClaimsPath[] | undefined }

/**
 * The credentials that answer a query: the first that match, or those that were chosen. Credential sets that
 * are not required are answered only by chosen credentials, so that no claim is disclosed without need.
 * Undefined: the query cannot be answered.
 */
export function findAnswer(
  query: DcqlQuery,
  presentable: readonly Presentable[],
  chosen?: readonly string[],
): AnswerPart[] | undefined {
  const pool = chosen ? presentable.filter(({ held }) => chosen.includes(held.id)) : presentable
  const asked = chosen ? query : withoutOptional(query)
  const { candidates, answer } = selectMatches(
    asked,
    pool.map(({ results }) => results),
  )
  if (!answer || answer.length === 0) return undefined
  return answer.flatMap((credentialId) => {
    const { multiple } = query.credentials.find(({ id }) => id === credentialId)!
    const found = candidates[credentialId]!
    return (chosen && multiple ? found : found.slice(0, 1)).map(({ index, paths }) => ({
      credentialId,
      recordId: pool[index]!.held.id,
      paths,
    }))
  })
}

function withoutOptional(query: DcqlQuery): DcqlQuery {
  const required = query.credential_sets?.filter(({ required = true }) => required) ?? []
  return required.length > 0 ? { ...query, credential_sets: required } : query
}

/** @throws {Problem} as `answerQuery` */
function getAnswer(
  query: DcqlQuery,
  { presentable, others }: Compared,
  chosen?: readonly string[],
): AnswerPart[] {
  for (const id of chosen ?? []) {
    const unusable = others.find(({ held }) => held.id === id)
    if (unusable) throw unbindable(`proofId: the credential ${id} cannot be presented. ${unusable.reason}`)
    if (!presentable.some(({ held }) => held.id === id))
      throw new Problem(
        'error:PresentationError:IssuedCredentialNotFoundError',
        `proofId: this wallet holds no credential with the record id ${id}.`,
      )
  }
  const misfit = chosen?.find((id) => {
    const { results } = presentable.find(({ held }) => held.id === id)!
    return results.every(({ isMatch }) => !isMatch)
  })
  const answer = findAnswer(query, presentable, chosen)
  const unused = misfit ?? (answer && chosen?.find((id) => !answer.some(({ recordId }) => recordId === id)))
  if (unused !== undefined) {
    const { results } = presentable.find(({ held }) => held.id === unused)!
    throw new Problem(
      'BadRequest',
      `proofId: the credential ${unused} does not answer the request. ${mismatchOf(query, results)}`,
    )
  }
  if (answer) return answer
  throw new Problem(
    'BadRequest',
    chosen
      ? 'proofId: these credentials together do not answer the request. Name others, or decline the request.'
      : 'No credentials of this wallet answer the request. Decline it.',
  )
}

/** Why a credential matches none of the credential queries. */
export function mismatchOf({ credentials }: DcqlQuery, results: readonly MatchResult[]): string {
  const reasons = credentials.flatMap(({ id }, position) => {
    const match = results[position]!
    return match.isMatch ? [] : [`${id}: ${match.reason}`]
  })
  return reasons.length > 0 ? reasons.slice(0, 5).join('; ') : 'Another credential answers the same query'
}

/** What is asked. The holder signs for the client id with the nonce. */
type Request = {
  query: DcqlQuery
  clientId: string
  nonce: string
  issuers?: PresentationRecord['issuers']
  /** Of OpenID4VP. */
  session?: Session
}

/**
 * The `vp_token` that answers a request, by chosen credentials or by the first that match: a presentation of
 * each, signed for the request where its query requires holder binding.
 *
 * @throws {Problem} if a chosen credential cannot be presented, or is not needed, or the query cannot be
 * answered
 */
export async function answerQuery(
  wallet: Wallet,
  { query, clientId: audience, nonce, issuers, session }: Request,
  proofId: readonly string[] = [],
): Promise<{ answer: AnswerPart[]; proofId: string[]; token: Record<string, string[]> }> {
  const isChosen = proofId.length > 0
  const compared = await compareCredentials(wallet, query, isChosen ? undefined : issuers)
  const held = isChosen ? compared : await withoutInvalid(wallet, compared)
  const answer = getAnswer(query, held, isChosen ? proofId : undefined)
  const token: Record<string, string[]> = {}
  for (const { credentialId, recordId, paths } of answer) {
    const { held: own } = held.presentable.find((each) => each.held.id === recordId)!
    const asked = query.credentials.find(({ id }) => id === credentialId)!
    const ask = {
      audience,
      nonce,
      discloses: (claim: readonly string[]) => (paths ?? []).some((path) => isOnPath(path, claim)),
      now: Date.now() / 1_000,
      session,
    }
    const format = formats[own.format as TokenFormat]
    const text = await format.present(keysOf(wallet), [own], ask, !isUnbound(asked))
    ;(token[credentialId] ??= []).push(text)
  }
  return { answer, proofId: [...new Set(answer.map(({ recordId }) => recordId))], token }
}
