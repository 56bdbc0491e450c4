/**
 * Where the claims of a credential come from: the offer, then the log-in, then the claims source. A claim has
 * one origin.
 */
import { isJsonObject, setMember } from '../../foundation/json.ts'
import type { CredentialData } from '../issuance/model.ts'
import { claimsOf } from './claims.ts'
import type { ClaimPath } from './claims-source.ts'
import type { ConfigurationRow } from './configurations.ts'
import { documentOf } from './documents.ts'

type Claims = CredentialData['claims']

/** What the agent knows of the claims before it asks the source: those of the offer, and of the log-in. */
export type Known = { offered: Claims; identity?: { claims: Claims } | undefined }

/** The claims that are known, and the paths of those that the source may fill. */
export function originsOf(
  configuration: Pick<ConfigurationRow, 'claims' | 'document'>,
  { offered, identity }: Known,
): { known: Claims; wanted: ClaimPath[] } {
  const isGrouped = documentOf(configuration)?.namespaces === undefined
  let known = offered
  const wanted: ClaimPath[] = []
  for (const { name, namespace } of claimsOf(configuration)) {
    const path = namespace !== undefined && isGrouped ? [namespace, name] : [name]
    if (hasClaim(offered, path)) continue
    if (identity && Object.hasOwn(identity.claims, name))
      known = mergeClaims(known, atPath(path, identity.claims[name]!))
    else wanted.push(path)
  }
  return { known, wanted }
}

function hasClaim(claims: unknown, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true
  return isJsonObject(claims) && Object.hasOwn(claims, name) && hasClaim(claims[name], rest)
}

function atPath([name, ...rest]: readonly string[], value: Claims[string]): Claims {
  const object: Claims = {}
  setMember(object, name!, rest.length === 0 ? value : atPath(rest, value))
  return object
}

/** Claims of two origins, whose objects are joined. */
export function mergeClaims(claims: Claims, others: Claims): Claims {
  const all = { ...claims }
  for (const [name, value] of Object.entries(others)) {
    const own = Object.hasOwn(all, name) ? all[name] : undefined
    setMember(all, name, isClaims(own) && isClaims(value) ? mergeClaims(own, value) : value)
  }
  return all
}

const isClaims = (value: unknown): value is Claims => isJsonObject(value)

/** A schema for a part of the claims, since the source adds others: it requires none. */
export function ofPart(schema: unknown): unknown {
  if (!isJsonObject(schema)) return schema
  const { required: _, properties, ...rest } = schema
  if (!isJsonObject(properties)) return rest
  return {
    ...rest,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, ofPart(property)]),
    ),
  }
}
