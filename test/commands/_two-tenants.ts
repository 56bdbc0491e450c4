/** A daemon with two tenants, for the tests of a file: the one of the default wallet, and another. */
import { afterAll, beforeAll, expect } from 'vitest'
import { newUser, type Outcome, type User } from './_cli.ts'

/** How long starting and stopping may take, and a test of many commands. */
export const slow = 120_000

export type TwoTenants = { user: User; asOther: (...args: string[]) => Promise<Outcome> }

/** Starts the daemon before the tests, makes the other tenant, and takes everything away after them. */
export function serveTwoTenants(name: string): TwoTenants {
  const user = newUser()
  let key = ''
  beforeAll(async () => {
    expect((await user.run(['daemon', 'start'])).code).toBe(0)
    key = JSON.parse((await user.run(['tenant', 'create', name, '--json'])).out).apiKey
  }, slow)
  afterAll(async () => {
    await user.run(['daemon', 'stop'])
    user.remove()
  }, slow)
  return { user, asOther: (...args) => user.run(args, { env: { AGENT_API_KEY: key } }) }
}
