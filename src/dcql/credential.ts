/** The parts of a credential token that queries refer to. */
import type { JsonObject } from '../base/json.ts'
import { type DecodedCredential, decodeJwtVc } from '../credentials/jwt-vc.ts'
import { type DecodedSdJwt, decodeSdJwt, isSdJwt, registeredClaims } from '../credentials/sd-jwt/sd-jwt.ts'
import { openIdTraits } from '../formats/names.ts'
import type { DcqlCredential } from './match.ts'
import { selectClaims } from './path.ts'
import type { ClaimsPath } from './query.ts'

/**
 * Reads a credential that a wallet holds, a compact JWT or an SD-JWT with its disclosures. A JWT is bound to its subject, which signs the
 * presentation.
 *
 * @throws {VerificationError} if it cannot be decoded
 */
export function toDcqlCredential(token: string): DcqlCredential {
  if (isSdJwt(token)) {
    const decoded = decodeSdJwt(token)
    return ofSdJwt(decoded, decoded.isBound)
  }
  const decoded = decodeJwtVc(token)
  return ofJwt(decoded, decoded.subjectDid !== undefined)
}

/** A decoded SD-JWT. */
export function ofSdJwt(
  { vct, located: claims }: Pick<DecodedSdJwt, 'vct' | 'located'>,
  isBound: boolean,
): DcqlCredential {
  return { format: 'dc+sd-jwt', types: vct === undefined ? [] : [vct], claims, isBound }
}

/** A decoded JWT, whose claims are those of `vc`. */
export function ofJwt(
  { payload: { vc } }: Pick<DecodedCredential, 'payload'>,
  isBound: boolean,
): DcqlCredential {
  const claims: JsonObject = vc
  const types = [vc.type].flat().filter((type) => typeof type === 'string')
  return { format: 'jwt_vc_json', types, claims, isBound }
}

/** The paths of the claims about the subject, each whole, by name: the order of disclosures is random. */
export function claimPathsOf({ format, claims }: Pick<DcqlCredential, 'format' | 'claims'>): ClaimsPath[] {
  const { claimsRoot } = openIdTraits(format)
  const [subject = {}] = selectClaims(claims, [...claimsRoot]) ?? []
  const registered: readonly string[] = claimsRoot.length === 0 ? registeredClaims : ['id']
  return Object.keys(subject as object)
    .filter((name) => !registered.includes(name))
    .toSorted()
    .map((name) => [...claimsRoot, name])
}
