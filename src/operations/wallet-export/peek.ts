/** Reads the id of the wallet in an export from its beginning, and leaves the stream as it was. */
import { once } from 'node:events'
import { Readable } from 'node:stream'
import type { Secret } from '../../foundation/secret.ts'
import { createReader, readAbout } from './contents.ts'
import { chunkLength, longestLine, openChunks, openEnvelope, tagLength } from './envelope.ts'

/** The two lines of the envelope, the first chunk, and a byte of the next. The file of a wallet is longer. */
const headLength = 2 * longestLine + chunkLength + tagLength + 1

/** Undefined if it is not an export, or the passphrase is wrong: the import finds the reason. */
export async function peekWalletId(source: Readable, passphrase: Secret): Promise<string | undefined> {
  const head = createReader(Readable.from([await peek(source, headLength)]))
  try {
    const chunkKey = await openEnvelope(head, passphrase)
    const plain = createReader(openChunks(chunkKey, head))
    const { id } = await readAbout(plain)
    chunkKey.key.fill(0)
    return id
  } catch {
    return undefined
  } finally {
    await head.close()
  }
}

/** The first bytes of a stream, which are read again from it. `complete` is that of a request of `node:http`. */
async function peek(source: Readable & { complete?: boolean }, length: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  for (let have = 0; have < length && !source.readableEnded && !source.destroyed;) {
    const piece = source.read() as Buffer | null
    if (piece === null) {
      // Without bytes to read, a stream that has ended would say so now, and they could not be put back.
      if (source.complete === true) break
      const ended = new AbortController()
      const events = ['readable', 'end', 'close'].map((event) => once(source, event, ended))
      await Promise.race(events).catch(() => undefined)
      ended.abort()
      await Promise.allSettled(events)
      continue
    }
    pieces.push(piece)
    have += piece.length
    if (source.complete === true && source.readableLength === 0) break
  }
  const head = Buffer.concat(pieces)
  if (head.length > 0 && !source.readableEnded) source.unshift(head)
  return head
}
