/**
 * The OpenSSL objects behind JWKs that are used again and again: made once, and those kept that were used last.
 *
 * Each takes more than a kilobyte outside of the JavaScript heap, where the garbage collector does not see it. So what is used once, such as
 * the key that a sender makes for one message, has no place among them.
 */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { PrivateJwk, PublicJwk } from './keys.ts'

/** Private ones, and as many public ones: enough for the connections in which something is going on. */
const max = 500

const privateObjects = new LRUCache<string, KeyObject>({ max })
const publicObjects = new LRUCache<string, KeyObject>({ max })

/** Whether the object of a public key is among those kept. */
export function isKept(jwk: PublicJwk): boolean {
  return publicObjects.has(nameOf(jwk))
}

/** The object of a private key. */
export function privateObject(jwk: PrivateJwk): KeyObject {
  // The public half belongs to the name: a mismatched pair must not meet the cached good one.
  return keep(privateObjects, `${jwk.crv}:${jwk.x}:${jwk.d}`, () =>
    createPrivateKey({ key: { ...publicMembers(jwk), d: jwk.d }, format: 'jwk' }),
  )
}

/** The object of a public key. */
export function publicObject(jwk: PublicJwk): KeyObject {
  return keep(publicObjects, nameOf(jwk), () => passingObject(jwk))
}

/** The object of a public key that does not come again: it is not kept. */
export function passingObject(jwk: PublicJwk): KeyObject {
  return createPublicKey({ key: publicMembers(jwk), format: 'jwk' })
}

function nameOf({ crv, x, y = '' }: PublicJwk): string {
  return `${crv}:${x}:${y}`
}

function publicMembers({ kty, crv, x, y }: PublicJwk): PublicJwk {
  return y === undefined ? { kty, crv, x } : { kty, crv, x, y }
}

function keep(objects: LRUCache<string, KeyObject>, id: string, make: () => KeyObject): KeyObject {
  const object = objects.get(id) ?? make()
  objects.set(id, object)
  return object
}
