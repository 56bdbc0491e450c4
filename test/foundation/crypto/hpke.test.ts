/** HPKE: the values of RFC 9180 A.3.1, an exchange of another implementation, and messages that do not open. */
import { describe, expect, test } from 'vitest'
import { fromBase64, fromHex, toHex, utf8 } from '../../../src/foundation/bytes.ts'
import { decodeCbor } from '../../../src/foundation/cbor/index.ts'
import { openBase, sealBase } from '../../../src/foundation/crypto/hpke.ts'
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { fromPrivateBytes } from '../../../src/foundation/crypto/p256.ts'
import { at, readMdoc } from '../../support/mdoc.ts'

type Hex<Names extends string> = Record<Names, string>
const { hpke, exchange } = readMdoc('annex-c') as {
  hpke: Hex<'info' | 'skEm' | 'skRm' | 'pkRm' | 'enc' | 'aad' | 'plaintext' | 'ciphertext'>
  exchange: Hex<'recipientPrivateKey' | 'sessionTranscript' | 'deviceResponse' | 'responseBase64url'>
}
const recipient = fromPrivateBytes(fromHex(hpke.skRm))
const context = { info: fromHex(hpke.info), aad: fromHex(hpke.aad) }
const published = { enc: fromHex(hpke.enc), ciphertext: fromHex(hpke.ciphertext) }

test('the values of the RFC', () => {
  const sealed = sealBase(recipient, fromHex(hpke.plaintext), context, fromPrivateBytes(fromHex(hpke.skEm)))
  expect([toHex(sealed.enc), toHex(sealed.ciphertext)]).toEqual([hpke.enc, hpke.ciphertext])
  expect(toHex(openBase(recipient, published, context))).toBe(hpke.plaintext)
})

test('a response of ISO/IEC TS 18013-7 Annex C opens', () => {
  const response = decodeCbor(fromBase64(exchange.responseBase64url))
  const [enc, ciphertext] = ['enc', 'cipherText'].map((name) => at(response, 1, name) as Uint8Array)
  const message = { enc: enc!, ciphertext: ciphertext! }
  const opened = openBase(fromPrivateBytes(fromHex(exchange.recipientPrivateKey)), message, {
    info: fromHex(exchange.sessionTranscript),
  })
  expect(toHex(opened)).toBe(exchange.deviceResponse)
})

test('each message has a key of its own', () => {
  const [one, other] = [1, 2].map(() => sealBase(toPublic(recipient), utf8('text'), context))
  expect(one!.enc).not.toEqual(other!.enc)
  for (const message of [one!, other!])
    expect(toHex(openBase(recipient, message, context))).toBe(toHex(utf8('text')))
})

describe('a message does not open', () => {
  const wrong = 'encrypted to another key or for another request, or was changed'
  const flipped = (bytes: Uint8Array) => bytes.with(0, bytes[0]! ^ 1)
  test.each([
    ['with another key', generateKey('P-256'), published, context, wrong],
    ['with another info', recipient, published, { ...context, info: utf8('x') }, wrong],
    ['with another aad', recipient, published, { info: context.info }, wrong],
    [
      'that was changed',
      recipient,
      { ...published, ciphertext: flipped(published.ciphertext) },
      context,
      wrong,
    ],
    [
      'that was cut',
      recipient,
      { ...published, ciphertext: published.ciphertext.subarray(1) },
      context,
      wrong,
    ],
    ['shorter than its tag', recipient, { ...published, ciphertext: new Uint8Array(15) }, context, wrong],
    ['of another sender', recipient, { ...published, enc: fromHex(hpke.pkRm) }, context, wrong],
    [
      'of no point',
      recipient,
      { ...published, enc: flipped(published.enc) },
      context,
      'not an uncompressed point of P-256',
    ],
    [
      'of a point not on the curve',
      recipient,
      { ...published, enc: Uint8Array.of(4, ...new Uint8Array(64)) },
      context,
      'not an uncompressed point of P-256',
    ],
  ])('%s', (_what, key, message, { info, aad }: { info: Uint8Array; aad?: Uint8Array }, reason) => {
    expect(() => openBase(key, message, { info, ...(aad && { aad }) })).toThrow(reason)
  })
})
