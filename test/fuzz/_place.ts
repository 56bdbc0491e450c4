/**
 * The environment of a fuzz run: a monitored daemon process, two connected tenants, and an external party
 * connected to both.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { connect, newDid, publishSchema, type Tenant as AnyTenant } from '../support/tenants.ts'
import { memory } from '../../cli/daemon/launch.ts'
import { Daemon } from '../support/daemon.ts'
import { addressOf, post } from '../support/party.ts'
import { createDraw } from './_draw.ts'
import { makeEnvelope } from './_envelope.ts'
import { createFound, type Found } from './_found.ts'
import { typesOf } from './_message.ts'
import { openParty, type Party } from './_party.ts'
import type { Schema } from './_schema.ts'

const preload = fileURLToPath(new URL('_watch.mjs', import.meta.url))
export const adminKey = 'an-administrator-of-the-fuzz'
const many = '1000000000'

/** `connected` are the DIDs under which the party knows the tenant. */
export type Tenant = AnyTenant & { name: string; connected: string[] }

export type Operation = {
  key: string
  method: string
  /** The path, with parameters in braces. */
  path: string
  access: 'admin' | 'tenant' | 'either' | 'public'
  parameters: { name: string; in: 'path' | 'query' | 'header'; schema: Schema }[]
  body?: Schema
  /** The media type of a file upload, for operations that do not accept JSON. */
  file?: string
}

/** A wallet without a tenant, which is exported and imported repeatedly. */
export type ExportedWallet = { walletId: string; passphrase: string; exported: Buffer }

const figure = z.number()
export const Watched = z.object({
  stalls: z.array(z.object({ ms: figure, busyMs: figure, at: figure })),
  uncaught: z.array(z.string()),
  polluted: z.array(z.string()),
  heap: figure,
  outside: figure,
})
export type Watched = z.infer<typeof Watched>

export type Place = {
  daemon: Daemon
  tenants: Tenant[]
  exportedWallet: ExportedWallet
  party: Party
  found: Found
  operations: Operation[]
  schemas: Readonly<Record<string, Schema>>
  mediatorDid: string
  /** The observations in the daemon since the previous call. */
  watch(): Promise<Watched>
  /** Stops the daemon. Returns how it ended, and its standard error. */
  end(): Promise<{ ended: number | string | undefined; log: string }>
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts the environment, with its files in memory if possible: the fuzz run does not test the disk. */
export async function openPlace(env: Record<string, string> = {}): Promise<Place> {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'identity-agent-'))
  const tenants: Tenant[] = []
  let found: Found | undefined
  const ownerOf = (walletId: string) =>
    tenants.find((tenant) => tenant.walletId === walletId)?.name ?? 'unknown'
  const party = await openParty(({ walletId, id, data }) => {
    found?.learn(ownerOf(walletId), '', data)
    found?.add(ownerOf(walletId), 'event id', id)
  })
  const daemon = await Daemon.start({
    NODE_OPTIONS: `--import=${preload}`,
    ...memory,
    AGENT_DATA_DIR: folder,
    AGENT_CONFIG_DIR: join(folder, 'config'),
    ADMIN_TOKEN: adminKey,
    AGENT_MEDIATOR: 'true',
    // No connections outside of this machine.
    AGENT_DENY_HOSTS: '*',
    AGENT_ALLOW_HOSTS: '127.0.0.1',
    AGENT_OPEN_WALLETS: '50',
    GLOBAL_WEBHOOK_URL: new URL('/events', party.sinkUrl).href,
    WEBHOOKS_PER_WALLET: '3',
    ENTERPRISE_EVENTS: 'true',
    AUTH_DID_METHODS: 'peer,key,jwk,web,prism',
    FAILED_ATTEMPTS_PER_MINUTE: many,
    ENTERPRISE_SUBMISSIONS_PER_MINUTE: many,
    VDR_SUBMISSIONS_PER_MINUTE: many,
    DID_RESOLUTIONS_PER_MINUTE: many,
    INVITATION_REPLIES_PER_MINUTE: many,
    MEDIATOR_ENROLMENTS_PER_HOUR: many,
    MEDIATOR_ENROLMENTS_PER_DAY: many,
    MEDIATOR_MESSAGES_PER_MINUTE: many,
    ...env,
  })
  const close = async () => {
    await daemon[Symbol.asyncDispose]()
    await party[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const { body: document } = await daemon.call('GET /docs/openapi.json')
    const operations = toOperations(document)
    const reserved = new Set<string>()
    found = createFound(
      operations.map(({ path }) => path),
      reserved,
    )
    for (const name of ['acme', 'alice']) {
      const tenant = await daemon.newTenant(name)
      // Later requests need its entity.
      reserved.add(tenant.entityId)
      tenants.push({ ...tenant, name, connected: [] })
    }
    for (const tenant of tenants) await prepareTenant(tenant, party, found, reserved)
    const [acme, alice] = tenants as [Tenant, Tenant]
    const { inviterConnectionId, inviteeConnectionId } = await connect(acme, alice)
    found.add(acme.name, 'live connection', inviterConnectionId)
    found.add(alice.name, 'live connection', inviteeConnectionId)
    return {
      daemon,
      tenants,
      exportedWallet: await exportNewWallet(daemon),
      party,
      found,
      operations,
      schemas: document.components.schemas,
      mediatorDid: await (await fetch(`${daemon.didcommUrl}/did`)).text(),
      watch: async () => Watched.parse(await daemon.exchange({ type: 'watch' })),
      async end() {
        const ended = await daemon.stop()
        return { ended, log: ((await daemon.ended) as { stderr?: string }).stderr ?? '' }
      },
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function toOperations({ paths }: { paths: Record<string, Record<string, any>> }): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security, parameters = [], requestBody }]) => ({
      key: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      access: accessOf(security),
      parameters,
      ...bodyOf(requestBody?.content ?? {}),
    })),
  )
}

function bodyOf(content: Record<string, { schema: Schema }>): Pick<Operation, 'body' | 'file'> {
  const json = content['application/json']
  const [file] = Object.keys(content)
  return json ? { body: json.schema } : file === undefined ? {} : { file }
}

function accessOf(security: object[]): Operation['access'] {
  const [first, second] = security
  if (second) return 'either'
  return first === undefined ? 'public' : 'apiKeyAuth' in first ? 'tenant' : 'admin'
}

/** Creates a wallet, and exports it for a transfer. */
async function exportNewWallet(daemon: Daemon): Promise<ExportedWallet> {
  const passphrase = 'a passphrase of the fuzz'
  const { body: wallet } = await daemon.call('POST /wallets', { adminKey, body: { name: 'exported wallet' } })
  const response = await fetch(`${daemon.url}/wallets/${wallet.id}/export`, {
    method: 'POST',
    headers: { 'x-admin-api-key': adminKey, 'content-type': 'application/json' },
    body: JSON.stringify({ passphrase, move: true }),
  })
  return { walletId: wallet.id, passphrase, exported: Buffer.from(await response.arrayBuffer()) }
}

/**
 * The initial resources of a tenant: DIDs, a schema, a did:web, an issuer certificate, a connection to the
 * party.
 */
async function prepareTenant(
  tenant: Tenant,
  party: Party,
  found: Found,
  reserved: Set<string>,
): Promise<void> {
  const { name, call } = tenant
  const { did: issuer, longFormDid } = await newDid(tenant, 'assertionMethod')
  found.add(name, 'issuing DID', issuer)
  const { longFormDid: subject } = await newDid(tenant, 'authentication', 'Ed25519')
  found.add(name, 'subject DID', subject)
  const publicKeys = [{ id: 'key-1', purpose: 'assertionMethod' as const }]
  await call('POST /did-registrar/dids', { body: { method: 'web', name, documentTemplate: { publicKeys } } })
  found.add(name, 'schema URL', await publishSchema(tenant, issuer))
  // The first certificate of a daemon loads the library of X.509, which takes more than 100 ms once.
  const names = [{ type: 'dns' as const, value: 'issuer.example' }]
  await call('POST /issuer-certificates/development', { body: { commonName: name, names } })
  // These must not be removed, because later requests need them.
  for (const did of [issuer, longFormDid, subject]) reserved.add(did)
  const { connectionId, thid, invitation } = await call('POST /connections', { body: {} })
  const request = { type: typesOf.connectionRequest, thid, pthid: thid }
  const envelope = makeEnvelope(createDraw(1, 1), 'good', party, invitation.from, request) as string
  await post(addressOf(invitation.from), envelope)
  tenant.connected.push(invitation.from)
  found.add(name, 'an envelope', envelope)
  found.add(name, 'live connection', connectionId)
}
