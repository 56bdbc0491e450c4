/**
 * Sealing of what is too long to be sealed at once: the STREAM construction (Hoang, Reyhanitabar, Rogaway, Vizár, "Online
 * Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance", CRYPTO 2015, §7) over AES-256-GCM.
 *
 * A chunk's nonce is the prefix of the file (7 bytes), the chunk's number (4 bytes) and whether it is the last one (1 byte). So a chunk that
 * is changed, moved, left out or added is found out, and a file that ends before its end is too.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto'
import { damaged } from './refusals.ts'
import type { Reader } from './reader.ts'

/** Bytes of a chunk before it is sealed; the last one may be shorter. */
export const chunkLength = 65_536
export const prefixLength = 7

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
