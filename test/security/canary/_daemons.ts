/**
 * Two daemons that use secrets of every kind, with everything they write and send: to each other, to clients,
 * to webhooks.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Daemon } from '../../support/daemon.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { finished, steps, type MainFlow } from '../../support/main-flow.ts'
import { openReceiver } from '../../support/receiver.ts'
import type { Tenant } from '../../support/tenants.ts'
import { Webhook } from '../../support/webhook.ts'
import { carry } from './_carry.ts'
import { secretsIn } from './_keys.ts'
import { filesIn, newSecret, processPlaces, withThoseOf, type Places } from './_places.ts'
import type { Canary } from './_sweep.ts'
import { Wire } from './_wire.ts'

/** The secrets in variables and requests. */
const texts = [
  'ADMIN_TOKEN',
  'ADMIN_TOKEN_PREVIOUS',
  'GLOBAL_WEBHOOK_API_KEY',
  'DEFAULT_WALLET_AUTH_API_KEY',
  'DEFAULT_WALLET_WEBHOOK_API_KEY',
  'AGENT_MASTER_KEY',
  'new master key',
  'custom header',
  'wrong api key',
  'passphrase',
  'wrong passphrase',
]
const seeds = ['DEFAULT_WALLET_SEED', 'seed', 'seed that is cut off']

/**
 * The two daemons. `secrets` are those sent or returned; those created by the daemons are added from their
 * folders.
 */
export async function runDaemons(): Promise<{
  places: Places
  secrets: Canary[]
  returnedOnce: Record<string, string>
}> {
  await using folder = await temporaryFolder()
  await using webhook = await Webhook.open()
  // A receiver that refuses an event and echoes it.
  await using echo = await openReceiver((response) =>
    response.writeHead(500).end(JSON.stringify(response.req.headers)),
  )
  const given: Record<string, string> = {}
  for (const name of texts) given[name] = newSecret()
  for (const name of seeds) given[name] = randomBytes(64).toString('hex')
  const start = async (name: string, env: Record<string, string>) => {
    const [rest, didcomm] = [await Wire.open(), await Wire.open()]
    const daemon = await Daemon.start({
      AGENT_DATA_DIR: join(folder.path, name),
      AGENT_CONFIG_DIR: join(folder.path, `${name}-config`),
      VDR_URL: `sqlite:${join(folder.path, 'vdr.db')}`,
      ADMIN_TOKEN: given['ADMIN_TOKEN']!,
      ADMIN_TOKEN_PREVIOUS: given['ADMIN_TOKEN_PREVIOUS']!,
      AGENT_LOG_LEVEL: 'trace',
      AGENT_ALLOW_PRIVATE_NETWORK: 'true',
      AGENT_MEDIATOR: 'true',
      GLOBAL_WEBHOOK_URL: webhook.url,
      GLOBAL_WEBHOOK_API_KEY: given['GLOBAL_WEBHOOK_API_KEY']!,
      REST_SERVICE_URL: rest.url,
      DIDCOMM_SERVICE_URL: didcomm.url,
      ...env,
    })
    rest.leadTo(daemon.url)
    didcomm.leadTo(daemon.didcommUrl)
    daemon.url = rest.url
    const parts = [daemon, rest, didcomm]
    return {
      daemon,
      rest,
      didcomm,
      [Symbol.asyncDispose]: async () =>
        void (await Promise.all(parts.map((part) => part[Symbol.asyncDispose]()))),
    }
  }
  const crash = `--import=${fileURLToPath(new URL('_crash.mjs', import.meta.url))}`
  const started = await Promise.all([
    start('acme', {
      DEFAULT_WALLET_SEED: given['DEFAULT_WALLET_SEED']!,
      DEFAULT_WALLET_AUTH_API_KEY: given['DEFAULT_WALLET_AUTH_API_KEY']!,
      DEFAULT_WALLET_WEBHOOK_URL: echo.url,
      DEFAULT_WALLET_WEBHOOK_API_KEY: given['DEFAULT_WALLET_WEBHOOK_API_KEY']!,
    }),
    start('alice', {
      AGENT_MASTER_KEY: given['AGENT_MASTER_KEY']!,
      NODE_OPTIONS: `--report-uncaught-exception --report-filename=${join(folder.path, 'crash.json')} ${crash}`,
    }),
  ])
  await using acme = started[0]
  await using alice = started[1]

  const admin = { adminKey: given['ADMIN_TOKEN']! }
  const issuer = await acme.daemon.newTenant('issuer')
  const holder = await alice.daemon.newTenant('holder')
  const flow = { issuer, holder, webhook } as MainFlow
  for (const step of Object.values(steps)) await step(flow)
  await finished(flow)
  const returned = await useKeys(acme.daemon, issuer, echo.url, given)
  await makeMistakes(acme.daemon, issuer, given)
  const way = { from: acme.daemon, to: alice.daemon, walletId: issuer.walletId, folder: folder.path }
  await carry({ ...way, ...admin, passphrase: given['passphrase']!, wrong: given['wrong passphrase']! })
  const firstKey = readFileSync(join(folder.path, 'acme', 'master.key'), 'utf8').trim()
  await acme.daemon.call('POST /_system/master-key/rotation', {
    ...admin,
    body: { newKey: given['new master key'] },
  })

  const places: Places = {
    ...processPlaces(acme.daemon.pid, 'acme’s process'),
    ...processPlaces(alice.daemon.pid, 'alice’s process'),
  }
  // Neither daemon stops cleanly, because that would remove write-ahead logs.
  process.kill(alice.daemon.pid, 'SIGUSR2')
  await alice.daemon.ended
  await acme.daemon.stop('SIGKILL')
  for (const [name, { daemon, rest, didcomm }] of Object.entries({ acme, alice })) {
    const { stdout, stderr } = (await daemon.ended) as { stdout: string; stderr: string }
    Object.assign(places, {
      [`${name}’s log`]: stdout + stderr,
      [`${name}’s answers`]: rest.sent,
      [`what ${name} is sent by others`]: didcomm.received,
      [`what ${name} answers others`]: didcomm.sent,
    })
  }
  Object.assign(places, filesIn(folder.path, 'folders'), {
    events: JSON.stringify(webhook.deliveries.map(({ event }) => event)),
    'headers of events': JSON.stringify(webhook.deliveries.map(({ headers }) => headers)),
  })
  const { apiKey } = JSON.parse(
    readFileSync(join(folder.path, 'alice-config', 'profiles', 'local.json'), 'utf8'),
  )
  const keys = {
    'api key of alice’s profile': apiKey,
    'first master key': firstKey,
    'issuer’s api key': issuer.apiKey,
    'holder’s api key': holder.apiKey,
  }
  const secrets = withThoseOf({ ...given, ...returned, ...keys }, [
    ...secretsIn(join(folder.path, 'acme'), Buffer.from(given['new master key']!, 'base64url'), 'acme'),
    ...secretsIn(join(folder.path, 'alice'), Buffer.from(given['AGENT_MASTER_KEY']!, 'base64url'), 'alice'),
  ])
  return { places, secrets, returnedOnce: returned }
}

/** Answers that contain requested secrets, and all later answers, which contain none. */
async function useKeys(
  daemon: Daemon,
  { apiKey, walletId }: Tenant,
  echoUrl: string,
  given: Record<string, string>,
): Promise<Record<string, string>> {
  const admin = { adminKey: given['ADMIN_TOKEN']! }
  const call = async (key: string, options: Parameters<Daemon['call']>[1]) => {
    const { status, body } = await daemon.call(key, options)
    if (status >= 300) throw new Error(`${key}: ${JSON.stringify(body)}`)
    return body
  }
  const webhook = await call('POST /events/webhooks', {
    apiKey,
    body: { url: echoUrl, customHeaders: { 'x-secret': given['custom header'] }, signed: true },
  })
  const { secret } = await call(`POST /events/webhooks/${webhook.id}/secret`, { apiKey })
  const entities = await call('GET /iam/entities', admin)
  const { id } = entities.contents.find((entity: { walletId: string }) => entity.walletId === walletId)
  const key = await call(`POST /iam/entities/${id}/api-keys`, { ...admin, body: { name: 'second' } })
  await call('POST /wallets', { ...admin, body: { name: 'of a seed', seed: given['seed'] } })
  for (const curve of ['Ed25519', 'X25519', 'secp256k1']) {
    const publicKeys = [
      { id: 'key-1', purpose: curve === 'X25519' ? 'keyAgreement' : 'authentication', curve },
    ]
    await call('POST /did-registrar/dids', {
      apiKey: key.apiKey,
      body: { documentTemplate: { publicKeys, services: [] } },
    })
  }
  await call(`POST /events/webhooks/${webhook.id}/test`, { apiKey, body: { type: 'ConnectionUpdated' } })
  for (const path of [
    '/events/webhooks',
    `/events/webhooks/${webhook.id}`,
    `/events/webhooks/${webhook.id}/deliveries`,
    '/did-registrar/dids',
    '/events',
  ])
    await call(`GET ${path}`, { apiKey })
  for (const path of ['/wallets', `/iam/entities/${id}/api-keys`]) await call(`GET ${path}`, admin)
  return { 'webhook secret': webhook.secret, 'second webhook secret': secret, 'second api key': key.apiKey }
}

/** Refused requests with secrets. */
async function makeMistakes(
  daemon: Daemon,
  { apiKey }: Tenant,
  given: Record<string, string>,
): Promise<void> {
  const adminKey = given['ADMIN_TOKEN']!
  const seed = given['seed that is cut off']!
  const wrong = given['wrong api key']!
  const json = { 'content-type': 'application/json' }
  const refusals = [
    daemon.call('POST /wallets', { adminKey, body: { name: 'x', seed: seed.slice(0, 100) } }),
    daemon.call('POST /wallets', { adminKey, body: { name: 'x', seed: [seed] } }),
    daemon.call('POST /wallets', { adminKey, body: { [seed]: 1 } }),
    daemon.call('POST /wallets', { adminKey: wrong, body: { name: 'x' } }),
    daemon.call('GET /connections', { apiKey: wrong }),
    daemon.call('POST /iam/apikey-authentication', { adminKey, body: { entityId: wrong, apiKey: wrong } }),
    daemon.call('POST /events/webhooks', { apiKey, body: { url: `http://user:${wrong}@127.0.0.1/` } }),
    daemon.call('POST /events/webhooks', {
      apiKey,
      body: { url: 'http://127.0.0.1/', customHeaders: { 'x-a': `${wrong}\u0000` } },
    }),
    daemon.call('POST /_system/master-key/rotation', { adminKey, body: { newKey: wrong.slice(1) } }),
    ...[`{"seed":"${seed}`, `{"seed":${seed}}`, `{"seed":"${seed}"${seed}`].map((body) =>
      fetch(`${daemon.url}/wallets`, {
        method: 'POST',
        headers: { ...json, 'x-admin-api-key': adminKey },
        body,
      }),
    ),
  ]
  for (const { status } of await Promise.all(refusals))
    if (status < 400) throw new Error(`a mistake was answered with ${status}`)
}
