/**
 * Caches of OpenSSL key objects for JWKs, and of Diffie–Hellman secrets, for keys that are used repeatedly.
 *
 * An object takes more than a kilobyte outside of the JavaScript heap, which the garbage collector does not
 * count. So objects of keys that are used once, such as ephemeral keys of messages, are not cached.
 */
import { createPrivateKey, createPublicKey, diffieHellman, type KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { PrivateJwk, PublicJwk } from './keys.ts'
import { assertNotSmallOrder } from './small-order.ts'

/** Cached private keys, and as many public keys: enough for the active connections. */
const max = 500

const privateObjects = new LRUCache<string, KeyObject>({ max })
const publicObjects = new LRUCache<string, KeyObject>({ max })

/** The secret of two parties is the same for all their messages, and takes half of a message's time. */
const secrets = new LRUCache<string, Uint8Array>({ max, dispose: (secret) => secret.fill(0) })

/** Whether the object of a public key is cached. */
export function isKept(jwk: PublicJwk): boolean {
  return publicObjects.has(nameOf(jwk))
}

export function privateObject(jwk: PrivateJwk): KeyObject {
  return keep(privateObjects, nameOfPair(jwk), () =>
    createPrivateKey({ key: { ...publicMembers(jwk), d: jwk.d }, format: 'jwk' }),
  )
}

/** The Diffie–Hellman secret of two cached keys. The caller overwrites this copy with zeros. */
export function sharedSecret(privateJwk: PrivateJwk, publicJwk: PublicJwk): Uint8Array {
  const agree = () =>
    diffieHellman({ privateKey: privateObject(privateJwk), publicKey: publicObject(publicJwk) })
  return Uint8Array.from(keep(secrets, `${nameOfPair(privateJwk)}:${nameOf(publicJwk)}`, agree))
}

/** The object of a public key, cached. @throws as `passingObject` */
export function publicObject(jwk: PublicJwk): KeyObject {
  return keep(publicObjects, nameOf(jwk), () => passingObject(jwk))
}

/**
 * The object of a public key, not cached.
 *
 * @throws {Error} if it is not a point of its curve, or of small order
 */
export function passingObject(jwk: PublicJwk): KeyObject {
  assertNotSmallOrder(jwk)
  return createPublicKey({ key: publicMembers(jwk), format: 'jwk' })
}

/** Whether a public key is a point of its curve, and not of small order. */
export function isPoint(jwk: PublicJwk): boolean {
  try {
    passingObject(jwk)
    return true
  } catch {
    return false
  }
}

/** The cache key contains the public half: a mismatched pair must not get the object of the correct one. */
function nameOfPair({ d, ...jwk }: PrivateJwk): string {
  return `${nameOf(jwk)}:${d}`
}

function nameOf({ crv, x, y = '' }: PublicJwk): string {
  return `${crv}:${x}:${y}`
}

function publicMembers({ kty, crv, x, y }: PublicJwk): PublicJwk {
  return y === undefined ? { kty, crv, x } : { kty, crv, x, y }
}

function keep<Kept extends {}>(all: LRUCache<string, Kept>, id: string, make: () => Kept): Kept {
  const known = all.get(id)
  if (known !== undefined) return known
  const made = make()
  all.set(id, made)
  return made
}
