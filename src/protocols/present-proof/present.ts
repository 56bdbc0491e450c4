/** What a prover presents: credentials of the wallet in the format that was asked for, and of an SD-JWT the claims that it chooses (wire.md 5.2). */
import { Problem } from '../../base/problem.ts'
import { createJwtVp } from '../../credentials/jwt-vp.ts'
import { findMissing, presentSdJwt } from '../../credentials/sd-jwt/presentation.ts'
import { decodeSdJwt } from '../../credentials/sd-jwt/sd-jwt.ts'
import type { PrivateJwk } from '../../crypto/keys.ts'
import { getOwnDid } from '../../did-registrar/dids.ts'
import { findKeyPair, getSigningKey } from '../../did-registrar/keys.ts'
import { canonicalDid } from '../../did/document.ts'
import type { Db } from '../../storage/database.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import type { CredentialFormat } from '../formats.ts'
import type { PresentationRecord, RequestPresentationAction } from './model.ts'

/** What is presented: record ids of credentials, and of an SD-JWT the names of the claims, when they are not those that were asked for. */
export type Choice = Pick<RequestPresentationAction, 'claims' | 'credentialFormat'> & { proofId: string[] }

type Credential = { id: string; format: string; credential: string; subject: string }

/**
 * Makes sure that a choice can be presented, before anything is promised.
 *
 * @throws {Problem} when a credential is not in the wallet, not in the format that was asked for, lacks a claim or is bound to a key that is
 * not to be had, and when several are about different subjects.
 */
export async function checkChoice(
  wallet: Wallet,
  record: PresentationRecord,
  { proofId, claims, credentialFormat }: Choice,
): Promise<void> {
  const { credentialFormat: asked } = record
  if (credentialFormat !== undefined && credentialFormat !== asked) throw wrongFormat(`credentialFormat: the request is for ${asked}.`)
  if (asked === 'JWT' && Object.keys(claims ?? {}).length > 0)
    throw new Problem('BadRequest', 'claims: the request is for JWT, and a JWT credential is shown as a whole.')
  const credentials = await getCredentials(wallet.db, proofId, asked)
  if (asked === 'JWT') subjectOf(credentials)
  else await checkSdJwt(wallet, record, credentials[0]!, claims)
}

/** Makes the presentation that a record has been accepted with. Returns the compact form. */
export async function makeToken(wallet: Wallet, record: PresentationRecord): Promise<string> {
  const { credentialFormat, options, proofId = [], claims = {}, shownClaims = claims } = record
  const credentials = await getCredentials(wallet.db, proofId, credentialFormat)
  if (credentialFormat === 'SDJWT') {
    const [{ credential: sdJwt, subject }] = credentials as [Credential]
    // Only a binding has an audience and a nonce; without options none is made.
    const { domain: audience, challenge: nonce } = options ?? { domain: '', challenge: '' }
    const holderKey = await findHolderKey(wallet, record, { sdJwt, subject })
    return presentSdJwt({ sdJwt, claims: shownClaims, audience, nonce, holderKey, now: Math.floor(Date.now() / 1_000) })
  }
  if (!options) throw new Error(`the record ${record.id} has no options`)
  const subject = subjectOf(credentials)
  const { longForm } = await getOwnDid(wallet.db, subject)
  const { privateJwk } = await getSigningKey(wallet, subject, 'authentication')
  return createJwtVp({
    holderDid: longForm,
    holderKey: privateJwk,
    audience: options.domain,
    nonce: options.challenge,
    credentials: credentials.map(({ credential }) => credential),
  })
}

async function checkSdJwt(
  wallet: Wallet,
  record: PresentationRecord,
  { id, credential: sdJwt, subject }: Credential,
  chosen: Choice['claims'],
): Promise<void> {
  const missing = findMissing(sdJwt, chosen ?? record.claims ?? {})
  if (missing !== undefined) {
    const way = chosen ? 'Name claims that it has.' : 'Present another, or name the claims to show in `claims`.'
    throw new Problem(
      'BadRequest',
      `The credential ${id} has no claim ${missing}, which ${chosen ? 'is to be shown' : 'was asked for'}. ${way}`,
    )
  }
  await findHolderKey(wallet, record, { sdJwt, subject })
}

/** The key that a credential is bound to, if it is to one. @throws {Problem} `HolderBindingError` when it cannot be presented for want of it. */
export async function findHolderKey(
  wallet: Wallet,
  { options }: PresentationRecord,
  { sdJwt, subject }: { sdJwt: string; subject: string },
): Promise<PrivateJwk | undefined> {
  const { holderKey } = decodeSdJwt(sdJwt)
  if (!holderKey) return undefined
  if (!options)
    throw unbindable('The request has no challenge, and the credential is bound to a key: ask the verifier for one with options.')
  const key = await findKeyPair(wallet, subject, holderKey)
  if (!key) throw unbindable('The credential is bound to a key that this wallet does not have.')
  return key
}

/** The credentials with these record ids, in their order. */
async function getCredentials(db: Db, proofId: string[], format: CredentialFormat): Promise<Credential[]> {
  if (proofId.length === 0) throw new Problem('BadRequest', 'proofId is empty: name at least one credential record of this wallet.')
  if (format === 'SDJWT' && proofId.length > 1)
    throw new Problem('BadRequest', `proofId names ${proofId.length} credentials: an SDJWT presentation is of exactly one.`)
  const rows = await db.selectFrom('credential').selectAll().where('id', 'in', proofId).execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  return proofId.map((id) => {
    const row = byId.get(id)
    if (!row) {
      throw new Problem(
        'error:PresentationError:IssuedCredentialNotFoundError',
        `proofId: this wallet holds no credential with the record id ${id}.`,
      )
    }
    if (row.format !== format) throw wrongFormat(`proofId: the credential ${id} is a ${row.format}, and the request is for ${format}.`)
    return row
  })
}

/** The one DID that all credentials are about. */
function subjectOf(credentials: Credential[]): string {
  if (new Set(credentials.map(({ subject }) => canonicalDid(subject))).size !== 1)
    throw unbindable('proofId: the credentials are about different subjects and cannot be presented together.')
  return credentials[0]!.subject
}

function wrongFormat(detail: string): Problem {
  return new Problem('error:PresentationError:NotMatchingPresentationCredentialFormat', detail)
}

function unbindable(detail: string): Problem {
  return new Problem('error:PresentationError:HolderBindingError', detail)
}
