/** Encryption in chunks: content comes back unchanged, or is refused. */
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  chunkLength,
  openChunks,
  prefixLength,
  sealChunks,
} from '../../../src/operations/wallet-export/envelope.ts'
import { createReader } from '../../../src/operations/wallet-export/contents.ts'

const key = { key: randomBytes(32), prefix: randomBytes(prefixLength) }
const sealedLength = chunkLength + 16

async function* inPieces(bytes: Uint8Array, length: number) {
  for (let at = 0; at < bytes.length; at += length)
    yield await Promise.resolve(bytes.subarray(at, at + length))
}

async function all(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const have: Uint8Array[] = []
  for await (const piece of pieces) have.push(Buffer.from(piece))
  return Buffer.concat(have)
}

const seal = (bytes: Uint8Array, pieceLength = 10_000) =>
  all(sealChunks(key, createReader(inPieces(bytes, pieceLength))))
const open = (bytes: Uint8Array, pieceLength = 10_000, with_ = key) =>
  all(openChunks(with_, createReader(inPieces(bytes, pieceLength))))

test.each([0, 1, chunkLength - 1, chunkLength, chunkLength + 1, 3 * chunkLength, 200_000])(
  '%i bytes come back, read in pieces of any length',
  async (length) => {
    const bytes = randomBytes(length)
    const sealed = await seal(bytes)
    expect(sealed.length).toBe(length + 16 * Math.max(1, Math.ceil(length / chunkLength)))
    for (const pieceLength of [997, 65_552, 1_000_000])
      expect((await open(sealed, pieceLength)).equals(bytes)).toBe(true)
  },
)

const whole = await seal(randomBytes(2 * chunkLength + 100))
const chunks = [
  whole.subarray(0, sealedLength),
  whole.subarray(sealedLength, 2 * sealedLength),
  whole.subarray(2 * sealedLength),
]
const join = (...numbers: number[]) => Buffer.concat(numbers.map((number) => chunks[number]!))
const withFlip = (at: number) => Buffer.from(whole).fill(whole[at]! ^ 1, at, at + 1)

test.each<[string, Uint8Array]>([
  ['nothing', Buffer.alloc(0)],
  ['a part of a chunk', whole.subarray(0, 100)],
  ['cut between chunks', join(0, 1)],
  ['cut in the last chunk', whole.subarray(0, -1)],
  ['a chunk left out', join(0, 2)],
  ['chunks in another order', join(1, 0, 2)],
  ['a chunk twice', join(0, 0, 1, 2)],
  ['bytes after the end', Buffer.concat([whole, Buffer.alloc(1)])],
  ['the end twice', join(0, 1, 2, 2)],
  ...[0, 65_535, sealedLength - 1, sealedLength, 2 * sealedLength, whole.length - 1].map(
    (at): [string, Uint8Array] => [`byte ${at} flipped`, withFlip(at)],
  ),
])('%s is refused', async (_, bytes) => {
  await expect(open(bytes)).rejects.toMatchObject({ type: 'error:WalletPortabilityError:DamagedExport' })
})

test('another key or another prefix decrypts nothing', async () => {
  for (const other of [
    { ...key, key: randomBytes(32) },
    { ...key, prefix: randomBytes(prefixLength) },
  ])
    await expect(open(whole, 10_000, other)).rejects.toMatchObject({
      type: 'error:WalletPortabilityError:DamagedExport',
    })
})

test('a source is read only as far as requested', async () => {
  let asked = 0
  async function* endless() {
    for (;;) yield await Promise.resolve(Buffer.alloc(++asked && 1_000))
  }
  const sealed = sealChunks(key, createReader(endless()))
  await sealed.next()
  expect(asked * 1_000).toBeLessThan(chunkLength + 3_000)
})
