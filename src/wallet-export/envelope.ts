/**
 * The first two lines of an export: how the key comes from the passphrase, in JSON, and a MAC of that by the same key. So whoever has the
 * wrong passphrase is told so, and nobody changes how a file is to be opened.
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
import { z } from 'zod'
import { fromBase64, toBase64url } from '../base/bytes.ts'
import { Problem } from '../base/problem.ts'
import { deriveSealKey } from '../base/seal.ts'
import type { Secret } from '../base/secret.ts'
import { tryParseJson } from '../base/json.ts'
import type { Reader } from './contents.ts'
import { newer, notAnExport, wrongPassphrase, damaged } from './problems.ts'

/** What is entered: in one form, however the keyboard composes it (NFKC, Unicode TR 15). */
export const Passphrase = z
  .string()
  .min(12, 'is shorter than 12 characters: with it and the file, anybody is the wallet')
  .max(1_024, 'is longer than 1024 characters')
  .describe('Opens the file; at least 12 characters. It is kept nowhere.')

/** Bytes of a chunk before it is sealed; the last one may be shorter. */
export const chunkLength = 65_536
export const prefixLength = 7

const format = 'identity-agent wallet'
const longestLine = 1_024

/** A guess takes half a second and 128 MB (RFC 7914; OWASP Password Storage, scrypt). */
const cost = { N: 131_072, r: 8, p: 1 }

/** One guess at a time, for the sake of the memory it takes; and so many that wait. */
const turns = new PQueue({ concurrency: 1 })
const waiting = 20

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

/** Makes the lines of a new export, and the key of what follows. Takes half a second, of another thread. @throws {Problem} `ServiceUnavailable` */
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

/** Reads the lines of an export. @throws {Problem} `NotAnExport`, `NewerExport`, `WrongPassphrase`, `ServiceUnavailable` */
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
  if (turns.size >= waiting)
    throw new Problem(
      'error:ServiceUnavailable',
      'Too many wallets are exported and imported now. Try again in a minute.',
      {
        retryAfter: 60,
      },
    )
  const root = await turns.add(() => derive(secret, fromBase64(kdf.salt), 32, options))
  const macKey = deriveSealKey(root, 'wallet-export-header')
  const mac = createHmac('sha256', macKey).update(line).digest()
  const chunkKey = { key: deriveSealKey(root, 'wallet-export-chunks'), prefix: fromBase64(cipher.prefix) }
  for (const each of [root, macKey]) each.fill(0)
  return { mac, chunkKey }
}

const tagLength = 16

export type ChunkKey = { key: Uint8Array; prefix: Uint8Array }

/** Seals bytes, chunk by chunk. */
export async function* sealChunks(with_: ChunkKey, source: Reader): AsyncGenerator<Uint8Array, void> {
  for (let number = 0, isLast = false; !isLast; number++) {
    const chunk = await source.take(chunkLength)
    isLast = await source.isAtEnd()
    const cipher = createCipheriv('aes-256-gcm', with_.key, nonceOf(with_, number, isLast))
    yield Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()])
  }
}

/** Opens what `sealChunks` made. What it has yielded is as it was sealed; whether that is all is known at the end. @throws {Problem} `DamagedExport` */
export async function* openChunks(with_: ChunkKey, source: Reader): AsyncGenerator<Uint8Array, void> {
  for (let number = 0, isLast = false; !isLast; number++) {
    const sealed = await source.take(chunkLength + tagLength)
    isLast = await source.isAtEnd()
    if (sealed.length < tagLength) throw damaged('it is cut off')
    const decipher = createDecipheriv('aes-256-gcm', with_.key, nonceOf(with_, number, isLast))
    decipher.setAuthTag(sealed.subarray(-tagLength))
    const chunk = decipher.update(sealed.subarray(0, -tagLength))
    try {
      // In this mode the end adds nothing: it compares the tag.
      decipher.final()
    } catch {
      chunk.fill(0)
      throw damaged(
        isLast
          ? 'it is cut off, or its end was changed'
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
