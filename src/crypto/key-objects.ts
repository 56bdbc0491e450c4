/**
 * The OpenSSL objects behind JWKs that are used again and again, and what two of them agree on: made once, and those kept that were used last.
 *
 * Each takes more than a kilobyte outside of the JavaScript heap, where the garbage collector does not see it. So what is used once, such as
 * the key that a sender makes for one message, has no place among them.
 */
import { createPrivateKey, createPublicKey, diffieHellman, type KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { PrivateJwk, PublicJwk } from './keys.ts'

/** Private ones, and as many public ones: enough for the connections in which something is going on. */
const max = 500

const privateObjects = new LRUCache<string, KeyObject>({ max })
const publicObjects = new LRUCache<string, KeyObject>({ max })

/** What is agreed on between the keys of two parties is the same for all of their messages, and half of what one of these takes. */
const secrets = new LRUCache<string, Uint8Array>({ max, dispose: (secret) => secret.fill(0) })

/** Whether the object of a public key is among those kept. */
export function isKept(jwk: PublicJwk): boolean {
  return publicObjects.has(nameOf(jwk))
}

/** The object of a private key. */
export function privateObject(jwk: PrivateJwk): KeyObject {
  return keep(privateObjects, nameOfPair(jwk), () =>
    createPrivateKey({ key: { ...publicMembers(jwk), d: jwk.d }, format: 'jwk' }),
  )
}

/** The Diffie–Hellman secret of two keys that are used again and again: a copy, for the caller to fill with zeros. */
export function sharedSecret(ours: PrivateJwk, theirs: PublicJwk): Uint8Array {
  const agree = () => diffieHellman({ privateKey: privateObject(ours), publicKey: publicObject(theirs) })
  return Uint8Array.from(keep(secrets, `${nameOfPair(ours)}:${nameOf(theirs)}`, agree))
}

/** The object of a public key. */
export function publicObject(jwk: PublicJwk): KeyObject {
  return keep(publicObjects, nameOf(jwk), () => passingObject(jwk))
}

/** The object of a public key that does not come again: it is not kept. */
export function passingObject(jwk: PublicJwk): KeyObject {
  return createPublicKey({ key: publicMembers(jwk), format: 'jwk' })
}

/** The public half belongs to the name: a mismatched pair must not meet the cached good one. */
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
