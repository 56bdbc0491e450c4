/** Issuing JWT credentials. */
import { issueJwtVc, readJwtVc, verifyJwtVc } from '../../../credentials/jwt-vc.ts'
import type { JsonObject } from '../../../base/json.ts'
import { findMismatch } from '../refusals.ts'
import { tokenFormat } from './token.ts'

/** The claims without the subject's `id`. */
function withoutId(claims: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(claims).filter(([name]) => name !== 'id'))
}

export const jwt = tokenFormat({
  format: 'JWT',

  sign: (_, { claims, schemaIds: schemas, issuingKid, validityPeriod }, { keyId: _unused, ...signing }) =>
    issueJwtVc({
      ...signing,
      claims,
      schemas,
      ...(issuingKid !== undefined && { kid: issuingKid }),
      ...(validityPeriod !== undefined && { validityPeriod }),
    }),

  async verify(_, record, token, checks) {
    const verified = await verifyJwtVc(token, checks)
    const offered = { claims: withoutId(record.claims), schemas: record.schemaIds }
    return {
      ...verified,
      mismatch: findMismatch(offered, { claims: withoutId(verified.claims), schemas: verified.schemas }),
    }
  },

  read(text) {
    const { jws, credential } = readJwtVc(text)
    return { ...credential, claims: withoutId(credential.claims), header: jws.header, payload: jws.payload }
  },
})
