/**
 * Type metadata of SD-JWT VCs (draft-ietf-oauth-sd-jwt-vc, "SD-JWT VC Type Metadata"): integrity of the
 * document, which claims a credential must have, and which must, may or must not be selectively disclosable.
 */
import { hash } from 'node:crypto'
import * as z from 'zod'
import { isJsonObject, type JsonObject } from '../../../foundation/json.ts'
import { VerificationError } from '../verification-error.ts'

/** A string is a member of an object, a number an index of an array, null all elements of an array. */
const ClaimPath = z.array(z.union([z.string(), z.int().nonnegative(), z.null()])).min(1)

const ClaimMetadata = z.looseObject({
  path: ClaimPath,
  sd: z.enum(['always', 'allowed', 'never']).optional(),
  mandatory: z.boolean().optional(),
})
export type ClaimMetadata = z.infer<typeof ClaimMetadata>

export const TypeMetadata = z.looseObject({
  vct: z.string(),
  name: z.string().optional(),
  description: z.string().optional(),
  extends: z.string().optional(),
  'extends#integrity': z.string().optional(),
  claims: z.array(ClaimMetadata).max(500).optional(),
})
export type TypeMetadata = z.infer<typeof TypeMetadata>

/** The integrity metadata of a document, for `vct#integrity`. */
export function integrityOf(document: Uint8Array): string {
  return `sha256-${hash('sha256', document, 'base64')}`
}

/** Whether the claims at a path must, may or must not be selectively disclosable. Default: `allowed`. */
export function disclosureOf(
  { claims = [] }: Pick<TypeMetadata, 'claims'>,
  path: readonly (string | number)[],
): NonNullable<ClaimMetadata['sd']> {
  const rules = claims.flatMap(({ path: pattern, sd }) =>
    sd !== undefined && sd !== 'allowed' && fits(pattern, path) ? [sd] : [],
  )
  if (rules.includes('always') && rules.includes('never'))
    throw new VerificationError(
      'malformed',
      `The type metadata says always and never about the claim ${path.join('.')}`,
    )
  return rules[0] ?? 'allowed'
}

function fits(pattern: ClaimMetadata['path'], path: readonly (string | number)[]): boolean {
  return (
    path.length === pattern.length &&
    path.every((part, i) => part === pattern[i] || (pattern[i] === null && typeof part === 'number'))
  )
}

/** The first mandatory path that selects no claim. Claims are complete, without digests. */
export function findMissing({ claims = [] }: TypeMetadata, complete: JsonObject): ClaimMetadata | undefined {
  return claims.find(({ path, mandatory }) => mandatory === true && !hasClaim(complete, path))
}

function hasClaim(value: unknown, [part, ...below]: readonly ClaimMetadata['path'][number][]): boolean {
  if (part === undefined) return true
  if (typeof part === 'string')
    return isJsonObject(value) && Object.hasOwn(value, part) && hasClaim(value[part], below)
  const elements = Array.isArray(value) ? (part === null ? value : value.slice(part, part + 1)) : []
  return elements.some((element) => hasClaim(element, below))
}
