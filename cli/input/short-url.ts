/** Short URLs: retrieves what they lead to (DIDComm Out-of-Band 2.0, "Short URL Message Retrieval"). */
import { CommandError } from '../errors/errors.ts'

const timeoutMs = 10_000

/** The longest document of a DID request or a challenge, in bytes. */
const maxBytes = 65_536

/** True for a URL with the parameter `_oobid`. */
export function isShortUrl(text: string): boolean {
  return /^https?:\/\/[^\s]+[?&]_oobid=/i.test(text)
}

/** Returns the JSON object of a short URL. @throws {CommandError} when there is none, or no answer in time */
export async function retrieve(url: string): Promise<Record<string, unknown>> {
  const failed = (reason: string) =>
    new CommandError(
      `The short link ${url} cannot be used: ${reason}. Ask its sender for a new one, or for the text.`,
      5,
    )
  let reply: Response
  let text = ''
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    reply = await fetch(url, { headers: { accept: 'application/json' }, redirect: 'error', signal })
    const decoder = new TextDecoder()
    for await (const chunk of reply.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true })
      if (text.length > maxBytes) throw failed(`the answer has more than ${maxBytes} bytes`)
    }
  } catch (error) {
    if (error instanceof CommandError) throw error
    const isLate = (error as Error).name === 'TimeoutError'
    throw failed(
      isLate
        ? `no answer came in ${timeoutMs / 1_000} s`
        : `${new URL(url).host} does not answer, or redirects`,
    )
  }
  const content = parseObject(text)
  if (reply.ok && content) return content
  // A refusal has the form of RFC 9457.
  const detail = content?.['detail']
  const reason = typeof detail === 'string' ? detail : `the answer is ${reply.status} without a JSON object`
  throw failed(reason.replace(/\.$/, ''))
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
