/** Runs random cases against a daemon and collects the results. */
import { randomUUID } from 'node:crypto'
import { createDraw, type Draw } from './_draw.ts'
import * as envelopes from './_envelope.ts'
import { makeMediatorMessage, makeMessage, signerDid, signText } from './_message.ts'
import { learnAnswer, parse } from './_learn.ts'
import { nastyText } from './_nasty.ts'
import { newMasterKey, newObject, newOperation } from './_operation.ts'
import { openPlace, type Operation, type Place, type Tenant, type Watched } from './_place.ts'
import * as requests from './_request.ts'
import { createSender, sendOverSocket, sendRaw, type Answer, type Sender } from './_send.ts'
import { addressOf } from '../support/party.ts'
import { encryptedType } from '../../src/exchange/didcomm/jwe.ts'

/** Concurrent requests: enough to interact, few enough that one event-loop iteration handles only a few. */
const atOnce = 4
/** Cases between two measurements of the daemon. */
const measureEvery = 2_000
/** Expensive operations, which are drawn less often. */
const rare = new Set([
  'GET /_system/doctor',
  'POST /_system/master-key/rotation',
  'GET /docs/openapi.json',
  'POST /did-registrar/restorations',
  'GET /events/stream',
  'POST /wallets/{walletId}/export',
  'POST /wallets/import',
])

/**
 * Operations that continue existing flows. They are drawn more often, because flows would otherwise never
 * end.
 */
const steps = [
  ['live connection', 'POST /issue-credentials/credential-offers'],
  ['live connection', 'POST /present-proof/presentations'],
  ['recordId OfferReceived', 'POST /issue-credentials/records/{recordId}/accept-offer'],
  ['recordId RequestReceived', 'POST /issue-credentials/records/{recordId}/issue-credential'],
  ['recordId CredentialSent', 'PATCH /credential-status/revoke-credential/{id}'],
  ['recordId CredentialReceived', 'GET /issue-credentials/records/{recordId}/credential'],
  ['presentationId RequestReceived', 'PATCH /present-proof/presentations/{presentationId}'],
  ['presentationId PresentationVerified', 'PATCH /present-proof/presentations/{presentationId}'],
  ['offer _oob', 'POST /issue-credentials/credential-offers/accept-invitation'],
  ['request _oob', 'POST /present-proof/presentations/accept-invitation'],
  ['open challenge', 'POST /did-authentication/answers'],
] as const

/** One case: the request and its answer. */
export type CaseResult = {
  number: number
  key: string
  way: string
  asked: string
  answer: Answer
  from: number
  to: number
}
export type Measurement = {
  cases: number
  watched: Watched
  about: { ms: number; busyMs: number; during: string[] }[]
}
export type Outcome = {
  seed: number
  cases: number
  seconds: number
  /** Counts by operation (or kind of envelope) and status. Status `0`: the connection ended without an answer. */
  answers: Map<string, Map<number, number>>
  /** 5xx answers, and requests without an answer in time. */
  failures: { result?: CaseResult; reason: string }[]
  measurements: Measurement[]
  ended: number | string | undefined
  log: string
}

export type Options = {
  cases: number
  seed: number
  env?: Record<string, string>
  /** Called between two batches. True ends the run. */
  isEnough?: () => boolean
  onMeasurement?: (measurement: Measurement, outcome: Pick<Outcome, 'failures'>) => void
  trace?: (result: CaseResult) => void
}

export async function fuzz({ cases, seed, env, onMeasurement, trace, isEnough }: Options): Promise<Outcome> {
  await using place = await openPlace(env)
  const sender = createSender()
  const outcome: Omit<Outcome, 'seconds' | 'ended' | 'log'> = {
    seed,
    cases: 0,
    answers: new Map(),
    failures: [],
    measurements: [],
  }
  let recent: CaseResult[] = []
  const start = performance.now()
  await place.watch()

  async function run(number: number): Promise<void> {
    const from = Date.now()
    const draw = createDraw(seed, number)
    const one = draw.share(2 / 3) ? askApi(draw, place, sender) : sendEnvelope(draw, place, sender)
    try {
      const result = { number, from, ...(await one), to: Date.now() }
      const counts = outcome.answers.get(result.key) ?? new Map<number, number>()
      const status = result.answer.status ?? 0
      outcome.answers.set(result.key, counts.set(status, (counts.get(status) ?? 0) + 1))
      if (status >= 500 && !isAboutOthers(result.answer))
        outcome.failures.push({ result, reason: `${status} ${result.answer.text.slice(0, 1_000)}` })
      recent.push(result)
      trace?.(result)
    } catch (error) {
      outcome.failures.push({ reason: `case ${number}: ${(error as Error).stack}` })
    }
  }

  async function runAll(numbers: Iterable<number>): Promise<void> {
    for (const number of numbers) await run(number)
  }

  async function measure(done: number): Promise<void> {
    const watched = await place.watch()
    const about = watched.stalls.slice(0, 5).map(({ ms, busyMs, at }) => ({
      ms,
      busyMs,
      during: recent
        .filter(({ from, to }) => from <= at && to >= at - ms)
        .map(({ number, way, key }) => `${number} ${way} ${key}`),
    }))
    recent = []
    const seen = { cases: done, watched, about }
    outcome.measurements.push(seen)
    onMeasurement?.(seen, outcome)
  }

  const stretch = Math.min(Math.ceil(cases / 2), measureEvery)
  for (let first = 0; first < cases; first += stretch) {
    if (isEnough?.()) break
    const numbers = Array.from({ length: Math.min(stretch, cases - first) }, (_, n) => first + n).values()
    // All runners take from the same iterator, so the number of concurrent cases is constant.
    await Promise.all(Array.from({ length: atOnce }, () => runAll(numbers)))
    outcome.cases = Math.min(cases, first + stretch)
    await measure(outcome.cases)
  }
  sender.close()
  return { ...outcome, seconds: (performance.now() - start) / 1_000, ...(await place.end()) }
}

/**
 * 5xx answers by contract: another host is unreachable, a wallet was transferred, or a DID method is
 * unsupported.
 */
export function isAboutOthers({ status, text }: Answer): boolean {
  // HEAD has no body.
  if (status === 501)
    return text === '' || /METHOD_NOT_SUPPORTED|methodNotSupported|this ledger holds did:prism/.test(text)
  if (status === 502) return text.includes('/errors/common/unreachable')
  return status === 503 && /cannot be (?:resolved|judged) now|temporarily unavailable|WalletMoved/.test(text)
}

type Went = Pick<CaseResult, 'key' | 'way' | 'asked' | 'answer'>

async function askApi(draw: Draw, place: Place, sender: Sender): Promise<Went> {
  const tenant = draw.of(place.tenants)
  const operation = pickOperation(draw, place, tenant)
  const way = draw.kind(requests.ways)
  if (way === 'no HTTP') {
    const { sent, ...answer } = await sendRaw(
      draw,
      draw.share(0.8) ? place.daemon.url : place.daemon.didcommUrl,
      operation.path.replaceAll(/[{}]/g, ''),
    )
    return { key: 'no HTTP', way, asked: sent.slice(0, 1_000), answer }
  }
  const request = requests.makeRequest(draw, way, place, tenant, operation, aroundOf(draw, place, tenant))
  const answer = await sender.send(place.daemon.url, request)
  if (answer.status !== undefined && answer.status < 300 && answer.type.includes('json'))
    learnAnswer(place.found, tenant, operation, request.target, answer.text)
  if (way === 'good' && (answer.status === 404 || answer.status === 410)) forgetIds(place, request.target)
  return { key: operation.key, way, asked: show(request), answer }
}

/** Forgets the ids in the path of a missing resource. */
function forgetIds({ found }: Place, target: string): void {
  for (const part of target.split(/[?#]/)[0]!.split('/'))
    if (part.length >= 20 && !part.includes('%ed')) found.forget(decodeURIComponent(part))
}

function pickOperation(draw: Draw, { operations, found }: Place, { name }: Tenant): Operation {
  const next = steps.filter(([there]) => found.has(name, there))
  if (next.length > 0 && draw.share(0.2)) {
    const [, key] = draw.of(next)
    return operations.find((operation) => operation.key === key)!
  }
  let operation = draw.of(operations)
  while (rare.has(operation.key) && draw.share(0.9)) operation = draw.of(operations)
  return operation
}

function aroundOf(draw: Draw, { daemon, party, found, exportedWallet }: Place, { name }: Tenant) {
  const find = (...names: string[]) => found.take(draw, name, ...names) ?? randomUUID()
  return {
    draw,
    find,
    url: daemon.url,
    sinkUrl: party.sinkUrl,
    partyDid: party.did,
    passphrase: exportedWallet.passphrase,
    oob: () => party.invite(),
    answer: (nonce: string) => ({ did: signerDid, signature: signText(nonce) }),
    operation: () => newOperation(draw),
    object: () => newObject(draw),
    masterKey: newMasterKey,
  }
}

async function sendEnvelope(draw: Draw, place: Place, sender: Sender): Promise<Went> {
  const { party, found, mediatorDid, daemon } = place
  const tenant = draw.of(place.tenants)
  const find = (...names: string[]) => found.take(draw, tenant.name, ...names) ?? nastyText(draw)
  const envelope = () =>
    envelopes.makeEnvelope(draw, 'good', party, party.did, {
      type: 'https://didcomm.org/empty/1.0/empty',
    }) as string
  const threads = { take: (type: string) => party.take(type), find, did: party.did, mediatorDid, envelope }
  const isForMediator = draw.share(0.2)
  const message = isForMediator ? makeMediatorMessage(draw, threads) : makeMessage(draw, threads)
  const to = isForMediator ? mediatorDid : (message.to?.[0] ?? draw.of(tenant.connected))
  const way = draw.kind(envelopes.ways)
  const body = envelopes.makeEnvelope(draw, way, party, to, message)
  if (isForMediator && draw.share(0.2)) {
    const bytes = typeof body === 'string' && draw.share(0.5) ? body : Buffer.from(body)
    const answer = await sendOverSocket(
      daemon.didcommUrl,
      draw.share(0.9) ? [bytes] : [bytes, bytes, nastyText(draw)],
    )
    return {
      key: `didcomm socket ${way}`,
      way,
      asked: `${message.type} ${Buffer.from(body).toString()}`.slice(0, 3_000),
      answer,
    }
  }
  const target = isForMediator
    ? '/'
    : draw.share(0.95)
      ? new URL(addressOf(to)).pathname
      : draw.of(['/', '/x', `/${'A'.repeat(200)}`, '/%ff', '/a/b', '//'])
  const type = draw.share(0.98)
    ? encryptedType
    : draw.of(['application/json', `${encryptedType}; charset=utf-16`, '', 'text/plain'])
  const request = { method: 'POST', target, headers: { 'content-type': type }, body: Buffer.from(body) }
  const answer = await sender.send(daemon.didcommUrl, request)
  if (way === 'good' && answer.status === 200) await learnEnvelope(place, tenant, to, answer.text)
  if (way === 'good' && !isForMediator) found.add(tenant.name, 'an envelope', body as string)
  return {
    key: `didcomm ${isForMediator ? 'mediator ' : ''}${way}`,
    way,
    asked: `${message.type} ${show(request)}`,
    answer,
  }
}

async function learnEnvelope(
  { party, found, mediatorDid }: Place,
  tenant: Tenant,
  to: string,
  text: string,
): Promise<void> {
  // A DID that accepted a connection request accepts further messages.
  if (to !== mediatorDid && !tenant.connected.includes(to))
    tenant.connected.splice(1, tenant.connected.length - 4, to)
  if (!text.startsWith('{')) return
  const { attachments = [] } = await party.open(text)
  for (const { id } of attachments) if (id != null) found.add(tenant.name, 'waiting id', id)
}

function show({ method, target, headers, body }: requests.Request): string {
  const text =
    body === undefined
      ? ''
      : ` ${parse(Buffer.from(body).toString()) === undefined ? JSON.stringify(Buffer.from(body).toString('latin1')) : Buffer.from(body).toString()}`
  return `${method} ${target} ${JSON.stringify(headers)}${text}`.slice(0, 3_000)
}
