/** Issuing SD-JWT VCs of the media type `dc+sd-jwt`, bound to a key of the holder: with a key of a DID on any curve, or of an issuer certificate. */
import { issueSdJwtVc } from '../../../credentials/sd-jwt/sd-jwt-vc.ts'
import type { PublicJwk } from '../../../crypto/keys.ts'
import { expiryOf, sdJwtToken, withoutExpiry } from './sd-jwt.ts'
import { tokenFormat } from './token.ts'

const { curve: _any, ...sdJwt } = sdJwtToken

export const sdJwtVc = tokenFormat({
  ...sdJwt,
  statusForm: 'application/statuslist+jwt',

  sign(wallet, record, { issuerDid: issuer, issuerKey, keyId, x5c, tokenStatus: status, now }) {
    const { openid4vci, holderKey, id } = record
    if (!openid4vci?.type) throw new Error(`the record ${id} has no type`)
    return issueSdJwtVc({
      issuer,
      issuerKey,
      ...(x5c ? { x5c } : { kid: `${issuer}#${keyId}` }),
      claims: withoutExpiry(record.claims),
      type: openid4vci.type.metadata,
      integrity: openid4vci.type.integrity,
      ...(holderKey && { holderKey: holderKey as PublicJwk }),
      status,
      issuedAt: now,
      expiresAt: Math.floor(expiryOf(wallet, record, now)),
    })
  },
})
