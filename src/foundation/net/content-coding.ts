/** Content codings of responses (RFC 9110 §8.4.1). */
import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, inflateRaw, type InputType, type ZlibOptions } from 'node:zlib'
import { tooLarge, UnreachableError } from './unreachable-error.ts'

type Decompress = (bytes: InputType, options: ZlibOptions) => Promise<Buffer>

const ungzip = promisify<InputType, ZlibOptions, Buffer>(gunzip)
const unzlib = promisify<InputType, ZlibOptions, Buffer>(inflate)
const undeflate = promisify<InputType, ZlibOptions, Buffer>(inflateRaw)
const unbrotli = promisify<InputType, ZlibOptions, Buffer>(brotliDecompress)

const codings: Readonly<Record<string, Decompress>> = {
  gzip: ungzip,
  'x-gzip': ungzip,
  // Some servers send it without the zlib wrapper, which begins with the compression method 8 (RFC 1950
  // §2.2).
  deflate: (bytes, options) =>
    (((bytes as Uint8Array)[0]! & 0x0f) === 8 ? unzlib : undeflate)(bytes, options),
  br: unbrotli,
}

/** The `Accept-Encoding` of requests. */
export const acceptEncoding = 'gzip, deflate, br'

/** Whether a `Content-Encoding` names a coding that `decodeContent` leaves as it is. */
export function hasUnknownCoding(contentEncoding: string | string[] | undefined): boolean {
  return namesOf(contentEncoding).some((name) => !isKnown(name) && name !== 'identity')
}

/**
 * Decodes a body of at most `maxBytes` decoded bytes, on a thread of its own. A coding of another name is
 * left as it is, since some servers send the name of a charset there.
 *
 * @throws {UnreachableError} `too-large`, `bad-encoding`
 */
export async function decodeContent(
  url: URL,
  contentEncoding: string | string[] | undefined,
  bytes: Uint8Array,
  maxBytes: number,
): Promise<Uint8Array> {
  const known = namesOf(contentEncoding).filter(isKnown)
  const [name] = known
  if (name === undefined || bytes.length === 0) return bytes
  // A chain of codings can have a bomb in the middle, which no limit of the result finds.
  if (known.length > 1)
    throw new UnreachableError(
      'bad-encoding',
      `${url.host} answered with several content encodings, which is not supported here`,
    )
  try {
    return await codings[name]!(bytes, { maxOutputLength: maxBytes })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(url, maxBytes)
    throw new UnreachableError(
      'bad-encoding',
      `${url.host} answered with something that is not ${name}, as its Content-Encoding says`,
    )
  }
}

function namesOf(contentEncoding: string | string[] | undefined): string[] {
  return [contentEncoding ?? []].flat().flatMap((value) =>
    value
      .toLowerCase()
      .split(',')
      .map((name) => name.trim()),
  )
}

function isKnown(name: string): boolean {
  return Object.hasOwn(codings, name)
}
