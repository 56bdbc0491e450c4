/** Proofs with JWTs, each shown as a whole in a presentation that the holder signs (wire.md 5). */
import { Problem } from '../../../base/problem.ts'
import { createJwtVp, verifyJwtVp } from '../../../credentials/jwt-vp.ts'
import { getManagedDid } from '../../../did-registrar/dids.ts'
import { getSigningKey } from '../../../did-registrar/keys.ts'
import { canonicalDid } from '../../../did/document.ts'
import { checkPolicy } from '../../../verification/policies.ts'
import { challengeAttachment, readChallenge } from '../../formats.ts'
import type { Held, ProofFormat } from '../format.ts'
import { getHeld, unbindable } from '../held.ts'
import { attaching, checksOf, requireFormat, getOptions, optionsOf } from './token.ts'

export const jwt: ProofFormat = {
  ask(wallet, wanted) {
    const options = optionsOf(wallet, wanted)
    return { terms: { options }, ...challengeAttachment(options, 'JWT') }
  },

  readRequest: (content) => ({ options: readChallenge(content) }),

  async choose(wallet, _, choice) {
    requireFormat('JWT', choice)
    const { proofId = [], claims: shownClaims } = choice
    if (Object.keys(shownClaims ?? {}).length > 0)
      throw new Problem(
        'BadRequest',
        'claims: the request is for JWT, and a JWT credential is shown as a whole.',
      )
    const held = await getHeld(wallet.db, proofId, 'JWT')
    await getSigningKey(wallet, subjectOf(held), 'authentication')
    return { proofId, shownClaims }
  },

  async present(wallet, record) {
    const { domain: audience, challenge: nonce } = getOptions(record)
    const held = await getHeld(wallet.db, record.proofId ?? [], 'JWT')
    const subject = subjectOf(held)
    const { longForm } = await getManagedDid(wallet.db, subject)
    const { privateJwk } = await getSigningKey(wallet, subject, 'authentication')
    return createJwtVp({
      holderDid: longForm,
      holderKey: privateJwk,
      audience,
      nonce,
      credentials: held.map(({ credential }) => credential),
    })
  },

  attach: attaching('JWT'),

  async verify(wallet, record, presentation) {
    const { checks, credentialChecks } = checksOf(wallet, record)
    const { PRESENTATION_LEEWAY: leewaySeconds } = wallet.env.config
    const { credentials } = await verifyJwtVp(presentation, { ...checks, leewaySeconds, credentialChecks })
    checkPolicy(record.policy?.constraints ?? [], credentials)
    return {}
  },
}

/** The one DID that all credentials are about. */
function subjectOf(held: Held[]): string {
  const [{ subject }] = held as [Held]
  if (subject === null || new Set(held.map((each) => canonicalDid(each.subject ?? ''))).size !== 1)
    throw unbindable(
      'proofId: the credentials are about different subjects and cannot be presented together.',
    )
  return subject
}
