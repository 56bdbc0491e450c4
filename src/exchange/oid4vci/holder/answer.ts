/**
 * Responses of issuers and authorization servers: their JSON, and the error of a refusal in the body or in
 * the challenge.
 */
import { oneLine } from '../../../foundation/foreign.ts'
import { isJsonObject, tryParseJson } from '../../../foundation/json.ts'
import type { Exchanged } from '../../../foundation/net/http-client.ts'

/** A response: its status and text, and its JSON if it is an object. `error` is the code of a refusal. */
export type Answer = {
  status: number
  text: string
  body: Record<string, unknown> | undefined
  error: string | undefined
}

export function toAnswer({ status, text, headers = {} }: Exchanged): Answer {
  const parsed = tryParseJson(text)
  const object = isJsonObject(parsed) ? parsed : undefined
  if (status < 400) return { status, text, body: object, error: undefined }
  // Resource servers name the error in the challenge (RFC 6750 §3, RFC 9449 §7.1), some of them only there.
  const challenge = headers['www-authenticate'] ?? ''
  const body = typeof object?.['error'] === 'string' ? object : { ...readChallenge(challenge), ...object }
  const error = body['error']
  return { status, text, body, error: typeof error === 'string' ? toCode(error) : undefined }
}

/** `error` and `error_description` of a challenge (RFC 9110 §11.2). */
function readChallenge(challenge: string): Record<string, string> {
  const named = challenge.matchAll(/\b(error|error_description)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi)
  return Object.fromEntries(
    [...named].map(([, name, quoted, token]) => [
      name!.toLowerCase(),
      quoted?.replaceAll(/\\(.)/g, '$1') ?? token!,
    ]),
  )
}

/** An error code of RFC 6749 §5.2, as it may be shown. */
function toCode(text: string): string {
  return text.replaceAll(/[^\w.-]/g, '?').slice(0, 60)
}

/** The code and the description of a refusal, as they may be shown. */
export function describe({ status, body, error }: Answer): string {
  if (error === undefined) return `status ${status}`
  const description = body?.['error_description']
  const said = typeof description === 'string' ? `: ${oneLine(description)}` : ''
  return `${error}${said.replace(/\.$/, '')}`
}
