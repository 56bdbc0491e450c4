/** Data folders as releases have left them, in `fixtures/folders/<version of the schema>`: made by `npm run fixtures`, unpacked by tests. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { z } from 'zod'
import { createClient } from '../../daemon/client/client.ts'
import { startAgent } from '../_agent.ts'
import { connect, until } from '../_pair.ts'

const home = fileURLToPath(new URL('../../fixtures/folders', import.meta.url))

/** What is known of a folder: the keys that open it, and what its tenants read. */
const Folder = z.object({
  masterKey: z.string(),
  mediatorDid: z.string(),
  tenants: z.array(z.object({ walletId: z.string(), apiKey: z.string(), reads: z.array(z.unknown()) })),
})
export type Folder = z.infer<typeof Folder>

/** The versions there are. */
export const versions = () => readdirSync(home)

/** The variables of an agent that opens such a folder. */
export const variablesOf = ({ masterKey }: Pick<Folder, 'masterKey'>) => ({
  AGENT_MASTER_KEY: masterKey,
  AGENT_MEDIATOR: 'true',
  DEFAULT_WALLET_ENABLED: 'false',
})

/** What a tenant reads. */
export async function readAs(url: string, apikey: string): Promise<unknown[]> {
  const call = createClient(url, { apikey })
  return [
    await call('GET /connections'),
    await call('GET /events/webhooks'),
    await call('GET /did-registrar/dids'),
  ]
}

/** Puts the folder of a version into `dataDir`. */
export function unpack(version: string, dataDir: string): Folder {
  for (const name of readdirSync(join(home, version), { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.gz')) continue
    const path = join(dataDir, name.slice(0, -'.gz'.length))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, gunzipSync(readFileSync(join(home, version, name))), { mode: 0o600 })
  }
  return Folder.parse(JSON.parse(readFileSync(join(home, version, 'folder.json'), 'utf8')))
}

/** Makes the folder of a version, in the place of the one that is there: of the present one, before it is released. */
export async function pack(version: string): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'identity-agent-'))
  // A key that everybody can read here, and that opens nothing else.
  const masterKey = Buffer.alloc(32, version).toString('base64url')
  const known: Folder = { masterKey, mediatorDid: '', tenants: [] }
  {
    await using agent = await startAgent(variablesOf(known), { dataDir })
    known.mediatorDid = agent.agent.mediator!.did
    const [alice, bob] = [await agent.newTenant('alice'), await agent.newTenant('bob')]
    await connect(alice, bob)
    const template = { publicKeys: [{ id: 'key-1', purpose: 'authentication' as const }], services: [] }
    const { longFormDid: didRef } = await alice.call('POST /did-registrar/dids', {
      body: { documentTemplate: template },
    })
    await alice.call('POST /did-registrar/dids/{didRef}/publications', { path: { didRef } })
    await until(
      'the publication',
      () => alice.call('GET /did-registrar/dids/{didRef}', { path: { didRef } }),
      ({ status }) => status === 'PUBLISHED',
    )
    await bob.call('POST /events/webhooks', {
      body: { url: 'http://127.0.0.1:9/', customHeaders: { authorization: 'Bearer example' } },
    })
    for (const { walletId, apiKey } of [alice, bob])
      known.tenants.push({ walletId, apiKey, reads: await readAs(agent.url, apiKey) })
  }
  rmSync(join(home, version), { recursive: true, force: true })
  for (const name of readdirSync(dataDir, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.db')) continue
    mkdirSync(dirname(join(home, version, name)), { recursive: true })
    writeFileSync(
      join(home, version, `${name}.gz`),
      gzipSync(readFileSync(join(dataDir, name)), { level: 9 }),
    )
  }
  writeFileSync(join(home, version, 'folder.json'), `${JSON.stringify(known, null, 2)}\n`)
  rmSync(dataDir, { recursive: true })
}
