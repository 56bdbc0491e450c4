/**
 * Agents for the commands of users: `serveUser` for one user, `serveTwoTenants` and `serveIssuer` for all
 * tests of a file, `startCommandedPair` for one test. They run in this process, which is faster than a
 * daemon.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import type { Client } from '../../daemon/client/client.ts'
import { writeProfile } from '../../src/foundation/config/profile.ts'
import { adminToken, startAgent, type TestAgent } from '../support/agent.ts'
import { startPair, type Tenant } from '../support/tenants.ts'
import { newUser, type User } from './_cli.ts'

/**
 * Starts an agent in the folders of a user and writes its profile, as `agent daemon start` does. Removing the
 * user removes its data.
 */
export async function serveUser(
  { folder }: User,
  variables: Record<string, string> = {},
): Promise<TestAgent> {
  const [dataDir, configDir] = [join(folder, 'data'), join(folder, 'config')]
  mkdirSync(dataDir, { mode: 0o700 })
  const served = await startAgent({ ...variables, AGENT_CONFIG_DIR: configDir }, { dataDir })
  const { url, didcommUrl, agent } = served
  writeProfile(configDir, agent.config.AGENT_PROFILE, {
    kind: 'local',
    url,
    didcommUrl,
    adminToken,
    ...(agent.defaultApiKey && { apiKey: agent.defaultApiKey.reveal() }),
    dataDir,
    pid: process.pid,
    startedAt: new Date().toISOString(),
  })
  return served
}

/** Two tenants of an agent in this process, and a user who runs the commands of both. */
export async function startCommandedPair() {
  const user = newUser()
  const pair = await startPair()
  const as = ({ apiKey }: Tenant) => user.as({ AGENT_URL: pair.agent.url, AGENT_API_KEY: apiKey })
  return {
    ...pair,
    user,
    /** The commands of a tenant. */
    as,
    async [Symbol.asyncDispose]() {
      await pair[Symbol.asyncDispose]()
      user.remove()
    },
  }
}

export type TwoTenants = {
  user: User
  /** The commands of the other tenant. */
  other: ReturnType<User['as']>
  /**
   * Calls the API as the tenant of the default wallet, which is faster than a process for polling. In-process
   * agents only.
   */
  call: Client
  /** The address of the agent. In-process agents only. */
  url: () => string
}

/**
 * Starts the agent and creates the other tenant before the tests, and removes both afterwards. The agent runs
 * in this process, or as a daemon if `inProcess` is false.
 */
export function serveTwoTenants(name: string, { inProcess = true } = {}): TwoTenants {
  const user = newUser()
  let agent: TestAgent | undefined
  let key = ''
  beforeAll(async () => {
    if (inProcess) agent = await serveUser(user)
    else expect((await user.run(['daemon', 'start'])).code).toBe(0)
    key = (await user.json`tenant create ${name}`).apiKey
  })
  afterAll(async () => {
    if (agent) await agent[Symbol.asyncDispose]()
    else await user.run(['daemon', 'stop'])
    user.remove()
  })
  const call = ((...args: Parameters<Client>) => agent!.tenant(...args)) as Client
  return {
    user,
    other: user.as(() => ({ AGENT_API_KEY: key })),
    call,
    url: () => agent!.url,
  }
}

/** A user with an agent and a published issuing DID, for the tests of a file. */
export function serveIssuer(): { user: User; did: string } {
  const issuer = { user: newUser(), did: '' }
  const { user } = issuer
  let agent: TestAgent
  beforeAll(async () => {
    agent = await serveUser(user)
    issuer.did = (await user.json`did create --publish --wait --key issue-1:assertionMethod`).did
  })
  afterAll(async () => {
    await agent[Symbol.asyncDispose]()
    user.remove()
  })
  return issuer
}
