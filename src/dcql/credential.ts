/** The parts of a credential token that queries refer to. */
import { decodeJwtVc } from '../credentials/jwt-vc.ts'
import { decodeSdJwt, isSdJwt } from '../credentials/sd-jwt/sd-jwt.ts'
import type { DcqlCredential } from './match.ts'

/**
 * Reads a credential that a wallet holds, a compact JWT or an SD-JWT with its disclosures. A JWT is bound to its subject, which signs the
 * presentation.
 *
 * @throws {VerificationError} if it cannot be decoded
 */
export function toDcqlCredential(token: string): DcqlCredential {
  if (isSdJwt(token)) {
    const { vct, processed, holderKey } = decodeSdJwt(token)
    return {
      format: 'dc+sd-jwt',
      types: vct === undefined ? [] : [vct],
      claims: processed,
      isBound: holderKey !== undefined,
    }
  }
  const { payload, subjectDid } = decodeJwtVc(token)
  return {
    format: 'jwt_vc_json',
    types: [payload.vc.type].flat().filter((type) => typeof type === 'string'),
    claims: payload.vc,
    isBound: subjectDid !== undefined,
  }
}
