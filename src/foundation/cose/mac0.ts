/** COSE_Mac0: a payload with a MAC (RFC 9052 §6.2). The product reads them and never makes one. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { CborValue } from '../cbor/index.ts'
import { hmac256 } from './algorithms.ts'
import {
  authenticatedBytes,
  type CoseHeaders,
  header,
  payloadOf,
  readMessage,
  type ReadOptions,
} from './message.ts'

export type CoseMac0 = CoseHeaders & { tag: Uint8Array }

export const mac0Tag = 17

/** Reads a COSE_Mac0, which is not verified. @throws {CoseError} */
export function readMac0(value: CborValue, options: ReadOptions = {}): CoseMac0 {
  const { authenticator, ...headers } = readMessage(value, mac0Tag, options)
  return { ...headers, tag: authenticator }
}

/** The bytes that a MAC covers: the MAC_structure of RFC 9052 §6.3. */
export function macInput(
  headers: Pick<CoseHeaders, 'protectedBytes' | 'protected'>,
  payload: Uint8Array,
): Uint8Array {
  return authenticatedBytes('MAC0', headers, payload)
}

/**
 * Verifies a MAC of HMAC 256/256, with a key of 32 bytes. False for any other, and if the payload is not
 * either in the message or given.
 */
export function verifyMac0(mac0: CoseMac0, key: Uint8Array, detachedPayload?: Uint8Array): boolean {
  const payload = payloadOf(mac0, detachedPayload)
  if (payload === undefined || mac0.protected.get(header.alg) !== hmac256) return false
  const expected = createHmac('sha256', key).update(macInput(mac0, payload)).digest()
  return mac0.tag.length === expected.length && timingSafeEqual(mac0.tag, expected)
}
