/** Published documents of ISO/IEC 18013-5 (`fixtures/mdoc`), and what of it the product reads and never makes. */
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type CborMap, type CborValue, decodeCbor, encodeCbor } from '../../src/foundation/cbor/index.ts'
import { hmac256, macInput } from '../../src/foundation/cose/index.ts'

/** Reads a file of `fixtures/mdoc`, named without `.json`. */
export function readMdoc(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../fixtures/mdoc/${name}.json`, import.meta.url), 'utf8'))
}

/** The member at a path of maps and arrays. */
export function at(value: CborValue, ...path: readonly (string | number)[]): CborValue {
  let found = value
  for (const step of path) found = Array.isArray(found) ? found[step as number] : (found as CborMap).get(step)
  return found
}

/** A COSE_Mac0 with a detached payload, as wallets make them. */
export function makeMac0(key: Uint8Array, payload: Uint8Array): CborValue[] {
  const protectedBytes = encodeCbor(new Map([[1, hmac256]]))
  const headers = decodeCbor(protectedBytes) as CborMap
  const tag = createHmac('sha256', key)
    .update(macInput({ protectedBytes, protected: headers }, payload))
    .digest()
  return [protectedBytes, new Map(), null, tag]
}

/** The checks of a presentation, in their order. */
export const order = [
  'form',
  'query',
  'disclosure',
  'policy',
  'trust',
  'signature',
  'digests',
  'validity',
  'holder-binding',
  'audience',
  'nonce',
  'time',
  'status',
] as const
