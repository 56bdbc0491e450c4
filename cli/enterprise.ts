/**
 * DID requests (`agent onboard`) and challenges (`agent signin`): sends them, and waits for the answer.
 */
import { setTimeout } from 'node:timers/promises'
import * as Flags from '@oclif/core/flags'
import type { Client } from '../daemon/client/client.ts'
import type { Answer } from './client/api.ts'
import type { Context } from './define-command.ts'
import { CommandError } from './errors/errors.ts'
import { inStyle } from './format/colour.ts'
import { isExpired } from './format/states.ts'
import { safeLine } from './format/text.ts'
import type { Column } from './format/table.ts'
import { ago, whenAhead } from './format/time.ts'
import { readTimeout, timeoutFlag } from './input/time.ts'
import { sessionFlags } from './oid4vp-request.ts'
import { answerLine, draw, type Scannable, warnNoQr } from './invitation.ts'
import { askedQrFlags, chooseAskedQr, chooseQr, qrFlags, type QrChoice, type QrFlags } from './qr/flags.ts'

type DidRequest = Answer<'GET /onboard/did-requests/{didRequestId}'>
type Challenge = Answer<'GET /did-authentication/challenges/{challengeId}'>
export type Request = (DidRequest | Challenge) & { expectedDid?: string | undefined }

const topics = {
  onboard: {
    noun: 'DID request',
    read: (call: Client, didRequestId: string, wait: number): Promise<Request> =>
      call('GET /onboard/did-requests/{didRequestId}', { path: { didRequestId }, query: { wait } }),
    words: { pending: 'waiting for a DID', success: 'answered', error: 'declined, or answered with no DID' },
    /** The exit code when the request was declined. */
    failed: 5,
  },
  signin: {
    noun: 'challenge',
    read: (call: Client, challengeId: string, wait: number): Promise<Request> =>
      call('GET /did-authentication/challenges/{challengeId}', { path: { challengeId }, query: { wait } }),
    words: { pending: 'waiting for a signature', success: 'signed in', error: 'the answer did not hold' },
    failed: 8,
  },
} as const
type RequestTopic = keyof typeof topics

const styles = { pending: 'waiting', success: 'good', error: 'bad' } as const

const waitFlags = { wait: Flags.boolean({ description: 'wait for the answer' }), timeout: timeoutFlag }
export const createRequestFlags = {
  from: Flags.string({ description: 'name of the sender, which the other side sees' }),
  ...sessionFlags,
  ...qrFlags(),
  ...waitFlags,
}
export const showRequestFlags = { ...askedQrFlags(), ...waitFlags }

type RequestContext = Context<object, QrFlags & { wait?: boolean; timeout?: string | undefined }>

/** The time limit of one call, in seconds. It is shorter than the time limit of the client. */
const maxCallSeconds = 20

/** Creates a request and prints it, and its answer with `--wait`. */
export async function createRequest(
  context: RequestContext,
  topic: RequestTopic,
  create: () => Promise<Request>,
): Promise<Request> {
  const { flags, isJson, isQuiet, log, logJson, say, suggest } = context
  const timeoutMs = flags.wait ? readTimeout(flags) : undefined
  const qr = chooseQr(flags)
  const request = await create()
  const scannable = toScannable(request, qr)
  log(isQuiet ? request.id : scannable.text)
  if (request.openid4vp && !isQuiet)
    say(`\nFor wallets of OpenID4VP:\n${request.openid4vp.authorizationRequest}`)
  if (!isQuiet) say(`\n${answerLine(scannable.code)}`)
  const drawCode = () => draw(context, request.id, scannable, qr)
  if (timeoutMs === undefined) {
    suggest(`agent ${topic} show ${request.id} --wait`)
    await drawCode()
    return request
  }
  if (isJson) logJson(request)
  return waitForAnswer(context, topic, request, timeoutMs, drawCode)
}

/** Prints an existing request, and its answer with `--wait`. */
export async function showRequest(
  context: RequestContext,
  topic: RequestTopic,
  id: string,
): Promise<Request> {
  const { call, flags, isQuiet, log } = context
  const timeoutMs = flags.wait ? readTimeout(flags) : undefined
  const qr = chooseAskedQr(flags)
  const request = await topics[topic].read(call, id, 0)
  const scannable = toScannable(request, qr)
  const isOpen = request.state === 'pending' && !hasExpired(request)
  if (!isOpen) warnNoQr(context, qr)
  if (timeoutMs === undefined) printRequest(context, topic, request)
  if (isOpen && qr.output && !isQuiet) log(scannable.text)
  const drawCode = () => (isOpen ? draw(context, id, scannable, qr) : Promise.resolve())
  if (timeoutMs !== undefined) return waitForAnswer(context, topic, request, timeoutMs, drawCode)
  await drawCode()
  return request
}

/**
 * Draws the code below the line that says so, and waits.
 *
 * @throws {CommandError} 6 when no answer came in time; 5 or 8 when the request was declined or the answer is
 * not valid.
 */
async function waitForAnswer(
  context: Context,
  topic: RequestTopic,
  made: Request,
  timeoutMs: number,
  drawCode: () => Promise<void>,
): Promise<Request> {
  const { read, noun, failed, words } = topics[topic]
  const deadline = performance.now() + timeoutMs
  let request = made
  let earlyReturns = 0
  const end = 'challenge' in made ? ` until ${made.challenge.expireAt}` : ''
  if (made.state === 'pending')
    context.sayAtTerminal(
      `Waiting for the answer to the ${noun}, ${timeoutMs / 1_000} s at most. Ctrl-C stops waiting: the ${noun} stays open${end}.`,
    )
  await drawCode()
  while (request.state === 'pending' && earlyReturns < 2 && performance.now() < deadline) {
    const seconds = Math.min(Math.ceil((deadline - performance.now()) / 1_000), maxCallSeconds)
    const begin = performance.now()
    request = await read(context.call, made.id, seconds)
    // The daemon returns early when it stops, and when the request can no longer be answered. A second
    // early return means the latter.
    earlyReturns = performance.now() - begin < seconds * 1_000 - 500 ? earlyReturns + 1 : 0
    if (request.state === 'pending' && earlyReturns === 1) await setTimeout(1_000)
  }
  printRequest(context, topic, request)
  if (request.state === 'success') return request
  if (request.state === 'error') throw new CommandError(`The ${noun} has ended: ${words.error}.`, failed)
  throw new CommandError(
    `Timed out: the ${noun} was not answered.`,
    6,
    `agent ${topic} show ${made.id} --wait`,
  )
}

function printRequest({ print }: Context, topic: RequestTopic, request: Request): void {
  const { noun, words } = topics[topic]
  const { from, ...rest } = contentOf(request)
  print(request.id, [
    [noun.toLowerCase(), request.id],
    ['from', from],
    [
      'state',
      hasExpired(request)
        ? inStyle('bad', 'not answered in time')
        : inStyle(styles[request.state], words[request.state]),
    ],
    ['did', request.did ?? undefined],
    ['expected', request.expectedDid],
    ['answered', request.answeredBy],
    ['openid4vp', request.state === 'pending' ? request.openid4vp?.authorizationRequest : undefined],
    ['proof', request.openid4vp?.presentationId],
    ['failed', failedCheck(request)],
    ['claims', disclosedClaims(request)],
    ['ends', 'expireAt' in rest ? whenAhead(rest.expireAt, Date.now()) : undefined],
    ['created', request.createdAt],
    ['updated', request.updatedAt],
  ])
}

function failedCheck({ openid4vp }: Request): string | undefined {
  const failed = openid4vp?.checks?.find(({ result }) => result === 'failed')
  return failed && `${failed.name}: ${safeLine(failed.reason ?? '')}`
}

function disclosedClaims({ openid4vp }: Request): string | undefined {
  const claims = openid4vp?.credentials?.map(({ claims: each }) => safeLine(JSON.stringify(each)))
  return claims?.join(' ')
}

/**
 * The JSON text, which Identus wallets scan, and the code: the short link if there is one and `--long` does
 * not refuse it.
 */
function toScannable(request: Request, { isLong }: QrChoice): Scannable {
  const content = contentOf(request)
  const text = JSON.stringify(content)
  const page = 'onboardEndpoint' in content ? content.onboardEndpoint : content.submissionEndpoint
  const { shortUrl } = request
  if (shortUrl === undefined) return { text, code: text, page }
  if (isLong) return { text, code: text, page, note: 'The code is the JSON text.' }
  const note = 'The code is a short link; a wallet that needs JSON: --long.'
  return { text, code: shortUrl, page: shortUrl, note }
}

function contentOf(request: Request) {
  return 'challenge' in request ? request.challenge : request.didRequest
}

/** True when a challenge was not answered in time, by this machine's clock. A DID request has no expiry. */
function hasExpired(request: Request): boolean {
  if (request.state !== 'pending' || !('challenge' in request)) return false
  return isExpired({ expiresAt: request.challenge.expireAt })
}

export function requestColumns(topic: RequestTopic): Column<Request>[] {
  return [
    { head: 'id', of: ({ id }) => id, isId: true },
    { head: 'state', of: ({ state }) => inStyle(styles[state], topics[topic].words[state]) },
    { head: 'from', of: (request) => contentOf(request).from, cut: 'end' },
    { head: 'did', of: ({ did }) => did ?? undefined, cut: 'end' },
    { head: 'created', of: ({ createdAt }) => ago(createdAt, Date.now()), optional: true },
  ]
}
