/**
 * Invitations, DID requests and challenges: as a URL, as the text of a QR code, in a file, or on standard
 * input.
 */
import { existsSync } from 'node:fs'
import * as Args from '@oclif/core/args'
import type { Client } from '../../daemon/client/client.ts'
import type { Input } from '../client/api.ts'
import { UsageError } from '../errors/errors.ts'
import { openIdLinkKind } from '../qr/link.ts'
import { readInput } from './files.ts'

/** The argument of commands that accept an invitation, for `readInvitation`. */
export const invitationArg = Args.string({
  required: true,
  ignoreStdin: true,
  description: 'the invitation’s short or long URL, the value of its _oob parameter, or - for standard input',
})

/** True for a URL with the parameter `_oobid`, whose content the daemon retrieves. */
export function isShortUrl(text: string): boolean {
  return /^https?:\/\/[^\s]+[?&]_oobid=/i.test(text)
}

/**
 * Returns the raw value of the `_oob` parameter (RFC 0434, base64url) of an invitation: from its URL, from
 * the value itself, or from standard input for `-`. Returns a short URL as it is. The daemon retrieves it,
 * and validates the content.
 *
 * @throws {UsageError} when it is empty, or a URL without `_oob`.
 */
export function readInvitation(text: string): string {
  const given = (text === '-' ? readInput(text) : text).trim()
  if (given === '')
    throw new UsageError('There is no invitation: give its URL, or the value of its _oob parameter.')
  if (!/^[a-z][a-z0-9+.-]*:/i.test(given)) return given.replace(/^.*_oob=/, '')
  if (isShortUrl(given)) return given
  const openId = openIdLinkKind(given)
  if (openId !== undefined)
    throw new UsageError(
      `This is ${openId === 'offer' ? 'an offer of OpenID4VCI' : 'a request of OpenID4VP'}, not an invitation of DIDComm.`,
      openId === 'offer' ? 'agent oid4vc receive -' : 'agent oid4vc present -',
    )
  // URLSearchParams would turn a `+` of standard base64 into a space.
  const oob = /[?&]_oob=([^&#]*)/.exec(given)?.[1]
  if (!oob) {
    const reason = /[?&]_oobid=/.test(given)
      ? 'a short URL begins with http:// or https://'
      : 'it has no _oob or _oobid parameter'
    throw new UsageError(`That URL is not an invitation: ${reason}.`)
  }
  return decodeURIComponent(oob)
}

export type DidRequest = NonNullable<NonNullable<Input<'POST /onboard/answers'>['body']>['didRequest']>
export type Challenge = NonNullable<
  NonNullable<Input<'POST /did-authentication/answers'>['body']>['challenge']
>

/** The argument of commands that answer a DID request or a challenge. */
export const qrTextArg = Args.string({
  required: true,
  ignoreStdin: true,
  description: 'the text of the QR code (a short URL or JSON), a file that holds it, or - for standard input',
})

/**
 * Reads a DID request; the daemon retrieves that of a short URL. Checks only that it has an endpoint; the
 * daemon validates the rest.
 *
 * @throws {UsageError}
 */
export async function readDidRequest(call: Client, given: string): Promise<DidRequest> {
  return (await readQrText(call, given, 'onboardEndpoint')) as DidRequest
}

/** Reads a challenge, as `readDidRequest`. */
export async function readChallenge(call: Client, given: string): Promise<Challenge> {
  return (await readQrText(call, given, 'submissionEndpoint')) as Challenge
}

async function readQrText(call: Client, given: string, endpoint: string): Promise<Record<string, unknown>> {
  const isText = given.trim().startsWith('{') || isShortUrl(given)
  if (!isText && given !== '-' && !existsSync(given))
    throw new UsageError(`This is neither a JSON object nor a short URL, and there is no file ${given}.`)
  const text = (isText ? given : readInput(given)).trim()
  const content: Record<string, unknown> = isShortUrl(text)
    ? await call('POST /invitation', { body: { invitation: text } })
    : parse(text)
  // The JSON output of a command contains the request in a member.
  const object = content['didRequest'] ?? content['challenge'] ?? content
  const url: unknown = (object as Record<string, unknown>)[endpoint]
  if (typeof url !== 'string' || !URL.canParse(url))
    throw new UsageError(`The QR code's text has no URL as its ${endpoint}.`)
  return object as Record<string, unknown>
}

function parse(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>
  } catch (error) {
    throw new UsageError(`The QR code's text is not JSON: ${(error as Error).message}.`)
  }
}
