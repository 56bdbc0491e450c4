/**
 * The encryption of an export.
 *
 * The first line is a JSON header with the parameters of the key derivation, the second its MAC, which
 * detects a wrong passphrase and a changed header. The rest is encrypted in chunks with AES-256-GCM in the
 * STREAM construction (Hoang, Reyhanitabar, Rogaway, Vizár, "Online Authenticated-Encryption and its
 * Nonce-Reuse Misuse-Resistance", CRYPTO 2015, §7). The nonce of a chunk is the prefix of the file (7 bytes),
 * the number of the chunk (4 bytes) and whether it is the last (1 byte). So changed, moved, missing and added
 * chunks are detected, and a truncated file too.
 */
import {
  createHmac,
  randomBytes,
  scrypt,
  timingSafeEqual,
  createCipheriv,
  createDecipheriv,
} from 'node:crypto'
import { promisify } from 'node:util'
import PQueue from 'p-queue'
import * as z from 'zod'
import { fromBase64, toBase64url } from '../../foundation/bytes.ts'
import { Problem } from '../../foundation/problem.ts'
import { deriveSealKey } from '../../foundation/seal.ts'
import type { Secret } from '../../foundation/secret.ts'
import { tryParseJson } from '../../foundation/json.ts'
import type { Reader } from './contents.ts'
import { newer, notAnExport, wrongPassphrase, damaged } from './problems.ts'

/** Normalised to NFKC (UAX #15) before use, since keyboards compose characters differently. */
export const Passphrase = z
  .string()
  .min(12, 'is shorter than 12 characters: anyone with the file could guess it')
  .max(1_024, 'is longer than 1024 characters')
  .describe('Encrypts the file. At least 12 characters. The agent does not store it.')

/** Bytes of a chunk before encryption. The last one may be shorter. */
export const chunkLength = 65_536
export const prefixLength = 7

const format = 'identity-agent wallet'
export const longestLine = 1_024

/** Half a second and 128 MB for each guess (RFC 7914; OWASP Password Storage Cheat Sheet, scrypt). */
const cost = { N: 131_072, r: 8, p: 1 }

/** One derivation at a time, because of its memory. */
const derivations = new PQueue({ concurrency: 1 })
const maxWaiting = 20

const bytes = (length: number) => z.base64url().refine((text) => fromBase64(text).length === length)

const AnyVersion = z.looseObject({ format: z.literal(format), version: z.int().min(1) })
const Header = z.object({
  format: z.literal(format),
  version: z.literal(1),
  kdf: z.object({
    name: z.literal('scrypt'),
    N: z.literal(cost.N),
    r: z.literal(cost.r),
    p: z.literal(cost.p),
    salt: bytes(16),
  }),
  cipher: z.object({
    name: z.literal('AES-256-GCM STREAM'),
    chunk: z.literal(chunkLength),
    prefix: bytes(prefixLength),
  }),
})
type Header = z.infer<typeof Header>

/**
 * Makes the first two lines of an export, and the key of its chunks.
 *
 * @throws {Problem} `ServiceUnavailable`
 */
export async function newEnvelope(passphrase: Secret): Promise<{ lines: string; chunkKey: ChunkKey }> {
  const [salt, prefix] = [randomBytes(16), randomBytes(prefixLength)].map(toBase64url) as [string, string]
  const header: Header = {
    format,
    version: 1,
    kdf: { name: 'scrypt', ...cost, salt },
    cipher: { name: 'AES-256-GCM STREAM', chunk: chunkLength, prefix },
  }
  const line = JSON.stringify(header)
  const { mac, chunkKey } = await keysOf(line, header, passphrase)
  return { lines: `${line}\n${toBase64url(mac)}\n`, chunkKey }
}

/**
 * Reads the first two lines.
 *
 * @throws {Problem} `NotAnExport`, `NewerExport`, `WrongPassphrase`, `ServiceUnavailable`
 */
export async function openEnvelope(file: Reader, passphrase: Secret): Promise<ChunkKey> {
  const [line, given] = [await file.line(longestLine), await file.line(longestLine)]
  const json = tryParseJson(line ?? '')
  const known = AnyVersion.safeParse(json)
  if (!known.success || line === undefined || given === undefined) throw notAnExport()
  const header = Header.safeParse(json)
  if (!header.success)
    throw known.data.version > 1 ? newer(`version ${known.data.version} of the format`) : notAnExport()
  const { mac, chunkKey } = await keysOf(line, header.data, passphrase)
  const claimed = Buffer.from(given, 'base64url')
  if (claimed.length !== mac.length || !timingSafeEqual(claimed, mac)) throw wrongPassphrase()
  return chunkKey
}

async function keysOf(
  line: string,
  { kdf, cipher }: Header,
  passphrase: Secret,
): Promise<{ mac: Uint8Array; chunkKey: ChunkKey }> {
  const secret = passphrase.reveal().normalize('NFKC')
  const options = { ...cost, maxmem: 256 * cost.N * cost.r }
  const derive = promisify<string, Uint8Array, number, typeof options, Buffer>(scrypt)
  if (derivations.size >= maxWaiting)
    throw new Problem(
      'error:ServiceUnavailable',
      'Too many exports and imports are running. Try again in a minute.',
      { retryAfter: 60 },
    )
  const root = await derivations.add(() => derive(secret, fromBase64(kdf.salt), 32, options))
  const macKey = deriveSealKey(root, 'wallet-export-header')
  const mac = createHmac('sha256', macKey).update(line).digest()
  const chunkKey = { key: deriveSealKey(root, 'wallet-export-chunks'), prefix: fromBase64(cipher.prefix) }
  for (const each of [root, macKey]) each.fill(0)
  return { mac, chunkKey }
}

export const tagLength = 16

export type ChunkKey = { key: Uint8Array; prefix: Uint8Array }

export async function* sealChunks(chunkKey: ChunkKey, source: Reader): AsyncGenerator<Uint8Array, void> {
  for (let number = 0, isLast = false; !isLast; number++) {
    const chunk = await source.take(chunkLength)
    isLast = await source.isAtEnd()
    const cipher = createCipheriv('aes-256-gcm', chunkKey.key, nonceOf(chunkKey, number, isLast))
    yield Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()])
  }
}

/**
 * Decrypts a stream. Every chunk is authentic when it is yielded; a truncation is detected at the end.
 *
 * @throws {Problem} `DamagedExport`
 */
export async function* openChunks(chunkKey: ChunkKey, source: Reader): AsyncGenerator<Uint8Array, void> {
  for (let number = 0, isLast = false; !isLast; number++) {
    const sealed = await source.take(chunkLength + tagLength)
    isLast = await source.isAtEnd()
    if (sealed.length < tagLength) throw damaged('it is truncated')
    const decipher = createDecipheriv('aes-256-gcm', chunkKey.key, nonceOf(chunkKey, number, isLast))
    decipher.setAuthTag(sealed.subarray(-tagLength))
    const chunk = decipher.update(sealed.subarray(0, -tagLength))
    try {
      // In GCM, `final` returns no data. It verifies the tag.
      decipher.final()
    } catch {
      chunk.fill(0)
      throw damaged(
        isLast
          ? 'it is truncated, or its end was changed'
          : `it was changed at about byte ${number * chunkLength}`,
      )
    }
    yield chunk
  }
}

function nonceOf({ prefix }: ChunkKey, number: number, isLast: boolean): Uint8Array {
  const nonce = Buffer.alloc(12)
  nonce.set(prefix)
  nonce.writeUInt32BE(number, prefixLength)
  nonce[11] = isLast ? 1 : 0
  return nonce
}
