/** Answers a DCQL query with credentials of the wallet: which ones match, what they would disclose, and the VP token (OpenID4VP 1.0 §6.4, §8.1). */
import { Problem } from '../../base/problem.ts'
import { readJwtVc } from '../../credentials/jwt-vc.ts'
import { createJwtVp } from '../../credentials/jwt-vp.ts'
import type { Confirmation } from '../../credentials/sd-jwt/confirmation.ts'
import { bindPresentation, discloseClaims } from '../../credentials/sd-jwt/presentation.ts'
import { decodeSdJwt } from '../../credentials/sd-jwt/sd-jwt.ts'
import { checkValidity, type Validity } from '../../credentials/validity.ts'
import { VerificationError } from '../../credentials/verification-error.ts'
import type { PrivateJwk } from '../../crypto/keys.ts'
import { ofJwt, ofSdJwt } from '../../dcql/credential.ts'
import { type DcqlCredential, matchQuery, type MatchResult } from '../../dcql/match.ts'
import { assertComparable, selectDisclosures } from '../../dcql/path.ts'
import { isUnbound, type ClaimsPath, type DcqlQuery } from '../../dcql/query.ts'
import { selectMatches } from '../../dcql/select.ts'
import { getManagedDid } from '../../did-registrar/dids.ts'
import { findBoundKey } from '../../did-registrar/holder-key.ts'
import { getSigningKey } from '../../did-registrar/keys.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { listHeldCredentials, type ListedCredential } from '../listed-credentials.ts'
import { findInvalid } from '../credential-standing.ts'
import { findDistrust, unbindable } from './held-credentials.ts'
import type { PresentationRecord } from './model.ts'

/** A credential of the wallet that can be presented, and whether it matches, for each credential query. */
export type Presentable = { held: ListedCredential; credential: DcqlCredential; results: MatchResult[] }
/** A credential that cannot, and why. */
export type Unpresentable = { held: ListedCredential; reason: string; isExpired: boolean }

/** The credentials of a wallet, as far as a query is concerned. */
export type Compared = { presentable: Presentable[]; others: Unpresentable[] }

/** Decodes the credentials of the wallet, checks dates, reported revocation and the holder's key, and matches them with a query. */
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
      const credential = await readHeld(wallet, held, query)
      presentable.push({ held, credential, results: matchQuery(credential, query) })
    } catch (error) {
      if (!(error instanceof Problem) && !(error instanceof VerificationError)) throw error
      others.push({ held, reason: error.message, isExpired: 'code' in error && error.code === 'expired' })
    }
  }
  return { presentable, others }
}

/** Reads the status of the credentials that match, and leaves out the revoked and suspended ones: none is chosen without being named. */
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
): Promise<DcqlCredential> {
  if (held.isRevoked) throw new VerificationError('status', 'The issuer has revoked it')
  if (held.format === 'SDJWT') {
    const decoded = decodeSdJwt(held.credential)
    checkDates(wallet, decoded)
    assertComparable(
      decoded.disclosures,
      credentials.flatMap(({ claims = [] }) => claims),
    )
    if (decoded.isBound) await getHolderKey(wallet, held, decoded)
    return ofSdJwt(decoded, decoded.isBound)
  }
  if (held.format !== 'JWT')
    throw new VerificationError('malformed', `It is a ${held.format} credential, which DCQL cannot ask for`)
  const { credential: decoded } = readJwtVc(held.credential)
  checkDates(wallet, decoded)
  if (held.subject === null) throw unbindable('It names no subject that could present it')
  await getSigningKey(wallet, held.subject, 'authentication')
  return ofJwt(decoded, true)
}

function checkDates({ env }: Wallet, validity: Validity): void {
  checkValidity(validity, Math.floor(Date.now() / 1_000), env.config.CREDENTIAL_LEEWAY)
}

/** The private key of `cnf`, of the subject or of a did:jwk of the wallet. @throws {Problem} */
async function getHolderKey(
  wallet: Wallet,
  { subject }: Pick<ListedCredential, 'subject'>,
  credential: Confirmation,
): Promise<PrivateJwk> {
  const key = await findBoundKey(wallet, subject, credential)
  if (key) return key
  throw unbindable('The credential is bound to a key that this wallet does not have.')
}

/** A credential that answers a credential query, and the paths of the claims that it must disclose. Undefined paths: none. */
export type AnswerPart = { credentialId: string; recordId: string; paths: ClaimsPath[] | undefined }

/**
 * The credentials that answer a query: the first that match, or those that were chosen. Credential sets that are not required are
 * answered only by chosen credentials, so that no claim is disclosed without need. Undefined: the query cannot be answered.
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

/** @throws {Problem} if a chosen credential cannot be presented, or is not needed, or the query cannot be answered */
export function getAnswer(
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

type Request = { clientId: string; nonce: string; dcqlQuery: DcqlQuery }

/** The `vp_token`: a presentation of each credential, signed for this request where the query requires holder binding. */
export async function makeVpToken(
  wallet: Wallet,
  request: Request,
  answer: readonly AnswerPart[],
  presentable: readonly Presentable[],
): Promise<Record<string, string[]>> {
  const token: Record<string, string[]> = {}
  for (const { credentialId, recordId, paths } of answer) {
    const { held } = presentable.find((each) => each.held.id === recordId)!
    const asked = request.dcqlQuery.credentials.find(({ id }) => id === credentialId)!
    const isBound = !isUnbound(asked)
    const text =
      held.format === 'SDJWT'
        ? await presentSdJwt(wallet, request, { held, paths: paths ?? [], isBound })
        : await presentJwt(wallet, request, { held, isBound })
    ;(token[credentialId] ??= []).push(text)
  }
  return token
}

type Part = { held: ListedCredential; isBound: boolean }

async function presentSdJwt(
  wallet: Wallet,
  { clientId: audience, nonce }: Request,
  { held, paths, isBound }: Part & { paths: ClaimsPath[] },
): Promise<string> {
  const decoded = decodeSdJwt(held.credential)
  const presented = discloseClaims(decoded, selectDisclosures(decoded.disclosures, paths))
  if (!isBound || !decoded.isBound) return presented
  const holderKey = await getHolderKey(wallet, held, decoded)
  return bindPresentation(presented, decoded, { audience, nonce, holderKey, now: Date.now() / 1_000 })
}

async function presentJwt(
  wallet: Wallet,
  { clientId: audience, nonce }: Request,
  { held, isBound }: Part,
): Promise<string> {
  if (!isBound) return held.credential
  const { longForm: holderDid, did, status } = await getManagedDid(wallet.db, held.subject!)
  const { privateJwk, keyId } = await getSigningKey(wallet, held.subject!, 'authentication')
  const iss = status === 'PUBLISHED' ? did : holderDid
  return createJwtVp({
    holderDid: iss,
    holderKey: privateJwk,
    kid: `${iss}#${keyId}`,
    audience,
    nonce,
    credentials: [held.credential],
    now: Date.now() / 1_000,
  })
}
