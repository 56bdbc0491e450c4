/** Reads the bodies of responses, up to a limit. */
import type { Dispatcher } from 'undici'
import { fromUtf8 } from '../bytes.ts'
import { decodeContent, hasUnknownCoding } from './content-coding.ts'
import { tooLarge, toUnreachable, UnreachableError } from './unreachable-error.ts'

/** The bytes of an unwanted response that are read, so that its connection can be reused. */
export const drainBytes = 8_192

/** Parses a response as JSON. @throws {UnreachableError} */
export async function readJson(
  url: URL,
  response: Dispatcher.ResponseData,
  maxBytes: number,
): Promise<unknown> {
  const bytes = await readBytes(url, response, maxBytes)
  try {
    return JSON.parse(fromUtf8(bytes))
  } catch {
    throw new UnreachableError(
      'not-json',
      `${url.host} answered with something that is not JSON${orEncoded(response)}`,
    )
  }
}

/** Decodes a response as UTF-8. @throws {UnreachableError} */
export async function readText(
  url: URL,
  response: Dispatcher.ResponseData,
  maxBytes: number,
  encoding: 'utf8' | 'base64' = 'utf8',
): Promise<string> {
  const bytes = await readBytes(url, response, maxBytes)
  if (encoding === 'base64') return Buffer.from(bytes).toString('base64')
  try {
    return fromUtf8(bytes)
  } catch {
    throw new UnreachableError(
      'not-text',
      `${url.host} answered with something that is not text in UTF-8${orEncoded(response)}`,
    )
  }
}

function orEncoded({ headers }: Dispatcher.ResponseData): string {
  return hasUnknownCoding(headers['content-encoding'])
    ? ', or is in a content encoding that is not supported here'
    : ''
}

/** The decoded bytes. The limit is for them, and for those that are received. */
async function readBytes(
  url: URL,
  { headers, body }: Dispatcher.ResponseData,
  maxBytes: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    // Leaving the loop early closes the connection, so that the rest is not read.
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      size += chunk.length
      if (size > maxBytes || Number(headers['content-length']) > maxBytes) throw tooLarge(url, maxBytes)
      chunks.push(chunk)
    }
  } catch (error) {
    throw toUnreachable(error, url)
  }
  return decodeContent(url, headers['content-encoding'], Buffer.concat(chunks), maxBytes)
}

/** Reads a short unwanted body, and closes the connection for a long one. */
export function drain({ body }: Dispatcher.ResponseData, signal: AbortSignal): Promise<void> {
  return body.dump({ limit: drainBytes, signal }).catch(() => undefined)
}
