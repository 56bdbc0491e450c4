/** Runs the demo from the first process to the last event. `commands/demo.ts` cleans up. */
import type { ChildProcess } from 'node:child_process'
import { createClient } from '../../daemon/client/client.ts'
import { CommandError } from '../errors/errors.ts'
import { tenths } from '../format/time.ts'
import { aliceByCalls, connect, issue, meet, present, revoke, runFlow, type Timing } from './flow.ts'
import { prepareHolder, prepareIssuer } from './prepare.ts'
import type { Receiver } from './changes.ts'
import { silent, type Narrator } from './narrator.ts'
import { names, onboard, startDaemon, type Daemon, type Name, type Party } from './party.ts'

export const scenarios = {
  connect: ['connect'],
  issue: ['props', 'connect', 'issue'],
  present: ['props', 'connect', 'issue', 'present'],
  revoke: ['props', 'connect', 'issue', 'present', 'revoke'],
  onboard: ['onboard'],
  auth: ['onboard', 'auth'],
  all: ['props', 'connect', 'issue', 'present', 'revoke', 'onboard', 'auth'],
} as const satisfies Record<string, readonly string[]>

export type Scenario = keyof typeof scenarios
type Step = 'props' | 'connect' | 'issue' | 'present' | 'revoke' | 'onboard' | 'auth'

export const usual: Scenario = 'present'

export type Summary = {
  scenario: Scenario
  coldStartMs: Record<Name, number>
  /** Durations of a second flow on warm daemons, without output. Default scenario only. */
  flow?: Timing
  changes: number
  totalMs: number
  acme: string
  alice: string
}

type Pair<Value> = Record<Name, Value>

/**
 * An empty folder, a receiver, a narrator, and the list of started processes. No process starts after the
 * signal aborts.
 */
export type Means = {
  folder: string
  receiver: Receiver
  narrator: Narrator
  children: Map<Name, ChildProcess>
  signal: AbortSignal
}

/** Runs a scenario. @throws as the client; {CommandError} when an event does not arrive */
export async function show(
  scenario: Scenario,
  means: Means,
): Promise<Summary & { leave: () => Promise<void> }> {
  const start = performance.now()
  const { receiver, narrator } = means
  const has = (step: Step) => (scenarios[scenario] as readonly Step[]).includes(step)
  receiver.changes.onChange = narrator.change
  narrator.step('Start two daemons, which share only a ledger')
  const daemons = await startBoth(means)
  const parties = await onboardAll(daemons, means)
  const webhooks = await registerWebhooks(parties, means)
  const acme = narrator.watch(parties.acme.call, { base: 'ACME', header: 'apikey', key: 'ACME_KEY' })
  const aliceCall = narrator.watch(parties.alice.call, { base: 'ALICE', header: 'apikey', key: 'ALICE_KEY' })
  const events = receiver.changes
  const stageOf = (did?: string) => ({ acme, alice: aliceByCalls(aliceCall, events, narrator, did), events })

  let flow: Timing | undefined
  if (has('props')) {
    narrator.step('Create DIDs, publish the issuer’s, and publish a schema')
    const props = await prepareIssuer(acme, parties.acme.url, events, narrator)
    const aliceDid = await prepareHolder(aliceCall, narrator)
    const stage = stageOf(aliceDid)
    const connectionId = await connect(stage, narrator)
    const made = { connectionId, issuedId: await issue(stage, props, connectionId, narrator) }
    if (has('present')) await present(stage, props, made, narrator)
    if (has('revoke')) await revoke(stage, props, made, narrator)
    if (scenario === usual) {
      events.onChange = silent.change
      const alice = aliceByCalls(parties.alice.call, events, silent, aliceDid)
      flow = await runFlow({ acme: parties.acme.call, alice, events }, props, silent)
    }
  } else if (has('connect')) await connect(stageOf(), narrator)
  if (has('onboard')) await meet(stageOf(), has('auth'), narrator)

  return {
    scenario,
    coldStartMs: { acme: daemons.acme.coldStartMs, alice: daemons.alice.coldStartMs },
    ...(flow && { flow }),
    changes: receiver.changes.count,
    totalMs: tenths(performance.now() - start),
    acme: daemons.acme.url,
    alice: daemons.alice.url,
    leave: async () => {
      await parties.acme.call('DELETE /events/webhooks/{id}', { path: { id: webhooks.acme } })
      await parties.alice.call('DELETE /events/webhooks/{id}', { path: { id: webhooks.alice } })
    },
  }
}

/** Starts both daemons at the same time. */
async function startBoth(means: Means): Promise<Pair<Daemon>> {
  const { narrator } = means
  const started = await Promise.all(names.map((name) => begin(name, means)))
  narrator.nameForCurl('acme', 'JSON', 'content-type: application/json')
  for (const { name, url, adminToken, coldStartMs } of started) {
    narrator.tell(name, `${name} answers after ${Math.round(coldStartMs)} ms`)
    narrator.nameForCurl(name, name.toUpperCase(), url)
    narrator.nameSecret(name, `${name.toUpperCase()}_ADMIN`, adminToken)
  }
  const [acme, alice] = started
  return { acme: acme!, alice: alice! }
}

async function begin(name: Name, { folder, receiver, children, signal }: Means): Promise<Daemon> {
  signal.throwIfAborted()
  return startDaemon(name, folder, (child) => {
    children.set(name, child)
    child.once('exit', (code, signal) =>
      receiver.changes.fail(new CommandError(`${name}’s daemon ended (${code ?? signal}).`, 1)),
    )
  })
}

async function onboardAll(daemons: Pair<Daemon>, { folder, narrator }: Means): Promise<Pair<Party>> {
  narrator.step('Create a tenant in each: wallet, entity, key')
  return {
    acme: await enrol(daemons.acme, folder, narrator),
    alice: await enrol(daemons.alice, folder, narrator),
  }
}

/** Creates a tenant and prints its calls. */
function enrol(daemon: Daemon, folder: string, narrator: Narrator): Promise<Party> {
  const base = daemon.name.toUpperCase()
  const client = createClient(daemon.url, { 'x-admin-api-key': daemon.adminToken })
  const admin = narrator.watch(client, { base, header: 'x-admin-api-key', key: `${base}_ADMIN` })
  return onboard(daemon, admin, folder, (key) => narrator.nameSecret(daemon.name, `${base}_KEY`, key))
}

/** Runs the steps that events trigger. */
async function registerWebhooks({ acme, alice }: Pair<Party>, { receiver }: Means): Promise<Pair<string>> {
  const register = async ({ name, call }: Party) =>
    (await call('POST /events/webhooks', { body: { url: receiver.urlOf(name) } })).id
  return { acme: await register(acme), alice: await register(alice) }
}
