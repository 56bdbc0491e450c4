/** Bodies that are not parsed but read as they come: files, which may be long. */
import { finished } from 'node:stream/promises'
import type { Context } from 'koa'
import { Problem } from '../../src/base/problem.ts'

/** What a contract says of such a body: its media type, and how many bytes it may have. */
export type BodyStream = { media: string; limit: number }

/**
 * The body of a request, piece by piece. Whoever stops reading has the rest read and dropped before the answer goes out, since a client that
 * is still sending would not see it.
 *
 * @throws {Problem} `UnsupportedMediaType` at once; then `RequestBodyTooLarge`, `RequestBodyDecodingFailure`
 */
export function streamBody(ctx: Context, { media, limit }: BodyStream): AsyncGenerator<Uint8Array, void> {
  const { headers, req } = ctx
  const isPlain = (headers['content-encoding'] ?? 'identity') === 'identity'
  if (headers['content-type'] !== media || !isPlain)
    throw new Problem(
      'error:UnsupportedMediaType',
      `The body must be the file as it is. Send it with the header \`Content-Type: ${media}\`.`,
    )
  return pieces()

  async function* pieces() {
    let length = 0
    try {
      for await (const piece of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        length += piece.length
        if (length > limit)
          throw new Problem('error:RequestBodyTooLarge', `The body is larger than ${limit} bytes.`)
        yield piece
      }
    } catch (error) {
      if (error instanceof Problem || !req.destroyed) throw error
      throw new Problem(
        'error:RequestBodyDecodingFailure',
        'body: the connection was closed before it arrived',
        { cause: error },
      )
    } finally {
      req.resume()
      await finished(req).catch(() => undefined)
    }
  }
}
