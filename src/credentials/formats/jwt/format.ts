/** Credentials as JWT (W3C VC Data Model 1.1 §6.3.1; OpenID4VCI 1.0 §A.1.1; OpenID4VP 1.0 §B.1). */
import { decodePayload } from '../../codecs/jws.ts'
import { issueJwtVc } from '../../codecs/jwt-vc.ts'
import { createJwtVp } from '../../codecs/jwt-vp.ts'
import { canonicalDid } from '../../../did/document.ts'
import { findDifference } from '../difference.ts'
import type { Format } from '../format.ts'
import { type HeldToken, isSamePair, unbindable } from '../keys.ts'
import { formatNames } from '../../../definitions/format-names.ts'
import { decodeJwt, withoutId } from './decode.ts'
import { partsOf } from './parts.ts'
import { readJwtVp, readUnbound } from './presentation.ts'

export const jwt: Format = {
  id: formatNames.JWT.openid.id,

  decode: decodeJwt,

  partsOf,

  statusFormFor: () => 'application/json',

  sign: ({ claims, schemaIds, issuingKid: kid, validityPeriod }, { keyId: _unused, ...signing }) =>
    issueJwtVc({ ...signing, claims, schemas: [...schemaIds], kid, validityPeriod }),

  findDifference: ({ claims, schemas }, offered) =>
    findDifference(
      { claims: withoutId(offered.claims), schemas: offered.schemaIds },
      { claims: withoutId(claims), schemas },
    ),

  checkType({ types }, offered) {
    const missing = offered.find((type) => !types.includes(type))
    if (missing !== undefined) throw new TypeError(`it is not of the type ${missing}, which was offered`)
  },

  isBoundTo: ({ subjectDid, holderKey }, { did, privateJwk }) =>
    (subjectDid !== undefined && canonicalDid(subjectDid) === did) || isSamePair(holderKey, privateJwk),

  async findHolderKey(keys, { subject }) {
    if (subject === null) throw unbindable('It names no subject that could present it')
    return (await keys.ofDid(subject)).privateJwk
  },

  checkTogether: (held) => void subjectOf(held),

  async present(keys, held, { audience, nonce, now }, isBound) {
    const [{ credential }] = held as [HeldToken]
    if (!isBound) return credential
    const subject = subjectOf(held)
    const { longForm, resolvable } = await keys.formsOf(subject)
    const { keyId, privateJwk: holderKey } = await keys.ofDid(subject)
    const credentials = held.map((each) => each.credential)
    const signer =
      now === undefined
        ? { holderDid: longForm }
        : { holderDid: resolvable, kid: `${resolvable}#${keyId}`, now }
    return createJwtVp({ ...signer, holderKey, audience, nonce, credentials })
  },

  /**
   * Without holder binding, the credential itself is presented (OpenID4VP 1.0 §B.1.3). The libraries of
   * Sphereon send a presentation then too. It is verified like a required one.
   */
  readPresentation: (text, { most, isBound }) =>
    isBound || 'vp' in decodePayload(text) ? readJwtVp(text, most) : readUnbound(text),
}

/** The subject of all credentials, which signs. @throws {Problem} if they have different ones */
function subjectOf(held: readonly HeldToken[]): string {
  const [{ subject }] = held as [HeldToken]
  if (subject === null || new Set(held.map((each) => canonicalDid(each.subject ?? ''))).size !== 1)
    throw unbindable(
      'proofId: the credentials are about different subjects and cannot be presented together.',
    )
  return subject
}
