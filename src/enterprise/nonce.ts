/**
 * What a challenge has signed: a nonce that says for whom it is (threats: a challenge that is shown on another site by somebody else).
 *
 * `authenticate-` and the base64 of a small JSON object: a random id, the public base URL of the agent that asks (`aud`), and who it says it is
 * (`from`). Whoever signs the nonce signs these, so that a wallet that reads them can see that it is to answer to somebody else than it
 * was shown; to a wallet that does not, the nonce is a random text like any other.
 */
import { z } from 'zod'
import { fromBase64, fromUtf8 } from '../base/bytes.ts'
import { randomId } from '../base/id.ts'

const prefix = 'authenticate-'

const Content = z.object({ id: z.uuid(), aud: z.url(), from: z.string().optional() })
export type NonceContent = z.infer<typeof Content>

/** Makes a nonce, never the same twice. */
export function newNonce(bound: { aud: string; from?: string | undefined }): string {
  return (
    prefix +
    Buffer.from(JSON.stringify({ id: randomId(), aud: bound.aud, from: bound.from })).toString('base64')
  )
}

/** What a nonce of this agent's making says; nothing for one of another kind. */
export function readNonce(nonce: string): NonceContent | undefined {
  try {
    return Content.parse(JSON.parse(fromUtf8(fromBase64(nonce.slice(prefix.length)))))
  } catch {
    return undefined
  }
}
