/**
 * Type metadata with those that they extend (draft-ietf-oauth-sd-jwt-vc, "Extending Type Metadata"): a type
 * has the display of the nearest that has one, and the claims of all, of which its own come first.
 */
import { readTypeMetadata } from '../codecs/sd-jwt/type-check.ts'
import type { ClaimMetadata, TypeMetadata } from '../codecs/sd-jwt/type-metadata.ts'
import { VerificationError } from '../codecs/verification-error.ts'

/** The most types that extend each other. */
const maxTypes = 5

/** Where type metadata are, and the digest of the document. */
export type TypeReference = { vct: string; integrity: string }

/**
 * Reads type metadata and those that they extend. `read` returns the document at a URL, and may throw.
 *
 * @throws {VerificationError} `malformed`
 */
export async function readTypeChain(
  first: TypeReference,
  read: (url: string) => Promise<Uint8Array>,
): Promise<TypeMetadata> {
  const chain: TypeMetadata[] = []
  let next: TypeReference | undefined = first
  while (next) {
    const { vct } = next
    if (chain.some((type) => type.vct === vct)) throw malformed('extend themselves')
    if (chain.length === maxTypes) throw malformed(`extend each other more than ${maxTypes} times`)
    const type = readTypeMetadata(await read(vct), next)
    chain.push(type)
    const { extends: parent, 'extends#integrity': integrity } = type
    if (parent !== undefined && integrity === undefined)
      throw malformed('extend a type without the digest of its metadata (extends#integrity)')
    next = parent === undefined ? undefined : { vct: parent, integrity: integrity! }
  }
  return chain.reduceRight((parent, child) => merge(child, parent))
}

function merge(child: TypeMetadata, parent: TypeMetadata): TypeMetadata {
  const display = child['display'] ?? parent['display']
  const own = child.claims ?? []
  const inherited = parent.claims ?? []
  const keyOf = ({ path }: ClaimMetadata) => JSON.stringify(path)
  const claims = own.map((claim) => {
    const above = inherited.find((each) => keyOf(each) === keyOf(claim))
    if (!above) return claim
    const isLooser =
      (above.mandatory === true && claim.mandatory === false) ||
      (above.sd !== undefined && above.sd !== 'allowed' && claim.sd !== undefined && claim.sd !== above.sd)
    if (isLooser)
      throw malformed(`loosen the rules for the claim ${claim.path.join('.')} of the type that they extend`)
    return { ...above, ...claim }
  })
  const names = new Set(own.map(keyOf))
  return {
    ...child,
    ...(display !== undefined && { display }),
    claims: [...claims, ...inherited.filter((claim) => !names.has(keyOf(claim)))],
  }
}

function malformed(reason: string): VerificationError {
  return new VerificationError('malformed', `The type metadata ${reason}`)
}
