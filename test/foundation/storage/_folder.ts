/**
 * Data folders as releases have written them: `fixtures/folders/<number>`. `npm run fixtures -- <number>`
 * writes one with the current code.
 *
 * 1: release 0.1.0, all flows finished. 2: release 0.1.0, flows open (`_open-flows.ts`), with its files of
 * page checksums.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import * as z from 'zod'
import { createClient } from '../../../daemon/client/client.ts'
import { startAgent } from '../../support/agent.ts'
import { beginFlows, OpenFlows, openFlowVariables, openGateway } from './_open-flows.ts'

const home = fileURLToPath(new URL('../../../fixtures/folders', import.meta.url))

/** The keys that open a folder, the responses that its tenants got (`readAs`), and the ids of its open flows. */
const Folder = z.object({
  masterKey: z.string(),
  mediatorDid: z.string(),
  tenants: z.array(z.object({ walletId: z.string(), apiKey: z.string(), reads: z.array(z.unknown()) })),
  flows: OpenFlows.optional(),
})
export type Folder = z.infer<typeof Folder>

/** The numbers of the folders. */
export const versions = () => readdirSync(home)

/** The variables of an agent that opens such a folder. */
export const variablesOf = ({ masterKey }: Pick<Folder, 'masterKey'>) => ({
  AGENT_MASTER_KEY: masterKey,
  AGENT_MEDIATOR: 'true',
  DEFAULT_WALLET_ENABLED: 'false',
})

/** The responses that a tenant gets. */
export async function readAs(url: string, apikey: string): Promise<unknown[]> {
  const call = createClient(url, { apikey })
  return [
    await call('GET /connections'),
    await call('GET /events/webhooks'),
    await call('GET /did-registrar/dids'),
  ]
}

/** Copies a folder into `dataDir`. */
export function unpack(version: string, dataDir: string): Folder {
  for (const name of readdirSync(join(home, version), { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.gz')) continue
    const path = join(dataDir, name.slice(0, -'.gz'.length))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, gunzipSync(readFileSync(join(home, version, name))), { mode: 0o600 })
  }
  return Folder.parse(JSON.parse(readFileSync(join(home, version, 'folder.json'), 'utf8')))
}

/** Writes a folder with open flows of the current release, replacing an earlier one with the same number. */
export async function pack(version: string): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'identity-agent-'))
  // Public, like the folder: it opens nothing else.
  const masterKey = Buffer.alloc(32, version).toString('base64url')
  const folder: Folder = { masterKey, mediatorDid: '', tenants: [] }
  {
    await using gateway = await openGateway()
    await using agent = await startAgent({ ...variablesOf(folder), ...openFlowVariables }, { dataDir })
    gateway.forwardTo(agent.didcommUrl)
    folder.mediatorDid = agent.agent.mediator!.did
    const [issuer, holder] = [await agent.newTenant('issuer'), await agent.newTenant('holder')]
    folder.tenants = [issuer, holder].map(({ walletId, apiKey }) => ({ walletId, apiKey, reads: [] }))
    folder.flows = await beginFlows(agent, issuer, holder)
  }
  rmSync(join(home, version), { recursive: true, force: true })
  for (const name of readdirSync(dataDir, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.db')) continue
    mkdirSync(dirname(join(home, version, name)), { recursive: true })
    const compressed = gzipSync(readFileSync(join(dataDir, name)), { level: 9 })
    writeFileSync(join(home, version, `${name}.gz`), compressed)
  }
  writeFileSync(join(home, version, 'folder.json'), `${JSON.stringify(folder, null, 2)}\n`)
  rmSync(dataDir, { recursive: true })
}
