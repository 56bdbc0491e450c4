/** DIDComm envelopes: valid ones, and ones with any part changed. */
import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { PrivateJwk } from '../../src/foundation/crypto/keys.ts'
import type { PrivateKey } from '../../src/exchange/didcomm/jwe.ts'
import { encrypt, packAnoncrypt } from '../../src/exchange/didcomm/pack.ts'
import { forge, signed } from '../exchange/didcomm/_forge.ts'
import { recipientOf } from '../support/party.ts'
import type { Draw } from './_draw.ts'
import { Members, Raw, writeJson } from './_json.ts'
import type { Message } from './_message.ts'
import { bend, names, nasty, nastyText } from './_nasty.ts'

export type Sender = { did: string; own: PrivateKey; signing: { kid: string; privateJwk: PrivateJwk } }

/** The kinds of changes. `good` changes nothing. */
export const ways = {
  good: 25,
  plaintext: 35,
  'any plaintext': 5,
  seal: 7,
  header: 12,
  parts: 10,
  outer: 8,
  bytes: 4,
} as const
export type Way = keyof typeof ways

/** The body of a POST to the DIDComm endpoint. */
export function makeEnvelope(
  draw: Draw,
  way: Way,
  sender: Sender,
  to: string,
  message: Message,
): string | Uint8Array {
  const plaintext = {
    id: randomUUID(),
    typ: 'application/didcomm-plain+json',
    from: sender.did,
    body: {},
    ...message,
    to: [to],
  }
  const recipients = [recipientOf(to)]
  const seal = (value: unknown) =>
    encrypt(Buffer.from(writeJson(value)), { sender: sender.own, recipients, enc: 'A256CBC-HS512' })
  switch (way) {
    case 'good':
      return seal(plaintext)
    case 'plaintext':
      return seal(bend(draw, plaintext, 1 + draw.below(3)))
    case 'any plaintext':
      return encrypt(anyBytes(draw), { sender: sender.own, recipients, enc: 'A256CBC-HS512' })
    case 'seal':
      return otherwiseSealed(draw, sender, to, plaintext)
    case 'header':
      return forge({
        plaintext,
        recipients,
        ...(draw.share(0.7) && { sender: sender.own }),
        ...badHeader(draw),
      })
    case 'parts':
      return writeJson(badParts(draw, JSON.parse(seal(plaintext)) as Record<string, unknown>))
    case 'outer':
      return writeJson(bend(draw, JSON.parse(seal(plaintext)), 1 + draw.below(3)))
    case 'bytes':
      return spoil(draw, Buffer.from(seal(plaintext)))
  }
}

function otherwiseSealed(
  draw: Draw,
  sender: Sender,
  to: string,
  plaintext: Message & { to: string[] },
): string {
  const recipients = [recipientOf(to)]
  const inAnother = (inner: string) =>
    encrypt(Buffer.from(inner), { recipients, enc: draw.of(['A256GCM', 'XC20P', 'A256CBC-HS512']) })
  switch (draw.kind({ anonymous: 2, signed: 2, nested: 2, forged: 1, plain: 1 })) {
    case 'anonymous':
      return packAnoncrypt(plaintext as never, { recipients })
    case 'signed':
      return inAnother(writeJson(bend(draw, signed(plaintext, [sender.signing]), draw.below(3))))
    case 'nested':
      return Array.from({ length: 1 + draw.below(6) }).reduce<string>(
        inAnother,
        encrypt(Buffer.from(JSON.stringify(plaintext)), {
          sender: sender.own,
          recipients,
          enc: 'A256CBC-HS512',
        }),
      )
    case 'forged':
      return forge({ plaintext: { ...plaintext, from: nastyText(draw) }, recipients, sender: sender.own })
    case 'plain':
      return JSON.stringify(plaintext)
  }
}

// prettier-ignore
const members: readonly (readonly [string, readonly unknown[]])[] = [
  ['alg', ['none', 'dir', 'RSA1_5', 'PBES2-HS512+A256KW', 'ECDH-ES', 'ECDH-1PU+A256KW', 'ECDH-ES+A256KW']], ['enc', ['none', 'A128GCM', 'A256GCM', 'XC20P', 'A256CBC-HS512']],
  ['zip', ['DEF']], ['crit', [['exp'], []]], ['b64', [false]], ['p2c', [2_000_000_000]], ['typ', ['JWT', '', 'application/didcomm-plain+json']], ['jwk', [{}]], ['cty', ['x']],
  ['apu', ['', '-', 'AAAA', 'ZGlkOnBlZXI6MiN4', undefined]], ['apv', ['', 'AAAA', undefined]], ['skid', ['', 'did:x#y', 'did:web:127.0.0.1%3A1#k', `did:prism:${'0'.repeat(64)}#k`, 'did:peer:2#k', 'did:key:z6Mk#z6Mk', undefined]],
  ['epk', [
    undefined, {}, { kty: 'OKP', crv: 'X25519', x: '' }, { kty: 'OKP', crv: 'X25519', x: Buffer.alloc(32).toString('base64url') }, { kty: 'OKP', crv: 'X25519', x: `AQ${'A'.repeat(41)}` },
    { kty: 'OKP', crv: 'X25519', x: 'A'.repeat(100_000) }, { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' }, { kty: 'EC', crv: 'P-256', x: 'A'.repeat(43), y: 'A'.repeat(43) }, { kty: 'EC', crv: 'P-521', x: 'AA' },
    { kty: 'EC', crv: 'X25519', x: 'A'.repeat(43) }, { kty: 'OKP', crv: 'P-384', x: 'A'.repeat(64), y: 'A'.repeat(64) },
  ]],
]

/** Changes a header and keeps the rest of the envelope consistent with it. */
function badHeader(draw: Draw) {
  if (draw.share(0.2))
    return { headerText: (json: string) => Buffer.from(spoil(draw, Buffer.from(json))).toString() }
  if (draw.share(0.2)) return { headerText: (json: string) => writeJson(bend(draw, JSON.parse(json))) }
  if (draw.share(0.15))
    return {
      headerText: (json: string) =>
        writeJson(
          new Members([
            ...Object.entries(JSON.parse(json) as object),
            [draw.of(['alg', 'epk', ...names]), nasty(draw)],
          ]),
        ),
    }
  const [name, values] = draw.of(members)
  const value = draw.of(values)
  // Members for key derivation must be strings. JSON accepts any value for the others.
  return {
    headerText: (json: string) =>
      writeJson({ ...(JSON.parse(json) as object), [name]: draw.share(0.8) ? value : nasty(draw) }),
  }
}

const alphabet = fc.base64String({ maxLength: 200 })
const someBytes = fc.uint8Array({ maxLength: 300 })

/** Replaces or damages a part of a JWE. */
function badParts(draw: Draw, jwe: Record<string, unknown>): unknown {
  const recipients = jwe['recipients'] as { encrypted_key: string; header: object }[]
  const name = draw.of(['iv', 'tag', 'ciphertext', 'protected', 'encrypted_key', 'recipients', 'kid'])
  const damage = (text: string) => {
    const bytes = Buffer.from(text, 'base64url')
    if (draw.share(0.5) && bytes.length > 0) bytes[draw.below(bytes.length)]! ^= 1 << draw.below(8)
    return draw.kind({ flipped: 3, cut: 1, longer: 1, alphabet: 1, any: 1 }) === 'flipped'
      ? bytes.toString('base64url')
      : draw.of([
          text.slice(0, draw.below(text.length)),
          text + text,
          `${text}==`,
          text.replaceAll('-', '+'),
          ` ${text}`,
          draw.from(alphabet),
          '',
        ])
  }
  if (name === 'encrypted_key')
    return {
      ...jwe,
      recipients: recipients.map((one) => ({ ...one, encrypted_key: damage(one.encrypted_key) })),
    }
  if (name === 'kid')
    return { ...jwe, recipients: recipients.map((one) => ({ ...one, header: { kid: nastyText(draw) } })) }
  if (name === 'recipients')
    return {
      ...jwe,
      recipients: draw.of([
        [],
        [...recipients, ...recipients],
        Array(101).fill(recipients[0]),
        new Raw(`[${Array(20_000).fill('{}').join(',')}]`),
      ]),
    }
  return { ...jwe, [name]: damage(jwe[name] as string) }
}

/** Bytes with small changes. */
export function spoil(draw: Draw, bytes: Buffer): Uint8Array {
  const at = draw.below(bytes.length + 1)
  const insert = (...inserted: number[]) =>
    Buffer.concat([bytes.subarray(0, at), Buffer.from(inserted), bytes.subarray(at)])
  switch (draw.kind({ cut: 3, invalid: 3, nul: 2, mark: 1, wide: 1, packed: 1, twice: 1, any: 1 })) {
    case 'cut':
      return bytes.subarray(0, at)
    case 'invalid':
      return draw.of([
        insert(0xff),
        insert(0xc0, 0x80),
        insert(0xed, 0xa0, 0x80),
        insert(0xf5, 0x80, 0x80, 0x80),
        insert(0x80),
      ])
    case 'nul':
      return insert(0)
    case 'mark':
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])
    case 'wide':
      return Buffer.from(bytes.toString('latin1'), 'utf16le')
    case 'packed':
      return gzipSync(bytes)
    case 'twice':
      return Buffer.concat([bytes, bytes])
    case 'any':
      return anyBytes(draw)
  }
}

export function anyBytes(draw: Draw): Uint8Array {
  return draw.share(0.5) ? draw.from(someBytes) : Buffer.from(writeJson(nasty(draw)))
}
