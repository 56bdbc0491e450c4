/** Credentials as JWTs (wire.md 4.4). */
import { readJwtVc } from '../../../credentials/credential.ts'
import { issueJwtVc, verifyJwtVc } from '../../../credentials/jwt-vc.ts'
import { tokenFormat } from './token.ts'

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

  verify: (_, __, token, checks) => verifyJwtVc(token, checks),

  read(text) {
    const { jws, credential } = readJwtVc(text)
    // The subject's id is no claim about it.
    const claims = Object.fromEntries(Object.entries(credential.claims).filter(([name]) => name !== 'id'))
    return { ...credential, claims, header: jws.header, payload: jws.payload }
  },
})
