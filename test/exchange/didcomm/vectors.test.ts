/**
 * The published vectors of DIDComm v2.1 and of didcomm-rust. Valid ones open to their plaintext, invalid ones
 * are refused, and packing the same content gives the same bytes wherever nothing is random.
 *
 * This agent makes no ES256 signatures. ES256K signatures are not compared: the published ones have a random
 * nonce. `jws-two-signatures-second-wrong` is refused, because every signature must be valid.
 */
import { describe, expect, test } from 'vitest'
import { fromUtf8, toBase64url, utf8 } from '../../../src/foundation/bytes.ts'
import { Problem } from '../../../src/foundation/problem.ts'
import { type PrivateJwk, sign } from '../../../src/foundation/crypto/keys.ts'
import { type DidDocument, didOf, keysFor } from '../../../src/did/document.ts'
import { parseEnvelope } from '../../../src/exchange/didcomm/jwe.ts'
import { verifyJws } from '../../../src/exchange/didcomm/jws.ts'
import {
  attachmentBytes,
  parseMessage,
  plaintextType,
  type PlaintextMessage,
  writeMessage,
} from '../../../src/exchange/didcomm/message.ts'
import { unpack } from '../../../src/exchange/didcomm/unpack.ts'
import { named, type PublishedVector, readPublished } from '../../support/vectors.ts'
import { type Derived, expectPacked, packAgain, peel } from './_packing.ts'

type Vector = PublishedVector & {
  packed?: unknown
  packedRef?: string
  plaintext?: unknown
  /** The text of each layer, from the outside in. */
  layers?: string[]
  /** Keys of the outermost layer. */
  derived?: Derived
  metadata?: {
    authenticated: boolean
    anonymousSender: boolean
    authcrypt?: { senderKid?: string }
    signature?: { kid: string }
  }
  secretKids?: string[]
  secretOverrides?: (PrivateJwk & { kid: string })[]
  next?: string
  inner?: { plaintext: unknown }
}
type Published = {
  didDocuments: Record<string, DidDocument>
  secrets: Record<string, (PrivateJwk & { kid: string })[]>
  vectors: Vector[]
}
type Jws = {
  payload: string
  signatures: { protected: string; signature: string; header: { kid: string } }[]
}

/**
 * Vectors that the publisher refuses and this agent accepts: it ignores `from_prior`, and reads a missing
 * body as empty.
 */
const deviations = [
  'plaintext-from-prior-not-a-jwt',
  'plaintext-from-prior-signature-not-canonical',
  'plaintext-from-prior-sub-is-not-from',
  'plaintext-invalid-no-body',
]

const parse = (text: string) => JSON.parse(text) as unknown

describe.each(['didcomm-v2', 'didcomm-rust'])('%s', (name) => {
  const { didDocuments, secrets, vectors } = readPublished(name) as Published

  const resolve = async (did: string) => didDocuments[did] ?? Promise.reject(new Error('unknown'))
  const packedOf = (vector: Vector): string => {
    const packed = vector.packed ?? vectors.find(({ id }) => id === vector.packedRef)!.packed
    return typeof packed === 'string' ? packed : JSON.stringify(packed)
  }
  const all = new Map(
    Object.values(secrets).flatMap((list) => list.map((jwk) => [jwk.kid, jwk as PrivateJwk])),
  )
  const publicJwkOf = (kid: string) =>
    keysFor(didDocuments[didOf(kid)]!, 'keyAgreement').find(({ id }) => id === kid)!.publicKeyJwk

  const heldBy = (vector: Vector) => {
    const bobs = [...all].filter(([kid]) => didOf(kid) === 'did:example:bob')
    const held = new Map(vector.secretKids ? vector.secretKids.map((kid) => [kid, all.get(kid)!]) : bobs)
    for (const { kid, ...jwk } of vector.secretOverrides ?? []) held.set(kid, jwk)
    return held
  }

  const open = (vector: Vector, text = packedOf(vector), held = heldBy(vector)) => {
    const findPrivateKey = async (kids: string[]) => {
      const kid = kids.find((candidate) => held.has(candidate))
      return kid === undefined ? undefined : { kid, privateJwk: held.get(kid)! }
    }
    return unpack(text, { findPrivateKey, resolve })
  }

  const expectOpen = async (vector: Vector, text: string, held = heldBy(vector)) => {
    const { message, authenticated, anonymous, senderKid, signerKid } = await open(vector, text, held)
    expect(message).toEqual(vector.plaintext)
    const { metadata } = vector
    expect({ authenticated, anonymous, senderKid, signerKid }).toEqual({
      authenticated: metadata!.authenticated,
      anonymous: metadata!.anonymousSender,
      senderKid: metadata!.authcrypt?.senderKid,
      signerKid: metadata!.signature?.kid,
    })
  }

  const openSigned = async (vector: Vector, text = packedOf(vector)): Promise<PlaintextMessage> => {
    let value: unknown
    try {
      value = parse(text)
    } catch (error) {
      throw new Problem('error:DIDCommControllerError:UnpackingFailed', 'not JSON', { cause: error })
    }
    const { payload, signerKids } = await verifyJws(value, resolve)
    const message = parseMessage(payload)
    expect(didOf(signerKids[0]!)).toBe(message.from)
    if (vector.metadata?.signature) expect(signerKids[0]).toBe(vector.metadata.signature.kid)
    return message
  }

  const ofKind = (kind: string, ...outcomes: string[]) =>
    vectors.filter(
      (vector) => vector.kind === kind && outcomes.includes(vector.expect) && !deviations.includes(vector.id),
    )

  /** Those whose every signature is by a key that signs here. */
  const isSignable = (vector: Vector) => {
    const { signatures } = parse(packedOf(vector)) as Partial<Jws>
    return (
      signatures?.every(({ header }) => ['Ed25519', 'secp256k1'].includes(all.get(header.kid)!.crv)) ?? false
    )
  }

  test('every kind of vector has a test below', () => {
    expect(ofKind('encrypted', 'ok').length).toBeGreaterThanOrEqual(6)
    expect(ofKind('signed', 'ok').length).toBeGreaterThanOrEqual(3)
    expect(ofKind('plaintext', 'ok').length).toBeGreaterThanOrEqual(1)
    const run = ['encrypted', 'signed', 'plaintext', 'forward']
    expect(vectors.filter(({ kind }) => !run.includes(kind))).toEqual([])
  })

  test.each(named(ofKind('encrypted', 'ok')))(
    '%s opens, with each of its keys alone',
    async (_name, vector) => {
      const { kids } = parseEnvelope(packedOf(vector))
      const held = [...heldBy(vector)].filter(([kid]) => kids.includes(kid))
      expect(held.length).toBeGreaterThan(0)
      for (const entry of held) await expectOpen(vector, packedOf(vector), new Map([entry]))
    },
  )

  test.each(named(ofKind('encrypted', 'ok')))(
    '%s is packed to the same bytes, and again with new keys',
    async (_name, vector) => {
      const keys = new Map(
        [...all].filter(([kid]) => didOf(kid) !== 'did:example:bob' || heldBy(vector).has(kid)),
      )
      const peeled = peel(packedOf(vector), keys)
      if (vector.layers)
        expect(peeled.map(({ content }) => content)).toEqual(vector.layers.slice(0, peeled.length))
      peeled.forEach((layer, depth) => expectPacked(layer, keys, depth === 0 ? vector.derived : undefined))
      await expectOpen(vector, packAgain(peeled, publicJwkOf, keys))
    },
  )

  test.each(named(ofKind('signed', 'ok')))('%s verifies', async (_name, vector) => {
    expect(await openSigned(vector)).toEqual(vector.plaintext)
  })

  test.each(named(ofKind('signed', 'ok').filter(isSignable)))('%s is signed', async (_name, vector) => {
    const { payload, signatures } = parse(packedOf(vector)) as Jws
    const made = signatures.map((entry) => {
      const key = all.get(entry.header.kid)!
      const signature = toBase64url(sign(key, utf8(`${entry.protected}.${payload}`)))
      if (key.crv === 'Ed25519') expect(signature).toBe(entry.signature)
      return { ...entry, signature }
    })
    expect(await openSigned(vector, JSON.stringify({ payload, signatures: made }))).toEqual(vector.plaintext)
  })

  test.each(named(ofKind('plaintext', 'ok')))('%s is read, and written', (_name, vector) => {
    const message = parseMessage(packedOf(vector))
    expect(message).toEqual(vector.plaintext)
    expect(parse(fromUtf8(writeMessage(message)))).toEqual({
      ...(vector.plaintext as object),
      typ: plaintextType,
    })
  })

  const innermost = vectors.flatMap(({ id, layers }) => (layers ? [[id, layers.at(-1)!] as const] : []))
  test.skipIf(innermost.length === 0).each(innermost)(
    'what is in %s is written to the same bytes',
    (_name, text) => {
      expect(fromUtf8(writeMessage(parseMessage(text)))).toBe(text)
    },
  )

  test.each(named(ofKind('encrypted', 'reject')))('%s is refused', async (_name, vector) => {
    await expect(open(vector)).rejects.toThrow(Problem)
  })

  test.each(named(ofKind('signed', 'reject', 'either')))('%s is refused', async (_name, vector) => {
    await expect(openSigned(vector)).rejects.toThrow(Problem)
  })

  test.each(named(ofKind('plaintext', 'reject')))('%s is refused', (_name, vector) => {
    expect(() => parseMessage(packedOf(vector))).toThrow(Problem)
  })

  test.each(named(vectors.filter(({ id }) => deviations.includes(id))))('%s is accepted', (_name, vector) => {
    expect(parseMessage(packedOf(vector)).id).toBe('1234567890')
  })

  test.each(named(ofKind('forward', 'ok')))('%s holds an envelope that opens', async (_name, vector) => {
    const { body, attachments } = parseMessage(packedOf(vector))
    expect(body).toEqual({ next: vector.next })
    const inner = Buffer.from(attachmentBytes(attachments![0]!)).toString()
    expect((await open(vector, inner)).message).toEqual(vector.inner!.plaintext)
  })
})
