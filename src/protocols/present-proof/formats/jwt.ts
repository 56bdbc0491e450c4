/** Presentations of JWT credentials: the holder signs a presentation that contains whole credentials. */
import { Problem } from '../../../base/problem.ts'
import { createJwtVp } from '../../../credentials/jwt-vp.ts'
import { getManagedDid } from '../../../did-registrar/dids.ts'
import { getSigningKey } from '../../../did-registrar/keys.ts'
import { canonicalDid } from '../../../did/document.ts'
import { maxCredentials, readJwtVp } from '../../../presentation/jwt.ts'
import { challengeAttachment, readChallenge, tokenAttachments } from '../../formats.ts'
import type { HeldCredential, ProofFormat } from '../format.ts'
import { getHeldCredentials, unbindable } from '../held-credentials.ts'
import { judge, newOptions, requireFormat } from './token.ts'

export const jwt: ProofFormat = {
  createRequest(wallet, requested, verifier) {
    const options = newOptions(wallet, requested, verifier)
    return { terms: { options }, ...challengeAttachment(options, 'JWT') }
  },

  readRequest: (content) => ({ options: readChallenge(content) }),

  async choose(wallet, _, choice) {
    requireFormat('JWT', choice)
    const { proofId = [], claims: shownClaims } = choice
    if (Object.keys(shownClaims ?? {}).length > 0)
      throw new Problem(
        'BadRequest',
        'claims: the request is for JWT, and a JWT credential is presented as a whole.',
      )
    const held = await getHeldCredentials(wallet.db, proofId, 'JWT')
    await getSigningKey(wallet, subjectOf(held), 'authentication')
    return { proofId, shownClaims }
  },

  async present(wallet, record) {
    const { options } = record
    if (!options) throw new Error(`the record ${record.id} has no options`)
    const held = await getHeldCredentials(wallet.db, record.proofId ?? [], 'JWT')
    const subject = subjectOf(held)
    const { longForm } = await getManagedDid(wallet.db, subject)
    const { privateJwk } = await getSigningKey(wallet, subject, 'authentication')
    return createJwtVp({
      holderDid: longForm,
      holderKey: privateJwk,
      audience: options.domain,
      nonce: options.challenge,
      credentials: held.map(({ credential }) => credential),
    })
  },

  attach: (presentation) => tokenAttachments(presentation, 'JWT'),

  async verify(wallet, record, presentation) {
    const { shown: _, ...verdict } = await judge(wallet, record, () =>
      readJwtVp(presentation, maxCredentials),
    )
    return verdict
  },
}

/** The subject of all credentials. @throws {Problem} if they have different ones */
function subjectOf(held: HeldCredential[]): string {
  const [{ subject }] = held as [HeldCredential]
  if (subject === null || new Set(held.map((each) => canonicalDid(each.subject ?? ''))).size !== 1)
    throw unbindable(
      'proofId: the credentials are about different subjects and cannot be presented together.',
    )
  return subject
}
