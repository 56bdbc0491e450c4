/** Decodes JWT credentials. */
import type { JsonObject } from '../../../foundation/json.ts'
import { readJwtVc } from '../../codecs/jwt-vc.ts'
import { signedBy } from '../../codecs/verify.ts'
import { readConfirmation } from '../../codecs/sd-jwt/confirmation.ts'
import type { Decoded } from '../format.ts'

/** @throws {VerificationError} if the text cannot be read */
export function decodeJwt(text: string): Decoded {
  const { jws, credential } = readJwtVc(text)
  const { payload, subjectDid, claims, ...rest } = credential
  const { vc, cnf } = payload
  return {
    ...rest,
    ...readConfirmation(cnf),
    ...(subjectDid !== undefined && { subjectDid }),
    claims: withoutId(claims),
    types: [vc.type].flat().filter((type) => typeof type === 'string'),
    root: vc,
    signed: signedBy(jws, credential.issuerDid),
    isBound: subjectDid !== undefined,
  }
}

/** The claims without the subject's `id`. */
export function withoutId(claims: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(claims).filter(([name]) => name !== 'id'))
}
