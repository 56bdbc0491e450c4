/** Two daemons in processes of their own that share a ledger, an issuer at one and a holder at the other, and a book of what their webhooks said. */
import { fileURLToPath } from 'node:url'
import { setTimeout } from 'node:timers/promises'
import type { Answer, Daemon } from '../_daemon.ts'
import { assemble, newDid, newTenant, publishDid, publishSchema, startTwo } from '../_town.ts'
import { Book } from './_book.ts'

const adminKey = 'an-administrator-of-the-faults'
const preload = fileURLToPath(new URL('_probe.mjs', import.meta.url))

/** How long a caller goes on asking a daemon that does not answer. */
const patienceMs = 60_000

export type Faults = { rate?: number; seed?: number }

/** Where a daemon is to die: the nth time that it passes a point. */
export type Kill = { point: string; nth: number }

export type Resident = { daemon: Daemon; walletId: string; apiKey: string }

export type Town = Awaited<ReturnType<typeof openTown>>

/** A daemon's environment with faults in it; none takes them away at its next start. */
export function setFaults(daemon: Daemon, faults?: Faults): void {
  delete daemon.env['NODE_OPTIONS']
  delete daemon.env['FAULTS']
  if (faults)
    Object.assign(daemon.env, { NODE_OPTIONS: `--import=${preload}`, FAULTS: JSON.stringify(faults) })
}

/** What daemons have in their environment that `killAt` can be asked of. */
export const awaitingKills = { NODE_OPTIONS: `--import=${preload}`, FAULTS: JSON.stringify({ awaits: true }) }

/** Tells a daemon that runs where to die, or to go on. @throws when it has died. */
export const killAt = (daemon: Daemon, kill?: Kill) =>
  daemon.exchange({ type: 'kill', ...(kill && { kill }) })

/** `env` adds to what the daemons have. */
export function openTown(env: Record<string, string> = {}) {
  return assemble(async (use) => {
    const book = use(await Book.open())
    const daemons = await startTwo(use, adminKey, { AGENT_LOG_LEVEL: 'error', ...env })
    const [issuer, holder] = [
      await newResident(daemons[0], 'issuer'),
      await newResident(daemons[1], 'holder'),
    ]
    const webhooks = await Promise.all(
      [issuer, holder].map((resident) => ask(resident, 'POST /events/webhooks', { url: book.url })),
    )
    /** Has the agents send again what the book did not take in three attempts. */
    const replay = () =>
      Promise.all(
        [issuer, holder].map((resident, n) =>
          ask(resident, `POST /events/webhooks/${webhooks[n].id}/replay`, { failed: true }),
        ),
      )
    const asIssuer = (key: string, body?: object) => ask(issuer, key, body)
    const issuingDID = await publishDid(asIssuer)
    const subjectId = await newDid((key, body) => ask(holder, key, body), 'authentication')
    const schemaId = `${daemons[0].url}/${await publishSchema(asIssuer, issuingDID, { flow: { type: 'string' } })}`
    await book.reached(issuer.walletId, issuingDID, 'PUBLISHED', patienceMs)
    return { book, replay, flows: 0, daemons, issuer, holder, issuingDID, subjectId, schemaId }
  })
}

/** Asks until there is an answer that is not about the agent's own trouble. @throws for a 4xx, and when nobody answered for long. */
export async function ask({ daemon, apiKey }: Resident, key: string, body?: unknown): Promise<any> {
  const { status, body: answer } = await persist(key, () =>
    daemon.call(key, { apiKey, ...(body !== undefined && { body }) }),
  )
  if (status >= 300) throw new Error(`${key} was answered ${status}: ${JSON.stringify(answer)}`)
  return answer
}

/** Makes something once, though the answer to an attempt may be lost: looks for it before every other attempt. */
export async function makeOnce<T>(
  resident: Resident,
  find: () => Promise<T | undefined>,
  key: string,
  body: unknown,
): Promise<T> {
  let made: T | undefined
  let attempts = 0
  await persist(key, async () => {
    if (attempts++ > 0) made = await find()
    if (made !== undefined) return { status: 200, body: made }
    const answer = await resident.daemon.call(key, { apiKey: resident.apiKey, body })
    if (answer.status < 300) made = answer.body as T
    else if (answer.status < 500)
      throw new Refused(`${key} was answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer
  })
  return made!
}

class Refused extends Error {}

async function persist(what: string, attempt: () => Promise<Answer>): Promise<Answer> {
  const end = performance.now() + patienceMs
  for (;;) {
    let trouble: unknown
    try {
      const answer = await attempt()
      if (answer.status < 500) return answer
      trouble = `${answer.status} ${JSON.stringify(answer.body)}`
    } catch (error) {
      if (error instanceof Refused) throw error
      trouble = error
    }
    if (performance.now() > end)
      throw new Error(`${what} was not answered for ${patienceMs} ms: ${String(trouble)}`)
    await setTimeout(50)
  }
}

/** Makes a tenant at a daemon. */
export async function newResident(daemon: Daemon, name: string): Promise<Resident> {
  return { daemon, ...(await newTenant(daemon, adminKey, name)) }
}
