/** An agent with two tenants for the tests of a file: the one of the default wallet, and another. */
import { afterAll, beforeAll, expect } from 'vitest'
import type { Client } from '../../daemon/client/client.ts'
import type { TestAgent } from '../_agent.ts'
import { newUser, type User } from './_cli.ts'
import { serveUser } from './_served.ts'

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
