/**
 * An SD-JWT's payload and disclosures → claims (RFC 9901 §7.1), strictly: every disclosure belongs to exactly one digest that can be reached,
 * no digest is there twice, and no disclosure takes the place of a claim.
 */
import { isJsonObject, type JsonObject, setMember } from '../../base/json.ts'
import { VerificationError } from '../verification-error.ts'
import { digestBy, readDisclosure, reserved, type Disclosure } from './disclosure.ts'

/** Where a disclosure belongs: names and positions from the outside in. */
export type Placed = { path: string[]; encoded: string }

/** The claims that the disclosures show, and the disclosures in their places. */
export type Unpacked = { claims: JsonObject; placed: Placed[] }

/** How deep claims may nest, disclosures within disclosures counted. */
const maxDepth = 64

/** @throws {VerificationError} `malformed` */
export function unpack(payload: JsonObject, disclosures: readonly string[]): Unpacked {
  const digest = digestBy(payload['_sd_alg'])
  const known = new Map<string, Disclosure>()
  for (const encoded of disclosures) {
    const key = digest(encoded)
    if (known.has(key)) throw malformed('A disclosure is there twice')
    known.set(key, readDisclosure(encoded))
  }
  const walk = new Walk(known)
  const claims = walk.object(payload, [])
  if (walk.placed.length !== known.size) throw malformed('A disclosure belongs to no digest of the token')
  return { claims, placed: walk.placed }
}

class Walk {
  readonly #known: ReadonlyMap<string, Disclosure>
  readonly #seen = new Set<string>()
  readonly placed: Placed[] = []

  constructor(known: ReadonlyMap<string, Disclosure>) {
    this.#known = known
  }

  object(object: JsonObject, path: string[]): JsonObject {
    if (path.length > maxDepth) throw malformed(`The claims nest deeper than ${maxDepth}`)
    const shown: JsonObject = {}
    for (const [name, value] of Object.entries(object)) {
      if (name === '_sd' || (name === '_sd_alg' && path.length === 0)) continue
      if (reserved.has(name)) throw malformed(`A claim is called ${name}`)
      setMember(shown, name, this.#value(value, path, name))
    }
    for (const digest of this.#digests(object)) {
      const disclosure = this.#find(digest)
      if (!disclosure) continue
      const { name, value, encoded } = disclosure
      if (name === undefined) throw malformed('A claim of an object is disclosed without a name')
      if (Object.hasOwn(shown, name)) throw malformed(`The claim ${JSON.stringify(name)} is there twice`)
      this.placed.push({ path: [...path, name], encoded })
      setMember(shown, name, this.#value(value, path, name))
    }
    return shown
  }

  #value(value: unknown, path: string[], name: string): unknown {
    if (Array.isArray(value)) return this.#array(value, [...path, name])
    return isJsonObject(value) ? this.object(value, [...path, name]) : value
  }

  #array(array: unknown[], path: string[]): unknown[] {
    if (path.length > maxDepth) throw malformed(`The claims nest deeper than ${maxDepth}`)
    return array.flatMap((element, index) => {
      const place = String(index)
      if (!isJsonObject(element) || !Object.hasOwn(element, '...')) return [this.#value(element, path, place)]
      if (Object.keys(element).length !== 1 || typeof element['...'] !== 'string')
        throw malformed('The digest of an element is no text by itself')
      const disclosure = this.#find(element['...'])
      if (!disclosure) return []
      if (disclosure.name !== undefined) throw malformed('An element of an array is disclosed with a name')
      this.placed.push({ path: [...path, place], encoded: disclosure.encoded })
      return [this.#value(disclosure.value, path, place)]
    })
  }

  #digests(object: JsonObject): string[] {
    if (!Object.hasOwn(object, '_sd')) return []
    const { _sd: digests } = object
    if (!Array.isArray(digests) || !digests.every((digest): digest is string => typeof digest === 'string'))
      throw malformed('An _sd is no list of digests')
    return digests
  }

  #find(digest: string): Disclosure | undefined {
    if (this.#seen.has(digest)) throw malformed('A digest is there twice')
    this.#seen.add(digest)
    return this.#known.get(digest)
  }
}

function malformed(reason: string): VerificationError {
  return new VerificationError('malformed', reason)
}
