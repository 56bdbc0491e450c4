/** DID requests (`agent onboard`) and challenges (`agent auth`): sends them, waits for the answer, and answers them. */
import { setTimeout } from 'node:timers/promises'
import * as Flags from '@oclif/core/flags'
import type { Client } from '../daemon/client/client.ts'
import type { Answer } from './client/api.ts'
import type { Context } from './define-command.ts'
import { CommandError } from './errors/errors.ts'
import { inStyle } from './format/colour.ts'
import { safeLine } from './format/text.ts'
import type { Column } from './format/table.ts'
import { ago } from './format/time.ts'
import { readTimeout, timeoutFlag } from './input/time.ts'
import { printQrText, warnNoQr } from './invitation.ts'
import { confirm, isTerminal } from './prompts/ask.ts'
import { askedQrFlags, chooseAskedQr, chooseQr, qrFlags, type QrFlags } from './prompts/qr-file.ts'

type DidRequest = Answer<'GET /onboard/did-requests/{didRequestId}'>
type Challenge = Answer<'GET /did-authentication/challenges/{challengeId}'>
export type Request = DidRequest | Challenge

const topics = {
  onboard: {
    noun: 'DID request',
    read: (call: Client, didRequestId: string, wait: number): Promise<Request> =>
      call('GET /onboard/did-requests/{didRequestId}', { path: { didRequestId }, query: { wait } }),
    words: { pending: 'waiting for a DID', success: 'answered', error: 'declined, or answered with no DID' },
    /** The exit code when the request was declined. */
    failed: 5,
  },
  auth: {
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
  const { flags, isJson, isQuiet, log, logJson, suggest } = context
  const timeoutMs = flags.wait ? readTimeout(flags) : undefined
  const qr = chooseQr(flags)
  const request = await create()
  if (isQuiet) log(request.id)
  await printQrText(context, request.id, toQrText(request), qr)
  if (timeoutMs === undefined) {
    suggest(`agent ${topic} show ${request.id} --wait`)
    return request
  }
  if (isJson) logJson(request)
  return waitForAnswer(context, topic, request, timeoutMs)
}

/** Prints an existing request, and its answer with `--wait`. */
export async function showRequest(
  context: RequestContext,
  topic: RequestTopic,
  id: string,
): Promise<Request> {
  const { call, flags } = context
  const timeoutMs = flags.wait ? readTimeout(flags) : undefined
  const qr = chooseAskedQr(flags)
  const request = await topics[topic].read(call, id, 0)
  if (request.state !== 'pending' || isExpired(request)) warnNoQr(context, qr)
  else if (qr) await printQrText(context, id, toQrText(request), qr)
  if (timeoutMs !== undefined) return waitForAnswer(context, topic, request, timeoutMs)
  printRequest(context, topic, request)
  return request
}

/** @throws {CommandError} 6 when no answer came in time; 5 or 8 when the request was declined or the answer is not valid. */
async function waitForAnswer(
  context: Context,
  topic: RequestTopic,
  made: Request,
  timeoutMs: number,
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
  while (request.state === 'pending' && earlyReturns < 2 && performance.now() < deadline) {
    const seconds = Math.min(Math.ceil((deadline - performance.now()) / 1_000), maxCallSeconds)
    const begin = performance.now()
    request = await read(context.call, made.id, seconds)
    // The daemon returns early when it stops, and when the request can no longer be answered. A second early return means the latter.
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
  const hasExpired = request.state === 'pending' && isExpired(request)
  print(request.id, [
    [noun.toLowerCase(), request.id],
    ['from', from],
    [
      'state',
      hasExpired
        ? inStyle('bad', 'not answered in time')
        : inStyle(styles[request.state], words[request.state]),
    ],
    ['did', request.did ?? undefined],
    ['ends', 'expireAt' in rest ? rest.expireAt : undefined],
    ['created', request.createdAt],
    ['updated', request.updatedAt],
  ])
}

/** The text of the QR code. */
function toQrText(request: Request): string {
  return JSON.stringify(contentOf(request))
}

function contentOf(request: Request) {
  return 'challenge' in request ? request.challenge : request.didRequest
}

/** True when a challenge has expired by this machine's clock. A DID request has no expiry. */
function isExpired(request: Request): boolean {
  return 'challenge' in request && Date.parse(request.challenge.expireAt) <= Date.now()
}

/** The columns of a list of requests. */
export function requestColumns(topic: RequestTopic): Column<Request>[] {
  return [
    { head: 'id', of: ({ id }) => id },
    { head: 'state', of: ({ state }) => inStyle(styles[state], topics[topic].words[state]) },
    { head: 'from', of: (request) => contentOf(request).from, cut: 'end' },
    { head: 'did', of: ({ did }) => did ?? undefined, cut: 'end' },
    { head: 'created', of: ({ createdAt }) => ago(createdAt, Date.now()), optional: true },
  ]
}

export const answerFlags = { yes: Flags.boolean({ char: 'y', description: 'do not ask for confirmation' }) }

/** Prints the sender of a request by its name and address. At a terminal, asks whether to answer. @throws {CommandError} when not. */
export async function confirmSender(
  { say, flags }: Context<object, { yes: boolean }>,
  { endpoint, from, wants }: { endpoint: string; from?: unknown; wants: string },
): Promise<void> {
  const sender = typeof from === 'string' ? `“${safeLine(from)}”` : 'A sender without a name'
  say(`${sender}, at ${new URL(endpoint).origin}, ${wants}.`)
  if (!flags.yes && isTerminal()) await confirm('Answer this request?')
}
