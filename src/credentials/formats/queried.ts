/** What queries in DCQL refer to in a credential. */
import type { DcqlCredential } from '../dcql/match.ts'
import type { ClaimsPath } from '../dcql/query.ts'
import type { Decoded } from './format.ts'
import { isJsonObject } from '../../foundation/json.ts'
import { formatOfText, formats } from './index.ts'
import { formatNames, openIdTraits, type TokenFormat } from '../../definitions/format-names.ts'

/** A credential of a wallet. */
export function toQueried(
  format: TokenFormat,
  { types, root, isBound, claims }: Decoded,
): DcqlCredential & { claimPaths: ClaimsPath[] } {
  const { id } = formatNames[format].openid
  const { claimsRoot, claimDepth } = openIdTraits(id)
  // The order of disclosures is random.
  const claimPaths = sortedNames(claims)
    .flatMap((name) =>
      claimDepth === 1 ? [[name]] : sortedNames(claims[name]).map((element) => [name, element]),
    )
    .map((path) => [...claimsRoot, ...path])
  return { format: id, types, claims: root, isBound, claimPaths }
}

const sortedNames = (value: unknown) => (isJsonObject(value) ? Object.keys(value).toSorted() : [])

/**
 * With the paths of the claims about the subject, each whole.
 *
 * @throws {VerificationError} if the text cannot be read
 */
export function readQueried(text: string): ReturnType<typeof toQueried> {
  const format = formatOfText(text)
  return toQueried(format, formats[format].decode(text))
}
