/** An agent with two tenants, for the tests of a file: the one of the default wallet, and another. */
import { afterAll, beforeAll, expect } from 'vitest'
import type { Client } from '../../daemon/client/client.ts'
import type { TestAgent } from '../_agent.ts'
import { newUser, type Outcome, type User } from './_cli.ts'
import { serveUser } from './_served.ts'

/** How long starting and stopping may take, and a test of many commands. */
export const slow = 120_000

export type TwoTenants = {
  user: User
  asOther: (...args: string[]) => Promise<Outcome>
  /** Calls as the default wallet's tenant; for what is asked again and again, which need not be a process each time. In this process only. */
  call: Client
  /** The address of the agent. In this process only. */
  url: () => string
}

/**
 * Starts the agent before the tests, makes the other tenant, and takes everything away after them. The agent is in this process, unless
 * the tests want the daemon's own.
 */
export function serveTwoTenants(name: string, { inProcess = true } = {}): TwoTenants {
  const user = newUser()
  let agent: TestAgent | undefined
  let key = ''
  beforeAll(async () => {
    if (inProcess) agent = await serveUser(user)
    else expect((await user.run(['daemon', 'start'])).code).toBe(0)
    key = JSON.parse((await user.run(['tenant', 'create', name, '--json'])).out).apiKey
  }, slow)
  afterAll(async () => {
    if (agent) await agent[Symbol.asyncDispose]()
    else await user.run(['daemon', 'stop'])
    user.remove()
  }, slow)
  const call = ((...args: Parameters<Client>) => agent!.tenant(...args)) as Client
  return {
    user,
    asOther: (...args) => user.run(args, { env: { AGENT_API_KEY: key } }),
    call,
    url: () => agent!.url,
  }
}
