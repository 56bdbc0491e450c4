/** Presentations of SD-JWT credentials with selectively disclosed claims. */
import * as z from 'zod'
import { hasPrototypeMember, JsonValue } from '../../../base/json.ts'
import { Problem } from '../../../base/problem.ts'
import { findMissing, presentSdJwt } from '../../../credentials/sd-jwt/presentation.ts'
import { decodeSdJwt } from '../../../credentials/sd-jwt/sd-jwt.ts'
import type { PrivateJwk } from '../../../crypto/keys.ts'
import { findBoundKey } from '../../../did-registrar/holder-key.ts'
import { readSdJwt } from '../../../presentation/sd-jwt.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { attachmentFormatOf, encodedAttachments, ReceivedOptions, tokenAttachments } from '../../formats.ts'
import { peersOf } from '../../peers.ts'
import type { PresentOptions, HeldCredential, ProofFormat } from '../format.ts'
import { getHeldCredentials, unbindable } from '../held-credentials.ts'
import { PresentationData, type PresentationRecord } from '../model.ts'
import { judge, newOptions, requireFormat } from './token.ts'

/** The attachment of a request. Cloud Agents omit challenge and domain if their caller does not set them. */
const SdJwtRequest = z.looseObject({
  options: ReceivedOptions.nullish(),
  claims: z.record(z.string(), JsonValue).nullish(),
})

export const sdJwt: ProofFormat = {
  createRequest(wallet, requested, verifier) {
    const { claims = {} } = requested
    const content = { options: newOptions(wallet, requested, verifier), claims }
    return { terms: content, attachments: encodedAttachments(content, attachmentFormatOf('SDJWT')), content }
  },

  readRequest(content) {
    const { options, claims } = SdJwtRequest.parse(content)
    if (hasPrototypeMember(content)) throw new TypeError('a claim is called __proto__')
    return { options: options ?? undefined, claims: claims ?? {} }
  },

  async choose(wallet, record, choice) {
    requireFormat('SDJWT', choice)
    const { proofId = [], claims: shownClaims } = choice
    const held = await getOne(wallet, proofId)
    await checkClaims(wallet, record, held, shownClaims)
    return { proofId, shownClaims }
  },

  async present(wallet, record) {
    const { options, proofId = [], claims = {}, shownClaims = claims } = record
    const { credential: sdJwt, subject } = await getOne(wallet, proofId)
    // Only a key binding uses audience and nonce. Without options there is none. Its audience must name the verifier (RFC 9901 §4.3).
    const { challenge: nonce, domain } = options ?? { challenge: '' }
    const audience = domain ?? (await peersOf(wallet.db, record)).theirDid
    const holderKey = await findHolderKey(wallet, record, { sdJwt, subject })
    return presentSdJwt({
      sdJwt,
      claims: shownClaims,
      audience,
      nonce,
      holderKey,
      now: Math.floor(Date.now() / 1_000),
    })
  },

  attach: (presentation) => tokenAttachments(presentation, 'SDJWT'),

  async verify(wallet, record, presentation) {
    const { shown, ...verdict } = await judge(wallet, record, () => readSdJwt(presentation, false))
    const disclosedClaims = PresentationData.shape.disclosedClaims.parse(shown[0]?.claims)
    return { ...verdict, ...(verdict.refusal === undefined && { disclosedClaims }) }
  },
}

async function getOne(wallet: Wallet, proofId: string[]): Promise<HeldCredential> {
  if (proofId.length > 1)
    throw new Problem(
      'BadRequest',
      `proofId names ${proofId.length} credentials: an SDJWT presentation is of exactly one.`,
    )
  const [held] = await getHeldCredentials(wallet.db, proofId, 'SDJWT')
  return held!
}

async function checkClaims(
  wallet: Wallet,
  record: PresentationRecord,
  { id, credential: sdJwt, subject }: HeldCredential,
  chosen: PresentOptions['claims'],
): Promise<void> {
  const missing = findMissing(sdJwt, chosen ?? record.claims ?? {})
  if (missing !== undefined) {
    const way = chosen
      ? 'Name claims that it has.'
      : 'Present another, or name the claims to show in `claims`.'
    throw new Problem(
      'BadRequest',
      `The credential ${id} has no claim ${missing}, which ${chosen ? 'is to be shown' : 'was asked for'}. ${way}`,
    )
  }
  await findHolderKey(wallet, record, { sdJwt, subject })
}

/** The key that a credential is bound to, if any. @throws {Problem} `HolderBindingError` if the wallet lacks the key or the request a challenge */
export async function findHolderKey(
  wallet: Wallet,
  { options }: Pick<PresentationRecord, 'options'>,
  { sdJwt, subject }: { sdJwt: string; subject: string | null },
): Promise<PrivateJwk | undefined> {
  const decoded = decodeSdJwt(sdJwt)
  if (!decoded.isBound) return undefined
  if (!options)
    throw unbindable(
      'The request has no challenge, and the credential is bound to a key: ask the verifier for a request with options.',
    )
  const key = await findBoundKey(wallet, subject, decoded)
  if (!key) throw unbindable('The credential is bound to a key that this wallet does not have.')
  return key
}
