/** The demonstration from the first process to the last event; `commands/demo.ts` cleans up after it. */
import type { ChildProcess } from 'node:child_process'
import { createClient, type Client } from '../../daemon/client.ts'
import { CommandError } from '../_errors/usage.ts'
import { shortForm } from '../_format/did.ts'
import { tenths } from '../_format/time.ts'
import type { Receiver } from './events.ts'
import { runFlow, schema, type Props, type Timing } from './flow.ts'
import { silent, type Narrator } from './narrator.ts'
import { onboard, startDaemon, type Daemon, type Name, type Party } from './party.ts'

export type Summary = {
  coldStartMs: Record<Name, number>
  /** A flow on daemons that are warm: connect, issue, present, one after the other, with nothing printed. */
  flow: Timing
  changes: number
  totalMs: number
  acme: string
  alice: string
}

type Pair<Value> = Record<Name, Value>

/** What the demonstration needs: an empty folder, a receiver, a narrator, and a list for the processes that it starts, of which it starts none once the signal aborts. */
export type Means = { folder: string; receiver: Receiver; narrator: Narrator; children: Map<Name, ChildProcess>; signal: AbortSignal }

/** Runs it all. @throws whatever a daemon answers; {CommandError} when an event does not come. */
export async function show(means: Means): Promise<Summary & { leave: () => Promise<void> }> {
  const start = performance.now()
  const { receiver, narrator } = means
  receiver.onChange = narrator.change
  narrator.step('Start two daemons, which share nothing but a ledger')
  narrator.say('   JSON="content-type: application/json"')
  const daemons = { acme: await begin('acme', means), alice: await begin('alice', means) }
  const parties = await onboardAll(daemons, means)
  const webhooks = await registerWebhooks(parties, means)
  const calls = {
    acme: narrator.watch(parties.acme.call, { base: 'ACME', header: 'apikey', key: 'ACME_KEY' }),
    alice: narrator.watch(parties.alice.call, { base: 'ALICE', header: 'apikey', key: 'ALICE_KEY' }),
  }
  const props = await prepare(calls, parties, means)
  await runFlow({ ...calls, events: receiver }, props, narrator)

  narrator.step('The same once more, with nothing printed')
  receiver.onChange = silent.change
  const flow = await runFlow({ acme: parties.acme.call, alice: parties.alice.call, events: receiver }, props, silent)
  return {
    coldStartMs: { acme: daemons.acme.coldStartMs, alice: daemons.alice.coldStartMs },
    flow,
    changes: receiver.count,
    totalMs: tenths(performance.now() - start),
    acme: daemons.acme.url,
    alice: daemons.alice.url,
    leave: async () => {
      await parties.acme.call('DELETE /events/webhooks/{id}', { path: { id: webhooks.acme } })
      await parties.alice.call('DELETE /events/webhooks/{id}', { path: { id: webhooks.alice } })
    },
  }
}

async function begin(name: Name, { folder, receiver, narrator, children, signal }: Means): Promise<Daemon> {
  signal.throwIfAborted()
  const daemon = await startDaemon(name, folder, (child) => {
    children.set(name, child)
    child.once('exit', (code, signal) => receiver.fail(new CommandError(`${name}’s daemon ended (${code ?? signal}).`, 1)))
  })
  narrator.say(`   ${name} answers after ${Math.round(daemon.coldStartMs)} ms`)
  narrator.name(name.toUpperCase(), daemon.url)
  narrator.nameSecret(`${name.toUpperCase()}_ADMIN`, daemon.adminToken)
  return daemon
}

async function onboardAll(daemons: Pair<Daemon>, { folder, narrator }: Means): Promise<Pair<Party>> {
  narrator.step('Onboard a tenant in each: wallet, entity, key')
  const enrol = async (daemon: Daemon) => {
    const base = daemon.name.toUpperCase()
    const admin = narrator.watch(createClient(daemon.url, { 'x-admin-api-key': daemon.adminToken }), {
      base,
      header: 'x-admin-api-key',
      key: `${base}_ADMIN`,
    })
    return onboard(daemon, admin, folder, (key) => narrator.nameSecret(`${base}_KEY`, key))
  }
  return { acme: await enrol(daemons.acme), alice: await enrol(daemons.alice) }
}

/** Everything from here on happens because an event came. */
async function registerWebhooks({ acme, alice }: Pair<Party>, { receiver }: Means): Promise<Pair<string>> {
  const register = async ({ name, call }: Party) => (await call('POST /events/webhooks', { body: { url: receiver.urlOf(name) } })).id
  return { acme: await register(acme), alice: await register(alice) }
}

/** DIDs for both, of which acme’s is on the ledger, and a schema by acme. */
async function prepare(calls: Pair<Client>, { acme }: Pair<Party>, { receiver, narrator }: Means): Promise<Props> {
  narrator.step('Make DIDs, publish the issuer’s, and publish a schema')
  const keys = {
    authentication: { id: 'auth-1', purpose: 'authentication' },
    assertion: { id: 'assertion-1', purpose: 'assertionMethod' },
  } as const
  const made = await calls.acme('POST /did-registrar/dids', {
    body: { documentTemplate: { publicKeys: [keys.authentication, keys.assertion] } },
  })
  const acmeDid = shortForm(made.longFormDid)
  narrator.name('ACME_DID', acmeDid)
  await calls.acme('POST /did-registrar/dids/{didRef}/publications', { path: { didRef: acmeDid } })
  await receiver.until({ who: 'acme', what: 'did', subject: acmeDid, state: 'PUBLISHED' })
  const { longFormDid } = await calls.alice('POST /did-registrar/dids', {
    body: { documentTemplate: { publicKeys: [keys.authentication] } },
  })
  const aliceDid = shortForm(longFormDid)
  narrator.name('ALICE_DID', aliceDid)
  const { guid } = await calls.acme('POST /schema-registry/schemas', {
    body: {
      name: 'employee',
      version: '1.0.0',
      type: 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json',
      author: acmeDid,
      schema,
    },
  })
  const schemaId = `${acme.url}/schema-registry/schemas/${guid}`
  narrator.name('SCHEMA', schemaId)
  return { acmeDid, aliceDid, schemaId }
}
