/**
 * Restores the claims of an SD-JWT from its payload and disclosures (RFC 9901 §7.1). Every disclosure must
 * match exactly one reachable digest, digests must be unique, and no disclosure may replace a claim.
 */
import { isJsonObject, type JsonObject, setMember } from '../../../foundation/json.ts'
import { VerificationError } from '../verification-error.ts'
import { digestBy, readDisclosure, reserved, type Disclosure } from './disclosure.ts'

/** A disclosure with the path of its claim. Array elements have their index in the path. */
export type LocatedDisclosure = { path: string[]; encoded: string }

export type Unpacked = {
  /** The "Processed SD-JWT Payload": elements of arrays that are not disclosed are left out. */
  claims: JsonObject
  /**
   * The same, where those elements are holes in the arrays (`!(index in array)`), so that the others have the
   * indexes of the issuer.
   */
  located: JsonObject
  disclosures: LocatedDisclosure[]
}

/** The nesting limit of claims, including nested disclosures. */
const maxDepth = 64

/** @throws {VerificationError} `malformed` */
export function unpack(payload: JsonObject, encodedDisclosures: readonly string[]): Unpacked {
  const digest = digestBy(payload['_sd_alg'])
  const byDigest = new Map<string, Disclosure>()
  for (const encoded of encodedDisclosures) {
    const key = digest(encoded)
    if (byDigest.has(key)) throw malformed('A disclosure occurs twice')
    byDigest.set(key, readDisclosure(encoded))
  }
  const unpacked = unpackWith(byDigest, payload)
  if (unpacked.disclosures.length !== byDigest.size)
    throw malformed('A disclosure matches no digest of the token')
  return unpacked
}

function unpackWith(byDigest: ReadonlyMap<string, Disclosure>, payload: JsonObject): Unpacked {
  const seen = new Set<string>()
  const disclosures: LocatedDisclosure[] = []
  let hasHoles = false

  function toObject(object: JsonObject, path: string[]): JsonObject {
    if (path.length > maxDepth) throw malformed(`The claims nest deeper than ${maxDepth}`)
    const claims: JsonObject = {}
    for (const [name, value] of Object.entries(object)) {
      if (name === '_sd' || (name === '_sd_alg' && path.length === 0)) continue
      if (reserved.has(name)) throw malformed(`A claim has the reserved name ${name}`)
      setMember(claims, name, toValue(value, [...path, name]))
    }
    for (const digest of digestsOf(object)) {
      const disclosure = find(digest)
      if (!disclosure) continue
      const { name, value, encoded } = disclosure
      if (name === undefined)
        throw malformed(`A disclosure for the object ${path.join('.') || 'of all claims'} has no name`)
      if (Object.hasOwn(claims, name)) throw malformed(`The claim ${JSON.stringify(name)} occurs twice`)
      disclosures.push({ path: [...path, name], encoded })
      setMember(claims, name, toValue(value, [...path, name]))
    }
    return claims
  }

  function toValue(value: unknown, path: string[]): unknown {
    if (Array.isArray(value)) return toArray(value, path)
    return isJsonObject(value) ? toObject(value, path) : value
  }

  function toArray(array: unknown[], path: string[]): unknown[] {
    if (path.length > maxDepth) throw malformed(`The claims nest deeper than ${maxDepth}`)
    const elements = Array<unknown>(array.length)
    for (const [index, element] of array.entries()) {
      const elementPath = [...path, String(index)]
      if (!isJsonObject(element) || !Object.hasOwn(element, '...')) {
        elements[index] = toValue(element, elementPath)
        continue
      }
      if (Object.keys(element).length !== 1 || typeof element['...'] !== 'string')
        throw malformed(
          `The element ${elementPath.join('.')} has more than a digest, or one that is not a text`,
        )
      const disclosure = find(element['...'])
      if (!disclosure) {
        hasHoles = true
        continue
      }
      if (disclosure.name !== undefined)
        throw malformed(`The disclosure for the array element ${elementPath.join('.')} has a name`)
      disclosures.push({ path: elementPath, encoded: disclosure.encoded })
      elements[index] = toValue(disclosure.value, elementPath)
    }
    return elements
  }

  function find(digest: string): Disclosure | undefined {
    if (seen.has(digest)) throw malformed('A digest occurs twice')
    seen.add(digest)
    return byDigest.get(digest)
  }

  const located = toObject(payload, [])
  return { claims: hasHoles ? (withoutHoles(located) as JsonObject) : located, located, disclosures }
}

function withoutHoles(value: unknown): unknown {
  if (Array.isArray(value)) return value.flatMap((element) => [withoutHoles(element)])
  if (!isJsonObject(value)) return value
  const object: JsonObject = {}
  for (const [name, member] of Object.entries(value)) setMember(object, name, withoutHoles(member))
  return object
}

function digestsOf(object: JsonObject): string[] {
  if (!Object.hasOwn(object, '_sd')) return []
  const { _sd: digests } = object
  if (!Array.isArray(digests) || !digests.every((digest): digest is string => typeof digest === 'string'))
    throw malformed('An _sd is not a list of digests, which are texts')
  return digests
}

function malformed(reason: string): VerificationError {
  return new VerificationError('malformed', reason)
}
